//! The content type of the request body of `createPet`.

use crate::service::{RequestExt, Service};

const BODY: &str = r#"{"name":"Rex","categoryId":1}"#;

/// Sends a valid body with these header fields, each of which ends in CRLF.
async fn send(service: &Service, fields: &str) -> kit::recorder::wire::Response {
    let mut raw = service.raw().await;
    raw.head("POST /v1/pets", &format!("Content-Length: {}\r\n{fields}", BODY.len())).await.send(BODY).await;
    raw.response().await
}

#[tokio::test]
async fn json_is_accepted() {
    let service = Service::start().await;
    for fields in [
        "Content-Type: application/json\r\n",
        "Content-Type: application/json; charset=utf-8\r\n",
        "Content-Type: application/json;charset=\"UTF-8\"\r\n",
        "Content-Type: application/json;\r\n",
        "Content-Type: application/json; ;charset=utf-8\r\n",
        "Content-Type: Application/JSON\r\n",
        "Content-Type: application/json\r\nContent-Encoding: identity\r\n",
    ] {
        let response = send(&service, fields).await;
        assert_eq!(response.status, 201, "{fields}");
    }
}

#[tokio::test]
async fn other_content_types_are_rejected() {
    let service = Service::start().await;
    for fields in [
        "",
        "Content-Type: \r\n",
        "Content-Type: text/plain\r\n",
        "Content-Type: application/x-www-form-urlencoded\r\n",
        "Content-Type: */*\r\n",
        "Content-Type: application/json5\r\n",
        "Content-Type: application/problem+json\r\n",
        "Content-Type: application/json; profile=x\r\n",
        "Content-Type: application/json; charset=\r\n",
        "Content-Type: application/json\r\nContent-Type: application/json\r\n",
        "Content-Type: application/json, text/plain\r\n",
        "Content-Type: application/json\u{e9}\r\n",
        "Content-Type: application/json\r\nContent-Encoding: gzip\r\n",
    ] {
        let response = send(&service, fields).await;
        assert_eq!(response.status, 415, "{fields}");
        response.expect_error(415, "unsupported_media_type");
        assert_eq!(response.header("accept-post"), Some("application/json"), "{fields}");
    }
}

#[tokio::test]
async fn the_message_names_the_expected_content_type() {
    let service = Service::start().await;
    let request = service.request(reqwest::Method::POST, "/v1/pets").header("content-type", "text/json");
    let message = request.body(BODY).response().await.expect_error(415, "unsupported_media_type");
    assert!(message.contains("application/json"), "{message}");
}

#[tokio::test]
async fn a_wrong_content_type_is_rejected_without_waiting_for_the_body() {
    let service = Service::start().await;
    let mut raw = service.raw().await;
    raw.head("POST /v1/pets", "Content-Type: text/plain\r\nContent-Length: 30\r\n").await;
    raw.response().await.expect_error(415, "unsupported_media_type");
}

#[tokio::test]
async fn the_content_type_is_checked_before_the_size() {
    let service = Service::start().await;
    let mut raw = service.raw().await;
    raw.head("POST /v1/pets", "Content-Type: text/plain\r\nContent-Length: 65537\r\n").await;
    raw.response().await.expect_error(415, "unsupported_media_type");
}
