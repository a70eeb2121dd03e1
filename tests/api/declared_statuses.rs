//! Triggers every status that the document declares.
//!
//! Operations and statuses are read from the document. A declared status that [`trigger`] does not handle fails the
//! test.

use std::collections::BTreeSet;
use std::time::Duration;

use animal_store::http::MAX_BODY_BYTES;
use reqwest::{Method, RequestBuilder};
use serde_json::Value;

use crate::database::{Engine, on_each_engine};
use crate::failing_store::{Fault, Step};
use crate::service::{RequestExt, Service};
use kit::clock::Clock;
use kit::recorder::contract::{Contract, Operation};
use kit::recorder::wire::Response;

on_each_engine! {
    every_declared_status_of_every_operation_can_be_triggered
}

/// The time limit of each step of a request.
const LIMIT: Duration = Duration::from_secs(60);

/// Returns the request target of an operation, with the examples of its path parameters.
pub fn target(operation: &Operation) -> String {
    let contract = Contract::get();
    let of_path = operation.parameters.iter().filter(|parameter| parameter["in"] == "path");
    let path = of_path.fold(operation.path.clone(), |path, parameter| {
        let name = parameter["name"].as_str().expect("a parameter has a name");
        let example =
            parameter.get("example").unwrap_or_else(|| panic!("path parameter {name} has no example"));
        path.replace(&format!("{{{name}}}"), &text(example))
    });
    contract.base_path.clone() + &path
}

/// Formats a value for a request target.
pub fn text(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

pub fn method(operation: &Operation) -> Method {
    operation.method.parse().expect("a method")
}

/// Returns a method that no operation has at this path.
pub fn wrong_method(path: &str) -> Method {
    let method = Contract::get().unused_methods(path).next().expect("some method without an operation");
    method.parse().expect("a method")
}

/// Calls an operation with the first example of its body, if it takes one.
pub async fn call(service: &Service, operation: &Operation) -> Response {
    with_body(service, operation, operation.bodies().next().map(|(_, body)| body.to_string())).await
}

async fn with_body(service: &Service, operation: &Operation, body: Option<String>) -> Response {
    let mut request = service.request(method(operation), &target(operation));
    if let Some(body) = body {
        request = request.header("content-type", "application/json").body(body);
    }
    request.response().await
}

async fn trigger(service: &Service, operation: &Operation, status: u16) -> Response {
    let plain = |target: &str| -> RequestBuilder { service.request(method(operation), target) };
    let takes_body = operation.bodies().next().is_some();
    match status {
        // The examples of path parameters name the first animal.
        200..=299 => {
            service.add(1).await;
            call(service, operation).await
        }
        400 if takes_body => with_body(service, operation, Some("{".to_owned())).await,
        400 => plain(&format!("{}?unknown=1", target(operation))).response().await,
        401 => service.anonymous(method(operation), &target(operation)).response().await,
        404 => call(service, operation).await,
        408 => {
            let mut raw = service.raw().await;
            let clock = Clock::stopped();
            let line = format!("{} {}", operation.method, target(operation));
            raw.head(&line, "Content-Type: application/json\r\nContent-Length: 2\r\n").await;
            service.store.key_found().await;
            clock.advance(LIMIT).await;
            raw.response().await
        }
        413 => with_body(service, operation, Some("x".repeat(MAX_BODY_BYTES + 1))).await,
        422 => {
            let keyed = |body: &Value| {
                let request = service.request(method(operation), &target(operation));
                request.header("idempotency-key", "\"some key\"").json(body)
            };
            let bodies: Vec<&Value> = operation.bodies().map(|(_, body)| body).collect();
            assert!(bodies.len() > 1, "{} needs two examples of its body, to reuse a key", operation.id);
            keyed(bodies[0]).response().await;
            keyed(bodies[1]).response().await
        }
        415 => plain(&target(operation)).body("{}").response().await,
        429 => loop {
            let response = call(service, operation).await;
            if response.status == 429 {
                break response;
            }
        },
        500 => {
            service.store.fail(Step::Any, Fault::Broken);
            call(service, operation).await
        }
        503 => {
            service.store.fail(Step::Any, Fault::Unavailable);
            call(service, operation).await
        }
        _ => panic!(
            "the document declares status {status} for {}; add to this function how to trigger it",
            operation.id
        ),
    }
}

async fn every_declared_status_of_every_operation_can_be_triggered(engine: Engine) {
    let mut codes = BTreeSet::new();
    for operation in &Contract::get().operations {
        for status in operation.statuses() {
            let setup = engine.setup().rate_limit(5, Duration::from_secs(3600));
            let service = setup.request_timeout(LIMIT).start().await;
            let response = trigger(&service, operation, status).await;
            assert_eq!(response.status, status, "{}: {}", operation.id, response.text());
            // The recorder knows which operation sent the response.
            assert!(service.recorder.seen().contains(&(operation.id.clone(), status)));
            codes.extend(service.recorder.codes());
        }
    }
    let service = engine.start().await;
    service.get("/v1/nothing").await.expect_error(404, "not_found");
    let wrong = service.request(wrong_method("/v1/pets"), "/v1/pets");
    wrong.response().await.expect_error(405, "method_not_allowed");
    codes.extend(service.recorder.codes());
    let described: BTreeSet<_> = Contract::get().codes.keys().cloned().collect();
    assert_eq!(codes, described, "the codes that can be triggerd and those in the description's table");
}
