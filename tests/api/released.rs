//! The documents of released versions, which are served at permanent URLs.

use reqwest::Method;

use crate::service::{DOCUMENT, RequestExt, Service};
use kit::recorder::wire::Response;

const YAML: &str = include_str!("../../openapi/released/1.0.0.yaml");
const JSON: &str = include_str!("../../openapi/released/1.0.0.json");

async fn fetch(service: &Service, target: &str) -> Response {
    service.anonymous(Method::GET, target).response().await
}

#[tokio::test]
async fn each_is_served_byte_for_byte_without_a_key() {
    let service = Service::start().await;
    for (target, content, kind) in
        [("/openapi/1.0.0.yaml", YAML, "application/yaml"), ("/openapi/1.0.0.json", JSON, "application/json")]
    {
        let response = fetch(&service, target).await;
        assert_eq!((response.status, response.text()), (200, content));
        assert_eq!(response.header("content-type"), Some(kind));
        assert_eq!(response.header("access-control-allow-origin"), Some("*"));
    }
}

#[tokio::test]
async fn they_are_immutable_for_caches_and_the_working_document_is_not() {
    let service = Service::start().await;
    let released = fetch(&service, "/openapi/1.0.0.yaml").await;
    assert_eq!(released.header("cache-control"), Some("public, max-age=31536000, immutable"));
    let working = fetch(&service, "/openapi.yaml").await;
    assert_eq!(working.header("cache-control"), Some("no-cache"));
    assert_eq!(working.text(), DOCUMENT);
}

#[tokio::test]
async fn a_matching_etag_gets_304() {
    let service = Service::start().await;
    let etag = fetch(&service, "/openapi/1.0.0.yaml").await.header("etag").unwrap().to_owned();
    let request = service.anonymous(Method::GET, "/openapi/1.0.0.yaml").header("if-none-match", &etag);
    let response = request.response().await;
    assert_eq!((response.status, response.body.len()), (304, 0));
    assert_eq!(response.header("cache-control"), Some("public, max-age=31536000, immutable"));
}

#[tokio::test]
async fn other_versions_are_not_found() {
    let service = Service::start().await;
    for target in
        ["/openapi/0.1.0.yaml", "/openapi/", "/openapi/README.md", "/openapi/1.0.0", "/v1/openapi/1.0.0.yaml"]
    {
        service.get(target).await.expect_error(404, "not_found");
    }
}
