//! Tests derived from the document, so that an addition to the document is tested without new code.

use serde_json::Value;

use crate::database::{Engine, on_each_engine};
use crate::declared_statuses::{method, target, text};
use crate::service::{RequestExt, Service};
use kit::recorder::contract::{Contract, Operation};

on_each_engine! {
    every_example_of_a_body_is_accepted_with_those_of_headers
    every_value_of_an_enumerated_parameter_is_accepted
}

#[tokio::test]
async fn every_operation_requires_a_key() {
    let service = Service::start().await;
    for operation in &Contract::get().operations {
        let response = service.anonymous(method(operation), &target(operation)).response().await;
        response.expect_error(401, "unauthorized");
    }
    assert_eq!(service.recorder.seen().len(), Contract::get().operations.len());
}

async fn every_example_of_a_body_is_accepted_with_those_of_headers(engine: Engine) {
    let mut sent = 0;
    for operation in &Contract::get().operations {
        for (kind, example) in operation.bodies() {
            let service = engine.start().await;
            service.add(1).await;
            let request = service.request(method(operation), &target(operation)).header("content-type", kind);
            let request = operation.parameters.iter().filter(|parameter| parameter["in"] == "header").fold(
                request,
                |request, parameter| match parameter.get("example") {
                    Some(value) => request.header(text(&parameter["name"]), text(value)),
                    None => request,
                },
            );
            let response = request.body(example.to_string()).response().await;
            assert!((200..300).contains(&response.status), "{example}: {}", response.text());
            sent += 1;
        }
    }
    assert!(sent > 0, "the document has no examples of bodies");
}

/// Returns the query parameters of all GET operations, each with a target.
fn parameters() -> Vec<(String, &'static Value)> {
    let reading = Contract::get().operations.iter().filter(|operation| operation.method == "GET");
    let of = |operation: &'static Operation| {
        let query = operation.parameters.iter().filter(|parameter| parameter["in"] == "query");
        query.map(move |parameter| (target(operation), parameter))
    };
    let found: Vec<_> = reading.flat_map(of).collect();
    assert!(!found.is_empty(), "the document has no query parameters");
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
async fn every_bound_of_a_parameter_is_enforced() {
    let service = Service::start().await;
    let mut bounds = 0;
    for (target, parameter) in parameters() {
        let schema = Contract::get().resolve(&parameter["schema"]);
        for (keyword, beyond) in [("minimum", -1), ("maximum", 1)] {
            let Some(bound) = schema[keyword].as_i64() else { continue };
            let name = text(&parameter["name"]);
            service.get(&format!("{target}?{name}={bound}")).await.expect(200);
            let response = service.get(&format!("{target}?{name}={}", bound + beyond)).await;
            response.expect_error(400, "invalid_parameter");
            bounds += 1;
        }
    }
    assert!(bounds > 0, "the document has no bounds of parameters");
}

#[tokio::test]
async fn every_bound_of_a_parameters_length_is_enforced() {
    let service = Service::start().await;
    let mut bounds = 0;
    for (target, parameter) in parameters() {
        let schema = Contract::get().resolve(&parameter["schema"]);
        for (keyword, beyond) in [("minLength", -1), ("maxLength", 1)] {
            let Some(bound) = schema[keyword].as_i64() else { continue };
            let value = "x".repeat(usize::try_from(bound + beyond).unwrap());
            let response = service.get(&format!("{target}?{}={value}", text(&parameter["name"]))).await;
            response.expect_error(400, "invalid_parameter");
            bounds += 1;
        }
    }
    assert!(bounds > 0, "the document has no bounds of lengths");
}

async fn every_value_of_an_enumerated_parameter_is_accepted(engine: Engine) {
    let service = engine.start().await;
    let mut values = 0;
    for (target, parameter) in parameters() {
        let schema = Contract::get().resolve(&parameter["schema"]);
        for value in schema["enum"].as_array().into_iter().flatten() {
            service.get(&format!("{target}?{}={}", text(&parameter["name"]), text(value))).await.expect(200);
            values += 1;
        }
    }
    assert!(values > 0, "the document has no enumerated parameters");
}

#[tokio::test]
async fn an_absent_parameter_has_its_default() {
    let service = Service::start().await;
    service.add(30).await;
    for (target, parameter) in parameters() {
        let schema = Contract::get().resolve(&parameter["schema"]);
        if let Some(default) = schema.get("default") {
            let explicit =
                service.get(&format!("{target}?{}={}", text(&parameter["name"]), text(default))).await;
            let absent = service.get(&target).await;
            assert_eq!(explicit.expect(200), absent.expect(200));
            assert_eq!(explicit.header("link"), absent.header("link"));
        }
    }
}

#[tokio::test]
async fn every_field_of_a_body_is_read_strictly() {
    let service = Service::start().await;
    let mut sent = 0;
    for operation in &Contract::get().operations {
        for (kind, example) in operation.bodies() {
            let content = &Contract::get().resolve(&operation.object["requestBody"])["content"];
            let schema = Contract::get().resolve(&content[kind]["schema"]);
            let fields = example.as_object().expect("a body is an object");
            let mut bodies = vec![Value::from_iter(fields.values().cloned()).to_string()];
            let with = |name: &str, value| {
                let mut changed = fields.clone();
                changed.insert(name.to_owned(), value);
                Value::from(changed).to_string()
            };
            if schema["additionalProperties"] == false {
                bodies.push(with("unknown", Value::from(1)));
            }
            for (name, value) in fields {
                if schema["properties"][name]["nullable"] != true {
                    bodies.push(with(name, Value::Null));
                }
                let (once, twice) = (format!("{{{name:?}:"), format!("{{{name:?}:{value},{name:?}:"));
                let first = serde_json::json!({ name: value }).to_string();
                bodies.push(first.replacen(&once, &twice, 1));
            }
            for body in bodies {
                let request = service.request(method(operation), &target(operation));
                let response = request.header("content-type", kind).body(body.clone()).response().await;
                assert_eq!(response.status, 400, "{}: {body}", operation.id);
                response.expect_error(400, "invalid_body");
                sent += 1;
            }
        }
    }
    assert!(sent > 0, "the document has no examples of bodies");
}
