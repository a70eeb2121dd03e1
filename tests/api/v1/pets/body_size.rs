//! The size of the request body of `createPet`: at most 65,536 bytes.

use crate::service::Service;
use kit::clock::Clock;
use kit::recorder::wire::Response;

const MAX: usize = 65_536;
const JSON: &str = "Content-Type: application/json\r\n";

/// Returns the JSON of an animal, padded with spaces to `bytes` bytes.
fn animal(bytes: usize) -> String {
    let body = r#"{"name":"Rex","categoryId":1}"#;
    body.to_owned() + &" ".repeat(bytes - body.len())
}

fn chunked(body: &str) -> String {
    let mut chunks = String::new();
    for chunk in body.as_bytes().chunks(10_000) {
        let text = std::str::from_utf8(chunk).unwrap();
        chunks += &format!("{:x}\r\n{text}\r\n", chunk.len());
    }
    chunks + "0\r\n\r\n"
}

async fn send_chunked(service: &Service, bytes: usize) -> Response {
    let mut raw = service.raw().await;
    raw.head("POST /v1/pets", &format!("{JSON}Transfer-Encoding: chunked\r\n")).await;
    raw.send(chunked(&animal(bytes))).await;
    raw.response().await
}

#[tokio::test]
async fn a_body_of_65536_bytes_is_accepted() {
    let service = Service::start().await;
    service.post_text(animal(MAX)).await.expect(201);
}

#[tokio::test]
async fn a_body_of_65537_bytes_is_rejected() {
    let service = Service::start().await;
    let message = service.post_text(animal(MAX + 1)).await.expect_error(413, "body_too_large");
    assert_eq!(message, "the body must not exceed 65536 bytes");
}

#[tokio::test]
async fn a_body_of_65536_bytes_in_chunks_is_accepted() {
    let service = Service::start().await;
    send_chunked(&service, MAX).await.expect(201);
}

#[tokio::test]
async fn a_body_of_65537_bytes_in_chunks_is_rejected() {
    let service = Service::start().await;
    send_chunked(&service, MAX + 1).await.expect_error(413, "body_too_large");
}

#[tokio::test]
async fn a_body_may_arrive_byte_by_byte() {
    let service = Service::start().await;
    let mut raw = service.raw().await;
    let body = animal(40);
    raw.head("POST /v1/pets", &format!("{JSON}Content-Length: {}\r\n", body.len())).await;
    for byte in body.bytes() {
        raw.send([byte]).await;
    }
    raw.response().await.expect(201);
}

#[tokio::test]
async fn a_declared_length_that_is_too_large_is_rejected_without_waiting_for_the_body() {
    let service = Service::start().await;
    let mut raw = service.raw().await;
    raw.head("POST /v1/pets", &format!("{JSON}Content-Length: 65537\r\n")).await;
    raw.response().await.expect_error(413, "body_too_large");
}

#[tokio::test]
async fn the_response_to_a_body_of_a_megabyte_arrives() {
    // Without a stopped clock, the service may stop reading the rejected body before all of it was sent.
    let _clock = Clock::stopped();
    let service = Service::start().await;
    service.post_text(animal(1024 * 1024)).await.expect_error(413, "body_too_large");
}

#[tokio::test]
async fn the_response_to_a_megabyte_in_chunks_arrives() {
    // Without a stopped clock, the service may stop reading the rejected body before all of it was sent.
    let _clock = Clock::stopped();
    let service = Service::start().await;
    send_chunked(&service, 1024 * 1024).await.expect_error(413, "body_too_large");
}

#[tokio::test]
async fn reading_an_endless_body_stops() {
    let service = Service::start().await;
    let mut raw = service.raw().await;
    raw.head("POST /v1/pets", &format!("{JSON}Transfer-Encoding: chunked\r\n")).await;
    let chunk = format!("{:x}\r\n{}\r\n", MAX, " ".repeat(MAX));
    let mut sent = 0_usize;
    while raw.try_send(&chunk).await.is_ok() {
        sent += MAX;
        assert!(sent < 1024 * 1024 * 1024, "the service reads a rejected body without limit");
    }
}

#[tokio::test]
async fn expect_100_continue_with_a_too_large_length_gets_413() {
    let service = Service::start().await;
    let mut raw = service.raw().await;
    let fields = format!("{JSON}Content-Length: 65537\r\nExpect: 100-continue\r\n");
    raw.head("POST /v1/pets", &fields).await;
    raw.response().await.expect_error(413, "body_too_large");
}

#[tokio::test]
async fn expect_100_continue_gets_100() {
    let service = Service::start().await;
    let mut raw = service.raw().await;
    let body = animal(40);
    let fields = format!("{JSON}Content-Length: {}\r\nExpect: 100-continue\r\n", body.len());
    raw.head("POST /v1/pets", &fields).await;
    assert_eq!(raw.response().await.status, 100);
    raw.send(body).await;
    raw.response().await.expect(201);
}

#[tokio::test]
async fn the_connection_can_be_used_after_a_rejected_body_that_was_read() {
    let service = Service::start().await;
    let mut raw = service.raw().await;
    let body = animal(30) + "x";
    raw.head("POST /v1/pets", &format!("{JSON}Content-Length: {}\r\n", body.len())).await.send(body).await;
    raw.response().await.expect_error(400, "invalid_body");
    raw.head("GET /v1/pets", "").await;
    raw.response().await.expect(200);
}
