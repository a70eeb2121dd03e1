//! The size of the body that adds an animal: 65,536 bytes at the most.

use crate::clock::Clock;
use crate::recorder::wire::Response;
use crate::service::Service;

const MAX: usize = 65_536;
const JSON: &str = "Content-Type: application/json\r\n";

/// An animal in so many bytes, filled up with spaces.
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
async fn a_body_of_65537_bytes_is_refused() {
    let service = Service::start().await;
    let message = service.post_text(animal(MAX + 1)).await.refused(413, "body_too_large");
    assert_eq!(message, "the body must not exceed 65536 bytes");
}

#[tokio::test]
async fn a_body_of_65536_bytes_in_chunks_is_accepted() {
    let service = Service::start().await;
    send_chunked(&service, MAX).await.expect(201);
}

#[tokio::test]
async fn a_body_of_65537_bytes_in_chunks_is_refused() {
    let service = Service::start().await;
    send_chunked(&service, MAX + 1).await.refused(413, "body_too_large");
}

#[tokio::test]
async fn a_body_in_small_pieces_is_put_together() {
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
async fn a_declared_length_that_is_too_large_is_refused_without_waiting_for_the_body() {
    let service = Service::start().await;
    let mut raw = service.raw().await;
    raw.head("POST /v1/pets", &format!("{JSON}Content-Length: 65537\r\n")).await;
    raw.response().await.refused(413, "body_too_large");
}

#[tokio::test]
async fn the_answer_to_a_body_of_a_megabyte_arrives() {
    // The service gives up after a while on a body that it has refused.
    let _clock = Clock::stopped();
    let service = Service::start().await;
    service.post_text(animal(1024 * 1024)).await.refused(413, "body_too_large");
}

#[tokio::test]
async fn the_answer_to_a_megabyte_in_chunks_arrives() {
    // The service gives up after a while on a body that it has refused.
    let _clock = Clock::stopped();
    let service = Service::start().await;
    send_chunked(&service, 1024 * 1024).await.refused(413, "body_too_large");
}

#[tokio::test]
async fn a_body_without_end_is_cut_off() {
    let service = Service::start().await;
    let mut raw = service.raw().await;
    raw.head("POST /v1/pets", &format!("{JSON}Transfer-Encoding: chunked\r\n")).await;
    let chunk = format!("{:x}\r\n{}\r\n", MAX, " ".repeat(MAX));
    let mut sent = 0_usize;
    while raw.try_send(&chunk).await.is_ok() {
        sent += MAX;
        assert!(sent < 1024 * 1024 * 1024, "the service reads on for ever");
    }
}

#[tokio::test]
async fn a_client_that_waits_to_continue_is_refused_without_being_asked_for_its_body() {
    let service = Service::start().await;
    let mut raw = service.raw().await;
    let fields = format!("{JSON}Content-Length: 65537\r\nExpect: 100-continue\r\n");
    raw.head("POST /v1/pets", &fields).await;
    raw.response().await.refused(413, "body_too_large");
}

#[tokio::test]
async fn a_client_that_expects_100_continue_receives_it() {
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
async fn the_connection_can_be_used_again_after_a_body_that_was_refused_in_time() {
    let service = Service::start().await;
    let mut raw = service.raw().await;
    let body = animal(30) + "x";
    raw.head("POST /v1/pets", &format!("{JSON}Content-Length: {}\r\n", body.len())).await.send(body).await;
    raw.response().await.refused(400, "invalid_body");
    raw.head("GET /v1/pets", "").await;
    raw.response().await.expect(200);
}
