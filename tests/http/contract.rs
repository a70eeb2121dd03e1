//! The document's own promises, walked through: whatever it adds is tested from then on.

use reqwest::Method;
use serde_json::Value;

use crate::provocations::target;
use crate::recorder::contract::Contract;
use crate::service::{Ask, Service};

#[tokio::test]
async fn every_operation_needs_a_key() {
    let service = Service::start().await;
    for operation in &Contract::get().operations {
        let method = Method::from_bytes(operation.method.as_bytes()).unwrap();
        let answer = service.anonymous(method, &target(operation)).answer().await;
        answer.refused(401, "unauthorized");
    }
    assert_eq!(service.recorder.seen().len(), Contract::get().operations.len());
}

#[tokio::test]
async fn every_operation_refuses_a_bad_key() {
    let service = Service::start().await;
    for operation in &Contract::get().operations {
        let method = Method::from_bytes(operation.method.as_bytes()).unwrap();
        let request = service.anonymous(method, &target(operation)).bearer_auth("nonsense");
        request.answer().await.refused(401, "unauthorized");
    }
}

#[tokio::test]
async fn every_example_of_a_body_is_accepted() {
    let service = Service::start().await;
    let mut sent = 0;
    for operation in &Contract::get().operations {
        let content = operation.object["requestBody"]["content"].as_object().into_iter().flatten();
        for (kind, media) in content {
            let named = media["examples"].as_object().into_iter().flatten();
            let examples = named.map(|(_, example)| &example["value"]).chain(media.get("example"));
            for example in examples {
                let method = Method::from_bytes(operation.method.as_bytes()).unwrap();
                let request = service.request(method, &target(operation)).header("content-type", kind);
                let answer = request.body(example.to_string()).answer().await;
                assert!((200..300).contains(&answer.status), "{example}: {}", answer.text());
                sent += 1;
            }
        }
    }
    assert!(sent >= 2, "the document has examples of bodies");
}

/// The query parameters of the document, with where they are taken.
fn parameters() -> Vec<(String, &'static Value)> {
    let contract = Contract::get();
    let mut found = Vec::new();
    for operation in &contract.operations {
        for parameter in operation.object["parameters"].as_array().into_iter().flatten() {
            let parameter = contract.resolve(parameter);
            if parameter["in"] == "query" {
                found.push((target(operation), parameter));
            }
        }
    }
    assert!(found.len() >= 3, "the document has query parameters");
    found
}

fn text(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

#[tokio::test]
async fn every_example_of_a_parameter_is_accepted() {
    let service = Service::start().await;
    for (target, parameter) in parameters() {
        if let Some(example) = parameter.get("example") {
            service
                .get(&format!("{target}?{}={}", text(&parameter["name"]), text(example)))
                .await
                .expect(200);
        }
    }
}

#[tokio::test]
async fn every_bound_of_a_parameter_is_where_the_document_puts_it() {
    let service = Service::start().await;
    let mut bounds = 0;
    for (target, parameter) in parameters() {
        let schema = Contract::get().resolve(&parameter["schema"]);
        for (keyword, beyond) in [("minimum", -1), ("maximum", 1)] {
            let Some(bound) = schema[keyword].as_i64() else { continue };
            let name = text(&parameter["name"]);
            service.get(&format!("{target}?{name}={bound}")).await.expect(200);
            let answer = service.get(&format!("{target}?{name}={}", bound + beyond)).await;
            answer.refused(400, "invalid_parameter");
            bounds += 1;
        }
    }
    assert_eq!(bounds, 2);
}

#[tokio::test]
async fn every_value_of_an_enumerated_parameter_is_accepted() {
    let service = Service::start().await;
    let mut values = 0;
    for (target, parameter) in parameters() {
        let schema = Contract::get().resolve(&parameter["schema"]);
        for value in schema["enum"].as_array().into_iter().flatten() {
            service.get(&format!("{target}?{}={}", text(&parameter["name"]), text(value))).await.expect(200);
            values += 1;
        }
    }
    assert_eq!(values, 3);
}

#[tokio::test]
async fn every_default_of_a_parameter_is_what_leaving_it_out_means() {
    let service = Service::start().await;
    service.add(30).await;
    for (target, parameter) in parameters() {
        let schema = Contract::get().resolve(&parameter["schema"]);
        if let Some(default) = schema.get("default") {
            let said = service.get(&format!("{target}?{}={}", text(&parameter["name"]), text(default))).await;
            let left_out = service.get(&target).await;
            assert_eq!(said.expect(200), left_out.expect(200));
            assert_eq!(said.header("link"), left_out.header("link"));
        }
    }
}
