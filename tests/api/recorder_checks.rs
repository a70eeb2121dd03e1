//! Tests of the recorder: which responses it reports as violations.

use std::sync::{Arc, LazyLock};

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;

use crate::raw::Raw;
use kit::recorder::contract::Contract;
use kit::recorder::{Recorder, proxy};

static THINGS: LazyLock<Contract> = LazyLock::new(|| Contract::new(include_str!("recorder_checks.yaml")));

/// The head of a response without a body, up to the empty line.
const EMPTY: &str = "HTTP/1.1 204 No Content\r\nx-request-id: 1\r\n";

const LIST: &str = "HTTP/1.1 200 OK\r\nx-request-id: 1\r\ncontent-type: application/json\r\n";

/// Returns the violations that the recorder reports for `response` to `request`.
async fn violations_of(request: &str, response: &str) -> Vec<String> {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let recorder = Arc::new(Recorder::with_contract(&THINGS));
    recorder.add_secret("ask_secret");
    let address = proxy::start(listener.local_addr().unwrap(), recorder.clone()).await.unwrap();
    let response = response.to_owned();
    let service = tokio::spawn(async move {
        let (mut stream, _) = listener.accept().await.unwrap();
        let mut bytes = [0; 1024];
        assert!(stream.read(&mut bytes).await.unwrap() > 0);
        stream.write_all(response.as_bytes()).await.unwrap();
    });
    let mut raw = Raw::connect(address, "none").await;
    raw.head_without_key(request, "").await;
    raw.closed().await;
    service.await.unwrap();
    recorder.violations()
}

fn with_body(head: &str, body: &str) -> String {
    format!("{head}content-length: {}\r\n\r\n{body}", body.len())
}

#[tokio::test]
async fn a_response_as_documented_is_not_a_violation() {
    let response = with_body(LIST, r#"[{"id":1,"name":"Box","kind":3,"state":"sold"}]"#);
    assert_eq!(violations_of("GET /v1/things?limit=5", &response).await, [""; 0]);
}

#[tokio::test]
async fn responses_without_a_body_are_not_violations() {
    for (request, response) in [
        ("DELETE /v1/things/1", format!("{EMPTY}\r\n")),
        ("POST /v1/things", format!("{EMPTY}\r\n")),
        ("DELETE /v1/things/1", "HTTP/1.1 200 OK\r\nx-request-id: 1\r\ncontent-length: 0\r\n\r\n".to_owned()),
        ("GET /v1/things/1", format!("{}\r\n", EMPTY.replace("204", "304"))),
        ("HEAD /v1/things/1", format!("{}\r\n", EMPTY.replace("204", "304"))),
        ("GET /v1/ things", "HTTP/1.1 400 Bad Request\r\ncontent-length: 0\r\n\r\n".to_owned()),
        // A length that is no number, before a coding: hyper refuses it. The version of the request line becomes a value.
        (
            "HEAD /v1/things HTTP/1.1\r\ncontent-length: +5\r\ntransfer-encoding: chunked\r\nrest:",
            "HTTP/1.1 400 Bad Request\r\ncontent-length: 0\r\n\r\n".to_owned(),
        ),
    ] {
        assert_eq!(violations_of(request, &response).await, [""; 0], "{request}");
    }
}

#[tokio::test]
async fn bodies_may_be_framed_by_chunks_or_the_end_of_the_connection() {
    let chunks = format!("{LIST}transfer-encoding: chunked\r\n\r\n1\r\n[\r\n1\r\n]\r\n0\r\n\r\n");
    assert_eq!(violations_of("GET /v1/things", &chunks).await, [""; 0]);
    assert_eq!(violations_of("GET /v1/things", &format!("{LIST}\r\n[]")).await, [""; 0]);
}

/// Each test expects at least one violation, and this text in all of them.
macro_rules! found {
    ($($name:ident: $request:literal, $response:expr => $finding:literal;)*) => {$(
        #[tokio::test]
        async fn $name() {
            let violations = violations_of($request, &$response).await;
            let all_contain_it = violations.iter().all(|violation| violation.contains($finding));
            assert!(!violations.is_empty() && all_contain_it, "{violations:#?}");
        }
    )*};
}

const ERROR: &str = "x-request-id: 1\r\ncontent-type: application/json\r\n";

found! {
    an_undeclared_status_is_found: "GET /v1/things",
        with_body(&LIST.replace("200 OK", "202 Accepted"), "[]") => "does not declare this status";
    a_missing_header_is_found: "GET /v1/things",
        with_body(&LIST.replace("x-request-id: 1\r\n", ""), "[]") => "x-request-id is missing";
    an_undeclared_header_is_found: "GET /v1/things",
        with_body(&format!("{LIST}x-extra: 1\r\n"), "[]") => "x-extra is not declared";
    a_header_given_twice_is_found: "GET /v1/things",
        with_body(&format!("{LIST}x-request-id: 2\r\n"), "[]") => "x-request-id is present 2 times";
    a_header_that_does_not_fit_its_schema_is_found: "GET /v1/things",
        with_body(&format!("HTTP/1.1 503 Away\r\n{ERROR}retry-after: soon\r\n"),
            r#"{"code":"unavailable","message":"later","status":503}"#) => "retry-after does not match";
    a_header_below_its_minimum_is_found: "GET /v1/things",
        with_body(&format!("HTTP/1.1 503 Away\r\n{ERROR}retry-after: 0\r\n"),
            r#"{"code":"unavailable","message":"later","status":503}"#) => "retry-after does not match";
    another_content_type_is_found: "GET /v1/things",
        with_body(&LIST.replace("application/json", "text/plain"), "[]") => "is not declared";
    a_missing_content_type_is_found: "GET /v1/things",
        with_body(&LIST.replace("content-type: application/json\r\n", ""), "[]") => "one content-type";
    a_body_that_is_not_json_is_found: "GET /v1/things", with_body(LIST, "[") => "not JSON";
    a_missing_field_is_found: "GET /v1/things",
        with_body(LIST, r#"[{"id":1,"name":"Box"}]"#) => "kind";
    a_field_of_another_type_is_found: "GET /v1/things",
        with_body(LIST, r#"[{"id":"1","name":"Box","kind":3}]"#) => "/0/id";
    a_field_beyond_its_format_is_found: "GET /v1/things",
        with_body(LIST, r#"[{"id":9223372036854775808,"name":"Box","kind":3}]"#) => "/0/id";
    an_undocumented_field_is_found: "GET /v1/things",
        with_body(LIST, r#"[{"id":1,"name":"Box","kind":3,"colour":"red"}]"#) => "colour";
    a_field_that_is_null_is_found: "GET /v1/things",
        with_body(LIST, r#"[{"id":1,"name":"Box","kind":3,"state":null}]"#) => "/0/state";
    an_unknown_value_of_an_enum_is_found: "GET /v1/things",
        with_body(LIST, r#"[{"id":1,"name":"Box","kind":3,"state":"lost"}]"#) => "/0/state";
    a_name_that_is_too_long_is_found: "GET /v1/things",
        with_body(LIST, &format!(r#"[{{"id":1,"name":"{}","kind":3}}]"#, "é".repeat(256))) => "/0/name";
    a_page_that_is_too_long_is_found: "GET /v1/things",
        with_body(LIST, &format!("[{}]", [r#"{"id":1,"name":"R","kind":3}"#; 101].join(","))) => "100";
    an_error_of_another_status_is_found: "GET /v1/nothing",
        with_body(&format!("HTTP/1.1 404 Not Found\r\n{ERROR}"),
            r#"{"code":"not_found","message":"no","status":405}"#) => "Error.status is 405";
    an_unknown_error_code_is_found: "GET /v1/nothing",
        with_body(&format!("HTTP/1.1 404 Not Found\r\n{ERROR}"),
            r#"{"code":"missing","message":"no","status":404}"#) => "no code missing";
    an_unknown_path_with_status_200_is_found: "GET /v1/nothing",
        with_body(LIST, r#"{"code":"x","message":"","status":404}"#) => "the status must be 404";
    an_unknown_path_without_a_request_id_is_found: "GET /v1/nothing",
        with_body("HTTP/1.1 404 Not Found\r\ncontent-type: application/json\r\n",
            r#"{"code":"not_found","message":"no","status":404}"#) => "x-request-id must be present once";
    an_incomplete_allow_is_found: "PUT /v1/things",
        with_body(&format!("HTTP/1.1 405 No\r\n{ERROR}allow: GET, POST\r\n"),
            r#"{"code":"method_not_allowed","message":"no","status":405}"#) => "Allow is";
    an_allow_in_several_fields_is_found: "PUT /v1/things",
        with_body(&format!("HTTP/1.1 405 No\r\n{ERROR}allow: GET, HEAD\r\nallow: POST\r\n"),
            r#"{"code":"method_not_allowed","message":"no","status":405}"#) => "Allow is";
    a_head_without_a_length_is_found: "HEAD /v1/things", format!("{LIST}\r\n") => "a response to HEAD must";
    a_head_with_a_body_is_found: "HEAD /v1/things",
        with_body(LIST, "[]") => "malformed HTTP";
    a_secret_in_a_body_is_found: "GET /v1/things",
        with_body(LIST, r#"[{"id":1,"name":"ask_secret","kind":3}]"#) => "contains a secret";
    a_secret_in_a_header_is_found: "GET /v1/things",
        with_body(&LIST.replace("id: 1", "id: ask_secret"), "[]") => "contains a secret";
    an_incomplete_allow_for_an_unknown_method_is_found: "BREW /v1/things",
        with_body(&format!("HTTP/1.1 405 No\r\n{ERROR}allow: GET\r\n"),
            r#"{"code":"method_not_allowed","message":"no","status":405}"#) => "Allow is";
    a_path_that_is_not_utf_8_without_a_request_id_is_found: "GET /v1/%ff",
        with_body("HTTP/1.1 404 Not Found\r\ncontent-type: application/json\r\n",
            r#"{"code":"not_found","message":"no","status":404}"#) => "x-request-id must be present once";
    a_dot_segment_with_status_200_is_found: "GET /v1/./things",
        with_body(LIST, r#"{"code":"x","message":"","status":404}"#) => "the status must be 404";
    a_200_to_a_malformed_head_is_found: "GET http://user@animals/v1/things",
        with_body(LIST, r#"{"code":"x","message":"","status":404}"#) => "the status must be 400";
    an_empty_400_to_a_request_is_found: "GET /v1/things",
        with_body("HTTP/1.1 400 Bad Request\r\n", "") => "does not declare this status";
    an_empty_404_to_other_bytes_is_found: "GET /v1/ things",
        with_body("HTTP/1.1 404 Not Found\r\nx-request-id: 1\r\n", "") => "one content-type";
    an_incomplete_response_is_found: "GET /v1/things",
        format!("{LIST}content-length: 10\r\n\r\n[") => "within a response";
    deprecation_headers_that_are_missing_are_found: "GET /v1/things/1",
        with_body(LIST, r#"{"id":1,"name":"Box","kind":3}"#) => "deprecation is missing";
    content_with_204_is_found: "DELETE /v1/things/1",
        format!("{EMPTY}content-type: application/json\r\n\r\n") => "declares no content";
    a_length_with_204_is_found: "DELETE /v1/things/1",
        format!("{EMPTY}content-length: 0\r\n\r\n") => "204 has no content-length";
    a_body_after_204_is_found: "DELETE /v1/things/1", format!("{EMPTY}\r\n{{}}\r\n") => "malformed HTTP";
    a_body_that_no_content_describes_is_found: "DELETE /v1/things/1",
        with_body("HTTP/1.1 200 OK\r\nx-request-id: 1\r\n", "{}") => "declares no content";
}
