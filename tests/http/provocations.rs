//! Every status that the document declares, provoked.
//!
//! Operations and statuses are read from the document. Most statuses are provoked in the same way for every
//! operation; one that has no row in [`provoke`] fails the test.

use std::collections::BTreeSet;
use std::time::Duration;

use animal_store::http::MAX_BODY_BYTES;
use reqwest::{Method, RequestBuilder};
use serde_json::Value;

use crate::clock::Clock;
use crate::faulty::{Fault, Step};
use crate::recorder::contract::{Contract, Operation};
use crate::recorder::wire::Response;
use crate::service::{Ask, Service};

/// The time limit of each step of a request.
const LIMIT: Duration = Duration::from_secs(10);

/// The request target of an operation, with the example of each path parameter in its place.
pub fn target(operation: &Operation) -> String {
    let contract = Contract::get();
    let of_path = operation.parameters.iter().filter(|parameter| parameter["in"] == "path");
    let path = of_path.fold(operation.path.clone(), |path, parameter| {
        let name = parameter["name"].as_str().expect("a parameter has a name");
        let example = parameter.get("example").unwrap_or_else(|| panic!("{name} has no example to ask for"));
        path.replace(&format!("{{{name}}}"), &text(example))
    });
    contract.base_path.clone() + &path
}

/// A value as it is written in a target.
pub fn text(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

pub fn method(operation: &Operation) -> Method {
    operation.method.parse().expect("a method")
}

/// A method that no operation has at this path.
pub fn wrong_method(path: &str) -> Method {
    let method = Contract::get().unused_methods(path).next().expect("a path does not take every method");
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
    request.answer().await
}

async fn provoke(service: &Service, operation: &Operation, status: u16) -> Response {
    let plain = |target: &str| -> RequestBuilder { service.request(method(operation), target) };
    let takes_body = operation.bodies().next().is_some();
    match status {
        // The examples of path parameters name the first animal.
        200..=299 => {
            service.add(1).await;
            call(service, operation).await
        }
        400 if takes_body => with_body(service, operation, Some("{".to_owned())).await,
        400 => plain(&format!("{}?unknown=1", target(operation))).answer().await,
        401 => service.anonymous(method(operation), &target(operation)).answer().await,
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
        415 => plain(&target(operation)).body("{}").answer().await,
        429 => loop {
            let answer = call(service, operation).await;
            if answer.status == 429 {
                break answer;
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
        _ => panic!("the document declares {status} of {}; say here what provokes it", operation.id),
    }
}

#[tokio::test]
async fn every_declared_status_of_every_operation_can_be_provoked() {
    let mut codes = BTreeSet::new();
    for operation in &Contract::get().operations {
        for status in operation.statuses() {
            let setup = Service::setup().rate_limit(5, Duration::from_secs(3600));
            let service = setup.request_timeout(LIMIT).start().await;
            let answer = provoke(&service, operation, status).await;
            assert_eq!(answer.status, status, "{}: {}", operation.id, answer.text());
            // The recorder knows whether the answer really came from that operation.
            assert!(service.recorder.seen().contains(&(operation.id.clone(), status)));
            codes.extend(service.recorder.codes());
        }
    }
    let service = Service::start().await;
    service.get("/v1/nothing").await.refused(404, "not_found");
    let wrong = service.request(wrong_method("/v1/pets"), "/v1/pets");
    wrong.answer().await.refused(405, "method_not_allowed");
    codes.extend(service.recorder.codes());
    let described: BTreeSet<_> = Contract::get().codes.keys().cloned().collect();
    assert_eq!(codes, described, "the codes that can be provoked and those in the description's table");
}
