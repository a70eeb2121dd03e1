//! The document's own promises, walked through: whatever it adds is tested from then on.

use serde_json::Value;

use crate::provocations::{method, target, text};
use crate::recorder::contract::{Contract, Operation};
use crate::service::{Ask, Service};

#[tokio::test]
async fn every_operation_needs_a_key() {
    let service = Service::start().await;
    for operation in &Contract::get().operations {
        let answer = service.anonymous(method(operation), &target(operation)).answer().await;
        answer.refused(401, "unauthorized");
    }
    assert_eq!(service.recorder.seen().len(), Contract::get().operations.len());
}

#[tokio::test]
async fn every_operation_refuses_a_bad_key() {
    let service = Service::start().await;
    for operation in &Contract::get().operations {
        let request = service.anonymous(method(operation), &target(operation)).bearer_auth("nonsense");
        request.answer().await.refused(401, "unauthorized");
    }
}

#[tokio::test]
async fn every_example_of_a_body_is_accepted() {
    let mut sent = 0;
    for operation in &Contract::get().operations {
        for (kind, example) in operation.bodies() {
            let service = Service::start().await;
            service.add(1).await;
            let request = service.request(method(operation), &target(operation)).header("content-type", kind);
            let answer = request.body(example.to_string()).answer().await;
            assert!((200..300).contains(&answer.status), "{example}: {}", answer.text());
            sent += 1;
        }
    }
    assert!(sent > 0, "the document has examples of bodies");
}

/// The query parameters of operations that read, with the target that takes them.
fn parameters() -> Vec<(String, &'static Value)> {
    let reading = Contract::get().operations.iter().filter(|operation| operation.method == "GET");
    let of = |operation: &'static Operation| {
        let query = operation.parameters.iter().filter(|parameter| parameter["in"] == "query");
        query.map(move |parameter| (target(operation), parameter))
    };
    let found: Vec<_> = reading.flat_map(of).collect();
    assert!(!found.is_empty(), "the document has query parameters");
    found
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
    assert!(bounds > 0, "the document has bounds of parameters");
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
    assert!(values > 0, "the document has enumerated parameters");
}

#[tokio::test]
async fn an_omitted_parameter_has_its_documented_default() {
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
