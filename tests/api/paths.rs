//! Paths and methods: which exist, how they may be written, and the errors for all others.

use reqwest::Method;
use serde_json::json;

use crate::declared_statuses::{target, wrong_method};
use crate::service::{RequestExt, Service};
use kit::recorder::contract::Contract;

#[tokio::test]
async fn other_paths_are_not_found() {
    let service = Service::start().await;
    service.add(1).await;
    for target in [
        "/v1",
        "/v1/",
        "/pets",
        "/v2/pets",
        "/v10/pets",
        "/v1pets",
        "/v1/orders",
        "/v1/categories",
        "/v1/store",
        "/v1/keys",
        "/v1/pets/1/name",
        "/v1/pets/",
        "/v1/pets/1/",
        "/v1//pets",
        "//v1/pets",
        "/v1/pets//1",
        "/v1/%70ets",
        "/%761/pets",
        "/v1%2Fpets",
        "/v1/pets%3Flimit=5",
        "/V1/PETS",
        "/v1/pets.json",
        "/v1/pets;limit=5",
        "/v1/./pets",
        "/v1/x/../pets",
        "/v1/%ff",
    ] {
        let mut raw = service.raw().await;
        raw.head(&format!("GET {target}"), "").await;
        let message = raw.response().await.expect_error(404, "not_found");
        assert_eq!(message, "this path does not exist", "{target}");
    }
}

#[tokio::test]
async fn an_unknown_path_is_not_found_with_any_key() {
    let service = Service::start().await;
    for request in [
        service.anonymous(Method::GET, "/v1/nothing"),
        service.anonymous(Method::GET, "/v1/nothing").bearer_auth("nonsense"),
        service.request(Method::GET, "/v1/nothing"),
    ] {
        request.response().await.expect_error(404, "not_found");
    }
}

#[tokio::test]
async fn an_unknown_path_is_not_found_with_any_method() {
    let service = Service::start().await;
    for method in [Method::POST, Method::PUT, Method::PATCH, Method::DELETE, Method::OPTIONS, Method::TRACE] {
        service.anonymous(method, "/v1/nothing").response().await.expect_error(404, "not_found");
    }
}

#[tokio::test]
async fn the_response_to_a_large_body_at_an_unknown_path_arrives() {
    let service = Service::start().await;
    let request = service.request(Method::POST, "/v1/nothing").body("x".repeat(1024 * 1024));
    request.response().await.expect_error(404, "not_found");
}

#[tokio::test]
async fn every_undeclared_method_of_a_path_is_not_allowed() {
    let service = Service::start().await;
    for operation in &Contract::get().operations {
        let target = target(operation);
        for method in Contract::get().unused_methods(&target) {
            let response = service.anonymous(method.parse().unwrap(), &target).response().await;
            if method == "HEAD" {
                assert_eq!((response.status, response.body.len()), (405, 0), "{method} {target}");
                continue;
            }
            // The recorder compares `Allow` with the document.
            let message = response.expect_error(405, "method_not_allowed");
            assert!(message.contains(response.header("allow").unwrap()), "{method} {target}: {message}");
        }
    }
}

#[tokio::test]
async fn a_wrong_method_is_not_allowed_with_any_key() {
    let service = Service::start().await;
    for request in [
        service.anonymous(wrong_method("/v1/pets"), "/v1/pets"),
        service.anonymous(wrong_method("/v1/pets"), "/v1/pets").bearer_auth("nonsense"),
        service.request(wrong_method("/v1/pets"), "/v1/pets"),
    ] {
        request.response().await.expect_error(405, "method_not_allowed");
    }
}

#[tokio::test]
async fn the_response_to_a_large_body_with_a_wrong_method_arrives() {
    let service = Service::start().await;
    let request = service.request(wrong_method("/v1/pets"), "/v1/pets").body("x".repeat(1024 * 1024));
    request.response().await.expect_error(405, "method_not_allowed");
}

#[tokio::test]
async fn a_method_override_header_is_ignored() {
    let service = Service::start().await;
    let request = service.request(Method::GET, "/v1/pets").header("x-http-method-override", "DELETE");
    request.response().await.expect(200);
}

#[tokio::test]
async fn a_target_in_absolute_form_identifies_the_same_resource() {
    let service = Service::start().await;
    service.add(1).await;
    let mut raw = service.raw().await;
    raw.head("GET http://animals.example.com/v1/pets/1", "").await;
    raw.response().await.expect(200);
}

#[tokio::test]
async fn http_1_0_is_supported() {
    let service = Service::start().await;
    let mut raw = service.raw().await;
    raw.send(format!("GET /v1/pets HTTP/1.0\r\nAuthorization: Bearer {}\r\n\r\n", service.key)).await;
    raw.response().await.expect(200);
    assert!(raw.ends().await);
}

#[tokio::test]
async fn pipelined_requests_get_responses_in_order() {
    let service = Service::start().await;
    service.add(2).await;
    let mut raw = service.raw().await;
    raw.head("GET /v1/pets/1", "").await.head("GET /v1/nothing", "").await.head("GET /v1/pets/2", "").await;
    assert_eq!(raw.response().await.expect(200)["id"], 1);
    raw.response().await.expect_error(404, "not_found");
    assert_eq!(raw.response().await.expect(200)["id"], 2);
}

#[tokio::test]
async fn methods_are_case_sensitive_and_unknown_ones_are_not_allowed() {
    let service = Service::start().await;
    for method in ["post", "Get", "BREW", "CONNECT"] {
        let mut raw = service.raw().await;
        raw.head(&format!("{method} /v1/pets"), "").await;
        raw.response().await.expect_error(405, "method_not_allowed");
    }
}

#[tokio::test]
async fn a_request_without_one_valid_host_is_refused() {
    let service = Service::start().await;
    for hosts in
        ["", "Host: a\r\nHost: a\r\n", "Host:\r\n", "Host: a b\r\n", "Host: a, b\r\n", "Host: user@a\r\n"]
    {
        let mut raw = service.raw().await;
        raw.send(format!("GET /v1/pets HTTP/1.1\r\n{hosts}Authorization: Bearer {}\r\n\r\n", service.key))
            .await;
        raw.response().await.expect_error(400, "invalid_parameter");
    }
}

#[tokio::test]
async fn a_target_with_user_information_or_another_scheme_is_refused() {
    let service = Service::start().await;
    for (target, status) in [
        ("http://animals/v1/pets", 200),
        ("https://animals/v1/pets", 200),
        ("http://user@animals/v1/pets", 400),
        ("http://user:password@animals/v1/pets", 400),
        ("ftp://animals/v1/pets", 400),
    ] {
        let mut raw = service.raw().await;
        raw.head(&format!("GET {target}"), "").await;
        assert_eq!(raw.response().await.status, status, "{target}");
    }
}

#[tokio::test]
async fn the_only_transfer_coding_is_chunked() {
    let service = Service::start().await;
    let body = r#"{"name":"Rex","categoryId":3}"#;
    for coding in
        ["gzip, chunked", "identity, chunked", "chunked, chunked", "chunked\r\nTransfer-Encoding: chunked"]
    {
        let mut raw = service.raw().await;
        let fields = format!("Content-Type: application/json\r\nTransfer-Encoding: {coding}\r\n");
        let chunks = format!("{:x}\r\n{body}\r\n0\r\n\r\n", body.len());
        raw.head("POST /v1/pets", &fields).await.send(chunks).await;
        raw.response().await.expect_error(400, "invalid_body");
        // The end of such a request is uncertain (RFC 9112, section 6.1).
        raw.send("GET /v1/pets HTTP/1.1\r\nHost: animals\r\n\r\n").await;
        assert!(raw.ends().await, "{coding}");
    }
    assert_eq!(service.get("/v1/pets").await.expect(200), json!([]));
}
