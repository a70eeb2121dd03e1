//! Every answer that the service makes itself has an identifier of its own, and a record in the log.

use std::collections::BTreeSet;

use reqwest::Method;

use crate::faulty::{Fault, Step};
use crate::provocations::wrong_method;
use crate::service::{Ask, Service};

#[tokio::test]
async fn every_answer_has_a_request_id_of_its_own() {
    let service = Service::start().await;
    service.add(1).await;
    let mut ids = BTreeSet::new();
    for _ in 0..5 {
        for request in [
            service.request(Method::GET, "/v1/pets"),
            service.request(Method::GET, "/v1/pets/1"),
            service.request(Method::HEAD, "/v1/pets"),
            service.request(Method::GET, "/v1/nothing"),
            service.request(wrong_method("/v1/pets"), "/v1/pets"),
            service.anonymous(Method::GET, "/v1/pets"),
        ] {
            ids.insert(request.answer().await.header("x-request-id").expect("an id").to_owned());
        }
    }
    assert_eq!(ids.len(), 30);
}

#[tokio::test]
async fn a_panic_has_a_request_id_that_stands_in_the_log() {
    let service = Service::start().await;
    service.store.fail(Step::Pets, Fault::Panic);
    let answer = service.get("/v1/pets").await;
    let id = answer.header("x-request-id").unwrap();
    assert!(service.log.text().contains(id));
}

#[tokio::test]
async fn a_request_id_sent_by_the_client_is_not_taken_over() {
    let service = Service::start().await;
    let request = service.request(Method::GET, "/v1/pets").header("x-request-id", "mine");
    assert_ne!(request.answer().await.header("x-request-id"), Some("mine"));
}

#[tokio::test]
async fn the_log_keeps_the_trace_of_a_client_and_nothing_else_in_its_place() {
    let service = Service::start().await;
    let trace = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
    let ask = |value: &str| service.request(Method::GET, "/v1/pets").header("traceparent", value).answer();
    ask(trace).await.expect(200);
    ask(&service.key).await.expect(200);
    let log = service.log.text();
    let parts =
        ["trace_id: 0af7651916cd43dd8448eb211c80319c", "span_id: b7ad6b7169203331", "trace_flags: 01"];
    for part in parts {
        assert_eq!(log.matches(part).count(), 1, "{part} is not once in:\n{log}");
    }
    assert!(!log.contains(&service.key), "{log}");
}
