//! Every response of the service has a unique request identifier, which is also in the log.

use std::collections::BTreeSet;

use reqwest::Method;

use crate::declared_statuses::wrong_method;
use crate::failing_store::{Fault, Step};
use crate::service::{RequestExt, Service};

#[tokio::test]
async fn every_response_has_a_unique_request_id() {
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
            ids.insert(request.response().await.header("x-request-id").expect("an id").to_owned());
        }
    }
    assert_eq!(ids.len(), 30);
}

#[tokio::test]
async fn the_request_id_of_a_panic_is_in_the_log() {
    let service = Service::start().await;
    service.store.fail(Step::Pets, Fault::Panic);
    let response = service.get("/v1/pets").await;
    let id = response.header("x-request-id").unwrap();
    assert!(service.log.text().contains(id));
}

#[tokio::test]
async fn a_request_id_sent_by_the_client_is_ignored() {
    let service = Service::start().await;
    let request = service.request(Method::GET, "/v1/pets").header("x-request-id", "mine");
    assert_ne!(request.response().await.header("x-request-id"), Some("mine"));
}

#[tokio::test]
async fn the_log_contains_a_valid_traceparent_and_no_invalid_one() {
    let service = Service::start().await;
    let trace = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
    let send = |value: &str| service.request(Method::GET, "/v1/pets").header("traceparent", value).response();
    send(trace).await.expect(200);
    send(&service.key).await.expect(200);
    let log = service.log.text();
    let parts =
        ["trace_id: 0af7651916cd43dd8448eb211c80319c", "span_id: b7ad6b7169203331", "trace_flags: 01"];
    for part in parts {
        assert_eq!(log.matches(part).count(), 1, "{part} is not once in:\n{log}");
    }
    assert!(!log.contains(&service.key), "{log}");
}
