//! What each operation that writes does beyond its own response. One that is not in the table fails the tests, so that its
//! author looks at the promises which it can break elsewhere: retries and histories. A GET must change nothing. Responses
//! of both have a bound.

use std::collections::BTreeSet;

use animal_store::schemas::Pets;
use serde_json::Value;

use crate::database::{Engine, on_each_engine};
use crate::declared_statuses::{call, method, target};
use crate::service::{RequestExt, Service};
use kit::recorder::contract::{Contract, Operation};
use kit::recorder::wire::Response;

on_each_engine! {
    every_operation_has_the_effect_of_its_class
    a_repeated_request_has_the_effect_of_one
}

/// What an operation does to stored animals.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Effect {
    Adds,
    /// Changes or removes one. `tests/resilience/history/model.rs` then needs to know which values an animal had.
    Changes,
}

struct Write {
    id: &'static str,
    effect: Effect,
    /// The variant of `Operation` in `tests/resilience/history/model.rs`, which judges it in histories. `None` if histories
    /// lack it; then the row says why in a comment.
    history: Option<&'static str>,
}

const WRITES: [Write; 1] = [Write { id: "createPet", effect: Effect::Adds, history: Some("Add {") }];

/// Returns the operations of the document with their rows.
fn operations() -> impl Iterator<Item = (&'static Operation, Option<&'static Write>)> {
    let operations = Contract::get().operations.iter();
    operations.map(|operation| (operation, WRITES.iter().find(|row| row.id == operation.id)))
}

#[test]
fn every_operation_that_writes_is_classified() {
    let rows: BTreeSet<&str> = WRITES.iter().map(|row| row.id).collect();
    let writes = Contract::get().operations.iter().filter(|operation| operation.method != "GET");
    let writes: BTreeSet<&str> = writes.map(|operation| operation.id.as_str()).collect();
    assert_eq!(writes, rows, "classify each operation that writes in {}", file!());
}

#[test]
fn histories_judge_writes() {
    let model = include_str!("../resilience/history/model.rs");
    let (_, operations) = model.split_once("pub enum Operation {").unwrap();
    let (operations, _) = operations.split_once("\n}").unwrap();
    let variants: Vec<&str> = WRITES.iter().filter_map(|row| row.history).collect();
    for variant in &variants {
        assert!(
            operations.contains(&format!("    {variant}")),
            "tests/resilience/history/model.rs has no {variant}"
        );
    }
    let distinct: BTreeSet<_> = variants.iter().chain(&["Read("]).collect();
    assert_eq!(distinct.len(), variants.len() + 1, "a write needs a variant of its own: {variants:?}");
}

fn takes_key(operation: &Operation) -> bool {
    operation.parameters.iter().any(|parameter| parameter["name"] == "Idempotency-Key")
}

#[test]
fn additions_are_retried_with_an_idempotency_key() {
    for (operation, row) in operations() {
        let adds = row.is_some_and(|row| row.effect == Effect::Adds);
        // PUT is idempotent (RFC 9110, section 9.2.2).
        assert_eq!(takes_key(operation), adds && operation.method != "PUT", "{}", operation.id);
    }
}

#[test]
fn every_list_has_a_bound() {
    let contract = Contract::get();
    for (operation, _) in operations() {
        let responses = operation.object["responses"].as_object().unwrap();
        for (status, response) in responses.iter().filter(|(status, _)| status.starts_with('2')) {
            let content = &contract.resolve(response)["content"]["application/json"];
            let schema = contract.resolve(&content["schema"]);
            let most = if schema["type"] == "array" { schema["maxItems"].as_u64() } else { Some(1) };
            let is_bounded = most.is_some_and(|most| most <= u64::from(Pets::MAX_ITEMS));
            assert!(is_bounded, "{} {status}: {most:?}", operation.id);
        }
    }
}

/// Returns all animals. There are fewer than a page has.
async fn animals(service: &Service) -> Vec<Value> {
    service.get("/v1/pets?limit=100").await.expect(200).as_array().unwrap().clone()
}

async fn every_operation_has_the_effect_of_its_class(engine: Engine) {
    for (operation, row) in operations() {
        let service = engine.start().await;
        service.add(3).await;
        let before = animals(&service).await;
        let response = call(&service, operation).await;
        assert!((200..300).contains(&response.status), "{}: {}", operation.id, response.text());
        let after = animals(&service).await;
        let effect = match after.strip_prefix(&before[..]) {
            None => Some(Effect::Changes),
            Some([]) => None,
            Some(_) => Some(Effect::Adds),
        };
        assert_eq!(effect, row.map(|row| row.effect), "{}", operation.id);
    }
}

/// Calls an operation with the first example of its body, and with an idempotency key if it takes one.
async fn call_with_key(service: &Service, operation: &Operation) -> Response {
    let mut request = service.request(method(operation), &target(operation));
    if takes_key(operation) {
        request = request.header("idempotency-key", "\"a retry\"");
    }
    if let Some((kind, body)) = operation.bodies().next() {
        request = request.header("content-type", kind).body(body.to_string());
    }
    request.response().await
}

async fn a_repeated_request_has_the_effect_of_one(engine: Engine) {
    for operation in &Contract::get().operations {
        let service = engine.start().await;
        service.add(3).await;
        let first = call_with_key(&service, operation).await;
        let once = animals(&service).await;
        let second = call_with_key(&service, operation).await;
        assert!((200..300).contains(&first.status), "{}: {}", operation.id, first.text());
        assert_eq!((second.status, second.json()), (first.status, first.json()), "{}", operation.id);
        assert_eq!(animals(&service).await, once, "{}", operation.id);
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
