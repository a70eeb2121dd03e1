//! The order of checks: path and method, API key, rate limit, headers, body.

use std::time::Duration;

use reqwest::Method;
use serde_json::json;

use crate::declared_statuses::{method, target};
use crate::service::{RequestExt, Service};
use kit::clock::Clock;
use kit::recorder::contract::Contract;

const JSON: &str = "Content-Type: application/json\r\n";
const WRONG_KEY: &str = "Authorization: Bearer nonsense\r\n";

/// Each request has a wrong key and another error. The response must only report the key.
#[tokio::test]
async fn a_wrong_key_is_reported_before_everything_else() {
    let service = Service::start().await;
    let expected = service.get_with("nonsense", "/v1/pets").await;
    let large = " ".repeat(70_000);
    for (line, fields, body) in [
        ("GET /v1/pets?limit=0", "", ""),
        ("GET /v1/pets?status=lost", "", ""),
        ("GET /v1/pets?x=1", "", ""),
        ("GET /v1/pets?cursor=x", "", ""),
        ("GET /v1/pets/rex", "", ""),
        ("POST /v1/pets", JSON, "{}"),
        ("POST /v1/pets", JSON, "{"),
        ("POST /v1/pets", "Content-Type: text/plain\r\n", "{}"),
        ("POST /v1/pets", JSON, &*large),
    ] {
        let mut raw = service.raw().await;
        let length = format!("Content-Length: {}\r\n", body.len());
        raw.head_without_key(line, &format!("{WRONG_KEY}{length}{fields}")).await.send(body).await;
        let response = raw.response().await;
        response.expect_error(401, "unauthorized");
        assert_eq!(response.json(), expected.json(), "{line}: the response depends on more than the key");
    }
}

#[tokio::test]
async fn every_operation_checks_the_key_first() {
    let service = Service::start().await;
    for operation in &Contract::get().operations {
        // The query and the body are wrong too.
        let target = format!("{}?unknown=1", target(operation));
        let request = service.anonymous(method(operation), &target).bearer_auth("nonsense");
        request.body("{").response().await.expect_error(401, "unauthorized");
    }
}

#[tokio::test]
async fn a_wrong_key_does_not_reveal_which_animals_exist() {
    let service = Service::start().await;
    service.add(1).await;
    let existing = service.get_with("nonsense", "/v1/pets/1").await;
    let missing = service.get_with("nonsense", "/v1/pets/2").await;
    assert_eq!(existing.expect_error(401, "unauthorized"), missing.expect_error(401, "unauthorized"));
    assert_eq!(existing.body, missing.body);
}

#[tokio::test]
async fn a_wrong_key_adds_nothing() {
    let service = Service::start().await;
    let request = service.anonymous(Method::POST, "/v1/pets").bearer_auth("nonsense");
    request
        .json(&json!({ "name": "Rex", "categoryId": 1 }))
        .response()
        .await
        .expect_error(401, "unauthorized");
    assert_eq!(service.get("/v1/pets").await.expect(200), json!([]));
}

#[tokio::test]
async fn a_wrong_key_is_rejected_before_the_body_arrives() {
    let service = Service::start().await;
    let mut raw = service.raw().await;
    raw.head_without_key("POST /v1/pets", &format!("{WRONG_KEY}{JSON}Content-Length: 30\r\n")).await;
    raw.response().await.expect_error(401, "unauthorized");
}

#[tokio::test]
async fn a_missing_key_is_rejected_before_chunks_arrive() {
    let service = Service::start().await;
    let mut raw = service.raw().await;
    raw.head_without_key("POST /v1/pets", &format!("{JSON}Transfer-Encoding: chunked\r\n")).await;
    raw.response().await.expect_error(401, "unauthorized");
}

#[tokio::test]
async fn a_wrong_key_gets_no_100_continue() {
    let service = Service::start().await;
    let mut raw = service.raw().await;
    let fields = format!("{WRONG_KEY}{JSON}Content-Length: 30\r\nExpect: 100-continue\r\n");
    raw.head_without_key("POST /v1/pets", &fields).await;
    let response = raw.response().await;
    response.expect_error(401, "unauthorized");
    // The client may send its body all the same.
    assert_eq!(response.header("connection"), Some("close"));
}

#[tokio::test]
async fn the_response_to_a_wrong_key_arrives_while_a_megabyte_is_sent() {
    let service = Service::start().await;
    let request = service.anonymous(Method::POST, "/v1/pets").bearer_auth("nonsense");
    request.body("x".repeat(1024 * 1024)).response().await.expect_error(401, "unauthorized");
}

#[tokio::test]
async fn a_body_after_its_response_is_drained_and_the_connection_stays_open() {
    // The service waits for the body for a limited time.
    let _clock = Clock::stopped();
    let service = Service::start().await;
    let mut raw = service.raw().await;
    raw.head_without_key("POST /v1/pets", &format!("{WRONG_KEY}{JSON}Content-Length: 30\r\n")).await;
    raw.response().await.expect_error(401, "unauthorized");
    raw.send("x".repeat(30)).await.head("GET /v1/pets", "").await;
    raw.response().await.expect(200);
}

#[tokio::test]
async fn a_connection_is_closed_if_the_body_does_not_arrive_after_its_response() {
    let service = Service::start().await;
    let mut raw = service.raw().await;
    raw.head_without_key("POST /v1/pets", &format!("{WRONG_KEY}{JSON}Content-Length: 30\r\n")).await;
    raw.response().await.expect_error(401, "unauthorized");
    assert!(raw.ends().await);
}

#[tokio::test]
async fn the_rate_limit_is_checked_before_parameters_and_body() {
    let service = Service::setup().rate_limit(1, Duration::from_secs(3600)).start().await;
    service.get("/v1/pets?limit=0").await.expect_error(400, "invalid_parameter");
    service.get("/v1/pets?limit=0").await.expect_error(429, "rate_limited");
    service.post_text("{").await.expect_error(429, "rate_limited");
    service.get("/v1/pets/rex").await.expect_error(429, "rate_limited");
}

#[tokio::test]
async fn the_size_is_checked_before_the_json() {
    let service = Service::start().await;
    service.post_text("x".repeat(65_537)).await.expect_error(413, "body_too_large");
}
