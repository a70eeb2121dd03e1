//! The recorder itself: that it finds what is wrong, in what passes through its tap.

use std::sync::{Arc, LazyLock};

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;

use crate::raw::Raw;
use crate::recorder::contract::Contract;
use crate::recorder::{Recorder, tap};

static THINGS: LazyLock<Contract> = LazyLock::new(|| Contract::new(include_str!("recorded.yaml")));

/// The head of a response without a body, without its end.
const EMPTY: &str = "HTTP/1.1 204 No Content\r\nx-request-id: 1\r\n";

const LIST: &str = "HTTP/1.1 200 OK\r\nx-request-id: 1\r\ncontent-type: application/json\r\n";

/// What the recorder says when a service answers `request` with `answer`.
async fn judged(request: &str, answer: &str) -> Vec<String> {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let recorder = Arc::new(Recorder::of(&THINGS));
    recorder.keep_secret("ask_secret");
    let address = tap::start(listener.local_addr().unwrap(), recorder.clone()).await.unwrap();
    let answer = answer.to_owned();
    let service = tokio::spawn(async move {
        let (mut stream, _) = listener.accept().await.unwrap();
        let mut bytes = [0; 1024];
        assert!(stream.read(&mut bytes).await.unwrap() > 0);
        stream.write_all(answer.as_bytes()).await.unwrap();
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
async fn what_the_document_allows_is_not_a_violation() {
    let answer = with_body(LIST, r#"[{"id":1,"name":"Box","kind":3,"state":"sold"}]"#);
    assert_eq!(judged("GET /v1/things?limit=5", &answer).await, [""; 0]);
}

#[tokio::test]
async fn responses_without_a_body_are_no_violation() {
    for (request, answer) in [
        ("DELETE /v1/things/1", format!("{EMPTY}\r\n")),
        ("POST /v1/things", format!("{EMPTY}\r\n")),
        ("DELETE /v1/things/1", "HTTP/1.1 200 OK\r\nx-request-id: 1\r\ncontent-length: 0\r\n\r\n".to_owned()),
        ("GET /v1/things/1", format!("{}\r\n", EMPTY.replace("204", "304"))),
        ("HEAD /v1/things/1", format!("{}\r\n", EMPTY.replace("204", "304"))),
    ] {
        assert_eq!(judged(request, &answer).await, [""; 0], "{request}");
    }
}

#[tokio::test]
async fn chunks_and_the_end_of_the_connection_frame_a_body_as_well() {
    let chunks = format!("{LIST}transfer-encoding: chunked\r\n\r\n1\r\n[\r\n1\r\n]\r\n0\r\n\r\n");
    assert_eq!(judged("GET /v1/things", &chunks).await, [""; 0]);
    assert_eq!(judged("GET /v1/things", &format!("{LIST}\r\n[]")).await, [""; 0]);
}

/// A test for each: there are violations, and all of them say this.
macro_rules! found {
    ($($name:ident: $request:literal, $answer:expr => $finding:literal;)*) => {$(
        #[tokio::test]
        async fn $name() {
            let violations = judged($request, &$answer).await;
            let all_say_it = violations.iter().all(|violation| violation.contains($finding));
            assert!(!violations.is_empty() && all_say_it, "{violations:#?}");
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
        with_body(&format!("{LIST}x-request-id: 2\r\n"), "[]") => "x-request-id is there 2 times";
    a_header_that_does_not_fit_its_schema_is_found: "GET /v1/things",
        with_body(&format!("HTTP/1.1 503 Away\r\n{ERROR}retry-after: soon\r\n"),
            r#"{"code":"unavailable","message":"later","status":503}"#) => "retry-after does not fit";
    a_header_below_its_minimum_is_found: "GET /v1/things",
        with_body(&format!("HTTP/1.1 503 Away\r\n{ERROR}retry-after: 0\r\n"),
            r#"{"code":"unavailable","message":"later","status":503}"#) => "retry-after does not fit";
    another_content_type_is_found: "GET /v1/things",
        with_body(&LIST.replace("application/json", "text/plain"), "[]") => "is not declared";
    a_missing_content_type_is_found: "GET /v1/things",
        with_body(&LIST.replace("content-type: application/json\r\n", ""), "[]") => "one content-type";
    a_body_that_is_no_json_is_found: "GET /v1/things", with_body(LIST, "[") => "not JSON";
    a_missing_field_is_found: "GET /v1/things",
        with_body(LIST, r#"[{"id":1,"name":"Box"}]"#) => "kind";
    a_field_of_another_type_is_found: "GET /v1/things",
        with_body(LIST, r#"[{"id":"1","name":"Box","kind":3}]"#) => "/0/id";
    a_field_beyond_its_format_is_found: "GET /v1/things",
        with_body(LIST, r#"[{"id":9223372036854775808,"name":"Box","kind":3}]"#) => "/0/id";
    a_field_nobody_described_is_found: "GET /v1/things",
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
    an_unknown_path_that_is_answered_is_found: "GET /v1/nothing",
        with_body(LIST, r#"{"code":"x","message":"","status":404}"#) => "the status must be 404";
    an_unknown_path_without_a_request_id_is_found: "GET /v1/nothing",
        with_body("HTTP/1.1 404 Not Found\r\ncontent-type: application/json\r\n",
            r#"{"code":"not_found","message":"no","status":404}"#) => "x-request-id must be there once";
    an_incomplete_allow_is_found: "PUT /v1/things",
        with_body(&format!("HTTP/1.1 405 No\r\n{ERROR}allow: GET, POST\r\n"),
            r#"{"code":"method_not_allowed","message":"no","status":405}"#) => "Allow is";
    an_allow_in_several_fields_is_found: "PUT /v1/things",
        with_body(&format!("HTTP/1.1 405 No\r\n{ERROR}allow: GET, HEAD\r\nallow: POST\r\n"),
            r#"{"code":"method_not_allowed","message":"no","status":405}"#) => "Allow is";
    a_head_without_a_length_is_found: "HEAD /v1/things", format!("{LIST}\r\n") => "HEAD has no body";
    a_head_with_a_body_is_found: "HEAD /v1/things",
        with_body(LIST, "[]") => "no HTTP";
    a_secret_in_a_body_is_found: "GET /v1/things",
        with_body(LIST, r#"[{"id":1,"name":"ask_secret","kind":3}]"#) => "holds a secret";
    a_secret_in_a_header_is_found: "GET /v1/things",
        with_body(&LIST.replace("id: 1", "id: ask_secret"), "[]") => "holds a secret";
    a_server_error_to_what_cannot_be_routed_is_found: "BREW /v1/things",
        with_body("HTTP/1.1 500 Oops\r\n", "") => "must be a client error";
    an_answer_that_is_cut_off_is_found: "GET /v1/things",
        format!("{LIST}content-length: 10\r\n\r\n[") => "amid an answer";
    deprecation_headers_that_are_missing_are_found: "GET /v1/things/1",
        with_body(LIST, r#"{"id":1,"name":"Box","kind":3}"#) => "deprecation is missing";
    content_with_204_is_found: "DELETE /v1/things/1",
        format!("{EMPTY}content-type: application/json\r\n\r\n") => "declares no content";
    a_length_with_204_is_found: "DELETE /v1/things/1",
        format!("{EMPTY}content-length: 0\r\n\r\n") => "204 has no content-length";
    a_body_after_204_is_found: "DELETE /v1/things/1", format!("{EMPTY}\r\n{{}}\r\n") => "no HTTP";
    a_body_that_no_content_describes_is_found: "DELETE /v1/things/1",
        with_body("HTTP/1.1 200 OK\r\nx-request-id: 1\r\n", "{}") => "declares no content";
}
