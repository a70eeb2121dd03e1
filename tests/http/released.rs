//! The documents of released versions: each under an address of its own, for good.

use reqwest::Method;

use crate::recorder::wire::Response;
use crate::service::{Ask, DOCUMENT, Service};

const YAML: &str = "openapi: 3.0.3\n";
const JSON: &str = r#"{"openapi":"3.0.3"}"#;

async fn service() -> Service {
    Service::setup().released(&[("1.0.0.json", JSON), ("1.0.0.yaml", YAML)]).start().await
}

async fn fetch(service: &Service, target: &str) -> Response {
    service.anonymous(Method::GET, target).answer().await
}

#[tokio::test]
async fn each_is_served_byte_for_byte_without_a_key() {
    let service = service().await;
    for (target, content, kind) in
        [("/openapi/1.0.0.yaml", YAML, "application/yaml"), ("/openapi/1.0.0.json", JSON, "application/json")]
    {
        let answer = fetch(&service, target).await;
        assert_eq!((answer.status, answer.text()), (200, content));
        assert_eq!(answer.header("content-type"), Some(kind));
        assert_eq!(answer.header("access-control-allow-origin"), Some("*"));
    }
}

#[tokio::test]
async fn they_may_be_kept_for_good_and_the_working_document_may_not() {
    let service = service().await;
    let kept = fetch(&service, "/openapi/1.0.0.yaml").await;
    assert_eq!(kept.header("cache-control"), Some("public, max-age=31536000, immutable"));
    let asked_about = fetch(&service, "/openapi.yaml").await;
    assert_eq!(asked_about.header("cache-control"), Some("no-cache"));
    assert_eq!(asked_about.text(), DOCUMENT);
}

#[tokio::test]
async fn a_matching_etag_gets_304() {
    let service = service().await;
    let etag = fetch(&service, "/openapi/1.0.0.yaml").await.header("etag").unwrap().to_owned();
    let request = service.anonymous(Method::GET, "/openapi/1.0.0.yaml").header("if-none-match", &etag);
    let answer = request.answer().await;
    assert_eq!((answer.status, answer.body.len()), (304, 0));
    assert_eq!(answer.header("cache-control"), Some("public, max-age=31536000, immutable"));
}

#[tokio::test]
async fn a_version_that_was_not_released_is_not_found() {
    let service = service().await;
    for target in
        ["/openapi/1.0.1.yaml", "/openapi/", "/openapi/README.md", "/openapi/1.0.0", "/v1/openapi/1.0.0.yaml"]
    {
        service.get(target).await.refused(404, "not_found");
    }
}
