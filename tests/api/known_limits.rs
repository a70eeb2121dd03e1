//! Requests that hyper rejects before the code of the service runs.
//!
//! The bodies of these responses do not follow the `Error` schema, which is a known limit. The tests ensure that a
//! change is noticed, and that none of these requests causes a server error or reaches an operation.

use crate::service::Service;

/// Each test sends the bytes unchanged and checks the status.
macro_rules! rejected {
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

rejected! {
    bytes_that_are_not_http_are_rejected: "nonsense\r\n\r\n" => 400;
    a_target_with_a_space_is_rejected: "GET /v1/ pets HTTP/1.1\r\nHost: a\r\n\r\n" => 400;
    a_header_without_a_colon_is_rejected: "GET /v1/pets HTTP/1.1\r\nHost\r\n\r\n" => 400;
    a_content_length_that_is_not_a_number_is_rejected:
        "POST /v1/pets HTTP/1.1\r\nHost: a\r\nContent-Length: x\r\n\r\n" => 400;
    two_content_lengths_are_rejected:
        "POST /v1/pets HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\n" => 400;
    a_target_of_70000_characters_is_rejected:
        format!("GET /{} HTTP/1.1\r\nHost: a\r\n\r\n", "a".repeat(70_000)) => 431;
    too_many_headers_are_rejected:
        format!("GET /v1/pets HTTP/1.1\r\nHost: a\r\n{}\r\n", "X-A: 1\r\n".repeat(200)) => 431;
}

#[tokio::test]
async fn the_connection_is_closed_after_bytes_that_are_not_http() {
    let service = Service::start().await;
    let mut raw = service.raw().await;
    raw.send("nonsense\r\n\r\n").await;
    assert_eq!(raw.response().await.status, 400);
    assert!(raw.ends().await);
}

#[tokio::test]
async fn a_request_smuggled_by_a_length_beside_chunks_gets_no_response() {
    let service = Service::start().await;
    let mut raw = service.raw().await;
    let smuggled = "GET /v1/pets HTTP/1.1\r\nHost: a\r\n\r\n";
    let fields = "Content-Type: application/json\r\nTransfer-Encoding: chunked\r\nContent-Length: 4\r\n";
    raw.head("POST /v1/pets", fields).await.send(format!("2\r\n{{}}\r\n0\r\n\r\n{smuggled}")).await;
    // Transfer-Encoding overrides Content-Length (RFC 9112, section 6.3), and the connection must be closed.
    raw.response().await.expect_error(400, "invalid_body");
    if !raw.ends().await {
        panic!("the bytes after the chunks were read as a request");
    }
}
