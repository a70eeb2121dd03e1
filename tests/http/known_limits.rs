//! What is refused before the service sees it, by hyper or by dropshot's own lookup.
//!
//! These answers may have a body of their own; that is a known limit. They are asserted so that a change
//! is noticed, and so that none of them is ever a server error or reaches an operation.

use crate::service::Service;

/// A test for each: the bytes are sent as they are and answered with this status.
macro_rules! refused {
    ($($name:ident: $bytes:expr => $status:literal;)*) => {$(
        #[tokio::test]
        async fn $name() {
            let service = Service::start().await;
            let mut raw = service.raw().await;
            let bytes: String = $bytes.into();
            raw.send(bytes.replace("KEY", &service.key)).await;
            assert_eq!(raw.response().await.status, $status);
        }
    )*};
}

refused! {
    what_is_no_http_is_refused: "nonsense\r\n\r\n" => 400;
    a_target_with_a_space_is_refused: "GET /v1/ pets HTTP/1.1\r\nHost: a\r\n\r\n" => 400;
    a_header_without_a_colon_is_refused: "GET /v1/pets HTTP/1.1\r\nHost\r\n\r\n" => 400;
    a_content_length_that_is_no_number_is_refused:
        "POST /v1/pets HTTP/1.1\r\nHost: a\r\nContent-Length: x\r\n\r\n" => 400;
    two_content_lengths_are_refused:
        "POST /v1/pets HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\n" => 400;
    a_target_of_70000_characters_is_refused:
        format!("GET /{} HTTP/1.1\r\nHost: a\r\n\r\n", "a".repeat(70_000)) => 414;
    too_many_headers_are_refused:
        format!("GET /v1/pets HTTP/1.1\r\nHost: a\r\n{}\r\n", "X-A: 1\r\n".repeat(200)) => 431;
    percent_encoding_that_is_no_utf_8_is_refused:
        "GET /v1/pets/%ff HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer KEY\r\n\r\n" => 400;
    a_dot_segment_is_refused:
        "GET /v1/./pets HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer KEY\r\n\r\n" => 400;
    two_dots_are_refused:
        "GET /v1/x/../pets HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer KEY\r\n\r\n" => 400;
    a_method_in_no_standard_is_refused:
        "BREW /v1/pets HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer KEY\r\n\r\n" => 405;
    connect_is_refused:
        "CONNECT /v1/pets HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer KEY\r\n\r\n" => 405;
}

#[tokio::test]
async fn the_connection_is_closed_after_invalid_http() {
    let service = Service::start().await;
    let mut raw = service.raw().await;
    raw.send("nonsense\r\n\r\n").await;
    assert_eq!(raw.response().await.status, 400);
    assert!(raw.ends().await);
}

#[tokio::test]
async fn a_request_smuggled_behind_a_length_and_chunks_is_not_answered() {
    let service = Service::start().await;
    let mut raw = service.raw().await;
    let smuggled = "GET /v1/pets HTTP/1.1\r\nHost: a\r\n\r\n";
    let fields = "Content-Type: application/json\r\nTransfer-Encoding: chunked\r\nContent-Length: 4\r\n";
    raw.head("POST /v1/pets", fields).await.send(format!("2\r\n{{}}\r\n0\r\n\r\n{smuggled}")).await;
    // The chunks hold (RFC 9112, section 6.3), so what follows is a request of its own, or the end.
    raw.response().await.refused(400, "invalid_body");
    if !raw.ends().await {
        panic!("what stands behind the chunks was answered on a connection that cannot be trusted");
    }
}
