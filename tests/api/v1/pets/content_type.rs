//! The content type of the request body of `createPet`.

use crate::service::{RequestExt, Service};

const BODY: &str = r#"{"name":"Rex","categoryId":1}"#;

/// Sends a valid body with these header fields, each of which ends in CRLF.
async fn send(fields: &str) -> kit::recorder::wire::Response {
    let service = Service::start().await;
    let mut raw = service.raw().await;
    raw.head("POST /v1/pets", &format!("Content-Length: {}\r\n{fields}", BODY.len())).await.send(BODY).await;
    raw.response().await
}

macro_rules! accepted {
    ($($name:ident: $fields:literal)*) => {$(
        #[tokio::test]
        async fn $name() {
            send($fields).await.expect(201);
        }
    )*};
}

accepted! {
    json_is_accepted: "Content-Type: application/json\r\n"
    json_with_a_charset_is_accepted: "Content-Type: application/json; charset=utf-8\r\n"
    json_with_a_charset_in_quotes_is_accepted: "Content-Type: application/json;charset=\"UTF-8\"\r\n"
    json_with_an_empty_parameter_is_accepted: "Content-Type: application/json;\r\n"
    json_with_an_empty_parameter_before_a_charset_is_accepted:
        "Content-Type: application/json; ;charset=utf-8\r\n"
    the_case_of_the_media_type_does_not_matter: "Content-Type: Application/JSON\r\n"
    a_content_encoding_of_identity_is_accepted:
        "Content-Type: application/json\r\nContent-Encoding: identity\r\n"
}

macro_rules! rejected {
    ($($name:ident: $fields:literal)*) => {$(
        #[tokio::test]
        async fn $name() {
            let response = send($fields).await;
            response.expect_error(415, "unsupported_media_type");
            assert_eq!(response.header("accept-post"), Some("application/json"));
        }
    )*};
}

rejected! {
    a_body_without_a_content_type_is_rejected: ""
    an_empty_content_type_is_rejected: "Content-Type: \r\n"
    plain_text_is_rejected: "Content-Type: text/plain\r\n"
    a_form_is_rejected: "Content-Type: application/x-www-form-urlencoded\r\n"
    a_media_range_is_rejected: "Content-Type: */*\r\n"
    a_type_that_only_begins_like_json_is_rejected: "Content-Type: application/json5\r\n"
    a_type_with_a_json_suffix_is_rejected: "Content-Type: application/problem+json\r\n"
    a_parameter_other_than_charset_is_rejected: "Content-Type: application/json; profile=x\r\n"
    a_charset_without_a_value_is_rejected: "Content-Type: application/json; charset=\r\n"
    two_content_types_are_rejected: "Content-Type: application/json\r\nContent-Type: application/json\r\n"
    two_content_types_in_one_field_are_rejected: "Content-Type: application/json, text/plain\r\n"
    a_content_type_that_is_not_ascii_is_rejected: "Content-Type: application/json\u{e9}\r\n"
    a_compressed_body_is_rejected: "Content-Type: application/json\r\nContent-Encoding: gzip\r\n"
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
