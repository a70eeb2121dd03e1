//! Every answer that the service makes itself has an identifier of its own.

use std::collections::BTreeSet;

use reqwest::Method;

use crate::faulty::{Fault, Step};
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
            service.request(Method::PUT, "/v1/pets"),
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
