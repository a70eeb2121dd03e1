//! Every status that the document declares, provoked.
//!
//! The table goes from an operationId and a status to what makes the service answer so. The pairs are
//! read from the YAML when the test runs, so a status that is new there has no row here and fails.

use std::collections::BTreeSet;
use std::time::Duration;

use crate::clock::Clock;
use crate::faulty::{Fault, Step};
use crate::recorder::contract::{Contract, Operation};
use crate::recorder::wire::Response;
use crate::service::{Ask, Service};

const JSON: &str = "Content-Type: application/json\r\n";
/// The time limit of each step of a request.
const LIMIT: Duration = Duration::from_secs(10);
const BODY: &str = r#"{"name":"Rex","categoryId":1}"#;

/// Where an operation is, with the example of each path parameter in its place.
pub fn target(operation: &Operation) -> String {
    let contract = Contract::get();
    let parameters = operation.object["parameters"].as_array().into_iter().flatten();
    let path = parameters.fold(operation.path.clone(), |path, parameter| {
        let parameter = contract.resolve(parameter);
        let name = parameter["name"].as_str().expect("a parameter has a name");
        path.replace(&format!("{{{name}}}"), &parameter["example"].to_string())
    });
    contract.base_path.clone() + &path
}

/// Does what the operation is there for.
async fn call(service: &Service, operation: &Operation) -> Response {
    let method = reqwest::Method::from_bytes(operation.method.as_bytes()).expect("a method");
    let mut request = service.request(method, &target(operation));
    if operation.object.get("requestBody").is_some() {
        request = request.header("content-type", "application/json").body(BODY);
    }
    request.answer().await
}

/// The call of the store that an operation makes.
fn step(operation: &Operation) -> Step {
    match &*operation.id {
        "listPets" => Step::Pets,
        "createPet" => Step::AddPet,
        "getPet" => Step::Pet,
        new => panic!("say here which call of the store {new} makes"),
    }
}

/// The table.
async fn provoke(service: &Service, operation: &Operation, status: u16) -> Response {
    match (&*operation.id, status) {
        ("listPets" | "createPet", 200 | 201) => call(service, operation).await,
        ("getPet", 200) => {
            service.add(1).await;
            call(service, operation).await
        }
        ("listPets", 400) => service.get("/v1/pets?limit=0").await,
        ("createPet", 400) => service.post_text("{}").await,
        ("getPet", 404) => call(service, operation).await,
        ("createPet", 408) => {
            let mut raw = service.raw().await;
            let clock = Clock::stopped();
            raw.head("POST /v1/pets", &format!("{JSON}Content-Length: {}\r\n", BODY.len())).await;
            service.store.key_found().await;
            clock.advance(LIMIT).await;
            raw.response().await
        }
        ("createPet", 413) => service.post_text("x".repeat(65_537)).await,
        ("createPet", 415) => service.request(reqwest::Method::POST, "/v1/pets").body(BODY).answer().await,
        (_, 401) => {
            let method = reqwest::Method::from_bytes(operation.method.as_bytes()).expect("a method");
            service.anonymous(method, &target(operation)).answer().await
        }
        (_, 429) => loop {
            let answer = call(service, operation).await;
            if answer.status == 429 {
                break answer;
            }
        },
        (_, 500) => {
            service.store.fail(step(operation), Fault::Broken);
            call(service, operation).await
        }
        (_, 503) => {
            service.store.fail(step(operation), Fault::Unavailable);
            call(service, operation).await
        }
        (id, status) => panic!("the document declares {status} of {id}; say here what provokes it"),
    }
}

#[tokio::test]
async fn every_declared_status_of_every_operation_can_be_provoked() {
    let (mut declared, mut seen, mut codes) = (BTreeSet::new(), BTreeSet::new(), BTreeSet::new());
    for operation in &Contract::get().operations {
        for status in operation.statuses() {
            let setup = Service::setup().rate_limit(5, Duration::from_secs(3600));
            let service = setup.request_timeout(LIMIT).start().await;
            let answer = provoke(&service, operation, status).await;
            assert_eq!(answer.status, status, "{}: {}", operation.id, answer.text());
            declared.insert((operation.id.clone(), status));
            seen.extend(service.recorder.seen());
            codes.extend(service.recorder.codes());
        }
    }
    // The recorder's word, not the table's: the answer really came from that operation.
    assert_eq!(seen, declared);

    let service = Service::start().await;
    service.get("/v1/nothing").await.refused(404, "not_found");
    service.request(reqwest::Method::PUT, "/v1/pets").answer().await.refused(405, "method_not_allowed");
    codes.extend(service.recorder.codes());
    let described: BTreeSet<_> = Contract::get().codes.keys().cloned().collect();
    assert_eq!(codes, described, "the codes that can be provoked and those in the description's table");
}
