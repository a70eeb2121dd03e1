//! HEAD returns the status and headers of GET, without a body (RFC 9110, section 9.3.2).

use reqwest::Method;
use serde_json::json;

use crate::declared_statuses::target;
use crate::service::{RequestExt, Service};
use kit::recorder::contract::Contract;

/// Checks that GET and HEAD return the same status and headers.
async fn like_get(service: &Service, target: &str, status: u16) {
    let get = service.get(target).await;
    assert_eq!(get.status, status);
    let mut raw = service.raw().await;
    raw.head(&format!("HEAD {target}"), "").await;
    let head = raw.response().await;
    assert_eq!(head.status, status);
    assert!(head.body.is_empty());
    for own in ["date", "x-request-id"] {
        assert!(head.headers.contains_key(own));
    }
    let comparable = |response: &kit::recorder::wire::Response| {
        let mut headers = response.headers.clone();
        headers.remove("date");
        headers.remove("x-request-id");
        headers
    };
    assert_eq!(comparable(&head), comparable(&get));
}

#[tokio::test]
async fn head_of_every_get_operation_is_like_get() {
    let service = Service::start().await;
    service.add(3).await;
    for operation in Contract::get().operations.iter().filter(|operation| operation.method == "GET") {
        like_get(&service, &target(operation), 200).await;
    }
}

#[tokio::test]
async fn head_of_a_page_has_the_next_link() {
    let service = Service::start().await;
    service.add(3).await;
    like_get(&service, "/v1/pets?limit=2", 200).await;
    let head = service.request(Method::HEAD, "/v1/pets?limit=2").response().await;
    assert!(head.header("link").unwrap().contains("rel=\"next\""));
}

#[tokio::test]
async fn head_of_a_missing_animal_is_like_get() {
    let service = Service::start().await;
    like_get(&service, "/v1/pets/1", 404).await;
}

#[tokio::test]
async fn head_with_a_wrong_parameter_is_like_get() {
    let service = Service::start().await;
    like_get(&service, "/v1/pets?limit=0", 400).await;
}

#[tokio::test]
async fn head_of_an_unknown_path_is_like_get() {
    let service = Service::start().await;
    like_get(&service, "/v1/nothing", 404).await;
}

#[tokio::test]
async fn head_requires_a_key_like_get() {
    let service = Service::start().await;
    let head = service.anonymous(Method::HEAD, "/v1/pets").response().await;
    assert_eq!((head.status, head.body.len()), (401, 0));
    assert_eq!(head.header("www-authenticate"), Some("Bearer realm=\"animal-store\""));
}

#[tokio::test]
async fn the_response_to_head_has_no_body() {
    let service = Service::start().await;
    service.add(1).await;
    let mut raw = service.raw().await;
    raw.head("HEAD /v1/pets", "").await;
    assert_eq!(raw.response().await.status, 200);
    // A body would be read as the start of this response.
    raw.head("GET /v1/pets/1", "").await;
    assert_eq!(raw.response().await.expect(200), json!({ "id": 1, "name": "animal 0", "categoryId": 1 }));
}
