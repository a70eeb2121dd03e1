//! What each operation does beyond its own response. An operation that is not in the table fails the tests, so that its
//! author looks at the promises which it can break elsewhere: retries, histories, the bounds of a response.

use std::collections::BTreeSet;

use animal_store::operations;
use serde_json::Value;

use crate::declared_statuses::{call, method, target};
use crate::recorder::contract::{Contract, Operation};
use crate::recorder::wire::Response;
use crate::service::{RequestExt, Service};

/// What an operation does to stored animals.
#[allow(dead_code, reason = "no operation changes animals yet")]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Effect {
    Reads,
    Adds,
    /// Changes or removes one. `tests/history/model.rs` then needs to know which values an animal had.
    Changes,
}

/// How a client repeats a request whose outcome it does not know.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Retry {
    /// It sends the same request again: two have the effect of one.
    Unchanged,
    /// It sends the same request again, which has an `Idempotency-Key`.
    WithKey,
}

struct Classified {
    id: &'static str,
    effect: Effect,
    retry: Retry,
    /// The variant of `Operation` in `tests/history/model.rs`, which judges it in histories.
    history: &'static str,
    /// The maximum number of animals in a response.
    animals: u64,
}

const CLASSIFIED: [Classified; 3] = [
    Classified {
        id: "listPets",
        effect: Effect::Reads,
        retry: Retry::Unchanged,
        history: "Read(",
        animals: 100,
    },
    Classified { id: "createPet", effect: Effect::Adds, retry: Retry::WithKey, history: "Add {", animals: 1 },
    Classified { id: "getPet", effect: Effect::Reads, retry: Retry::Unchanged, history: "Read(", animals: 1 },
];

/// Returns the rows with their operations in the document.
fn classified() -> impl Iterator<Item = (&'static Classified, &'static Operation)> {
    CLASSIFIED.iter().map(|row| (row, Contract::get().operation(row.id)))
}

#[test]
fn every_operation_is_classified() {
    let rows: BTreeSet<&str> = CLASSIFIED.iter().map(|row| row.id).collect();
    let code = operations::all();
    let code: BTreeSet<&str> = code.iter().map(|operation| operation.id()).collect();
    let document: BTreeSet<&str> = Contract::get().operations.iter().map(|it| it.id.as_str()).collect();
    assert_eq!(code, rows, "classify each operation of the code in {}", file!());
    assert_eq!(document, rows, "classify each operation of the document in {}", file!());
}

#[test]
fn histories_judge_every_operation() {
    let model = include_str!("../history/model.rs");
    let (_, operations) = model.split_once("pub enum Operation {").unwrap();
    let (operations, _) = operations.split_once("\n}").unwrap();
    for Classified { id, history, .. } in &CLASSIFIED {
        assert!(
            operations.contains(&format!("    {history}")),
            "{id}: tests/history/model.rs has no {history}"
        );
    }
}

#[test]
fn only_operations_with_idempotency_keys_are_retried_with_one() {
    for (row, operation) in classified() {
        let takes_key = operation.parameters.iter().any(|parameter| parameter["name"] == "Idempotency-Key");
        assert_eq!(takes_key, row.retry == Retry::WithKey, "{}", row.id);
        // A method that is not idempotent (RFC 9110, section 9.2.2) needs a key, unless it only reads.
        let is_idempotent = ["GET", "HEAD", "PUT", "DELETE"].contains(&&*operation.method);
        assert!(is_idempotent || row.effect != Effect::Adds || takes_key, "{}", row.id);
    }
}

#[test]
fn every_response_has_a_bound() {
    let contract = Contract::get();
    for (row, operation) in classified() {
        let responses = operation.object["responses"].as_object().unwrap();
        for (status, response) in responses.iter().filter(|(status, _)| status.starts_with('2')) {
            let content = &contract.resolve(response)["content"]["application/json"];
            let schema = contract.resolve(&content["schema"]);
            let most = if schema["type"] == "array" { schema["maxItems"].as_u64() } else { Some(1) };
            assert_eq!(most, Some(row.animals), "{} {status}", row.id);
        }
    }
}

/// Returns all animals. There are fewer than a page has.
async fn animals(service: &Service) -> Vec<Value> {
    service.get("/v1/pets?limit=100").await.expect(200).as_array().unwrap().clone()
}

#[tokio::test]
async fn every_operation_has_the_effect_of_its_class() {
    for (row, operation) in classified() {
        let service = Service::start().await;
        service.add(3).await;
        let before = animals(&service).await;
        let response = call(&service, operation).await;
        assert!((200..300).contains(&response.status), "{}: {}", row.id, response.text());
        let after = animals(&service).await;
        let effect = match after.strip_prefix(&before[..]) {
            None => Effect::Changes,
            Some([]) => Effect::Reads,
            Some(_) => Effect::Adds,
        };
        assert_eq!(effect, row.effect, "{}", row.id);
    }
}

/// Calls an operation with the first example of its body, and with an idempotency key if it takes one.
async fn call_with_key(service: &Service, row: &Classified, operation: &Operation) -> Response {
    let mut request = service.request(method(operation), &target(operation));
    if row.retry == Retry::WithKey {
        request = request.header("idempotency-key", "\"a retry\"");
    }
    if let Some((kind, body)) = operation.bodies().next() {
        request = request.header("content-type", kind).body(body.to_string());
    }
    request.response().await
}

#[tokio::test]
async fn a_repeated_request_has_the_effect_of_one() {
    for (row, operation) in classified() {
        let service = Service::start().await;
        service.add(3).await;
        let first = call_with_key(&service, row, operation).await;
        let once = animals(&service).await;
        let second = call_with_key(&service, row, operation).await;
        assert!((200..300).contains(&first.status), "{}: {}", row.id, first.text());
        assert_eq!((second.status, second.json()), (first.status, first.json()), "{}", row.id);
        assert_eq!(animals(&service).await, once, "{}", row.id);
    }
}

#[tokio::test]
async fn a_body_of_another_type_gets_the_header_of_its_method() {
    let service = Service::start().await;
    for operation in Contract::get().operations.iter().filter(|it| it.bodies().next().is_some()) {
        let response = service.request(method(operation), &target(operation)).body("{}").response().await;
        response.expect_error(415, "unsupported_media_type");
        let expected = match &*operation.method {
            "POST" => "accept-post",
            "PATCH" => "accept-patch",
            _ => "accept",
        };
        for name in ["accept-post", "accept-patch", "accept"] {
            let value = (name == expected).then_some("application/json");
            assert_eq!(response.header(name), value, "{} {name}", operation.id);
        }
    }
}
