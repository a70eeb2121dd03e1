//! Requests that hyper rejects before the code of the service runs, and what it accepts although RFC 9112 forbids it.
//!
//! `xtask/dist/README.md` lists both under "Known limits". The tests notice a change.

use crate::service::Service;

#[tokio::test]
async fn hyper_rejects_what_is_not_a_request_and_closes_the_connection() {
    let service = Service::start().await;
    let length = |fields: &str| format!("POST /v1/pets HTTP/1.1\r\nHost: a\r\n{fields}\r\n");
    for (bytes, status) in [
        ("nonsense\r\n\r\n".to_owned(), 400),
        ("GET /v1/ pets HTTP/1.1\r\nHost: a\r\n\r\n".to_owned(), 400),
        ("GET /v1/pets HTTP/1.1\r\nHost\r\n\r\n".to_owned(), 400),
        (length("Content-Length: x\r\n"), 400),
        (length("Transfer-Encoding: chunked, gzip\r\n"), 400),
        (length("Content-Length: 5\r\nContent-Length: 6\r\n"), 400),
        (format!("GET /{} HTTP/1.1\r\nHost: a\r\n\r\n", "a".repeat(70_000)), 431),
        (format!("GET /v1/pets HTTP/1.1\r\nHost: a\r\n{}\r\n", "X-A: 1\r\n".repeat(200)), 431),
    ] {
        let mut raw = service.raw().await;
        raw.send(&bytes).await;
        let sent: String = bytes.chars().take(60).collect();
        assert_eq!(raw.response().await.status, status, "{sent}");
        raw.closed().await;
    }
}

#[tokio::test]
async fn hyper_accepts_more_than_rfc_9112() {
    let service = Service::start().await;
    let key = format!("Authorization: Bearer {}", service.key);
    let body = r#"{"name":"Rex","categoryId":3}"#;
    let post = |fields: &str, space: &str| {
        let json = "Content-Type: application/json\r\nTransfer-Encoding: chunked";
        let chunks = format!("{:x}{space}\r\n{body}\r\n0\r\n\r\n", body.len());
        format!("POST /v1/pets HTTP/1.1\r\nHost: a\r\n{key}\r\n{json}\r\n{fields}\r\n{chunks}")
    };
    for (request, status) in [
        (format!("GET /v1/pets HTTP/1.1\nHost: a\n{key}\n\n"), 200),
        (format!("\nGET /v1/pets HTTP/1.1\r\nHost: a\r\n{key}\r\n\r\n"), 200),
        (format!("GET /v1/pets#fragment HTTP/1.1\r\nHost: a\r\n{key}\r\n\r\n"), 200),
        (format!("GET /v1/pets HTTP/1.0\r\n{key}\r\n\r\n"), 200),
        (post("Content-Length: 5\r\n", ""), 201),
        (post("", " "), 201),
    ] {
        let mut raw = service.raw().await;
        raw.send(&request).await;
        assert_eq!(raw.response().await.status, status, "{request}");
    }
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
    assert!(raw.ends().await, "the bytes after the chunks were read as a request");
}
