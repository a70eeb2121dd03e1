//! The order of checks: path and method, the API key, the rate limit, the headers, the body.

use std::time::Duration;

use reqwest::Method;
use serde_json::json;

use crate::provocations::{method, target, wrong_method};
use crate::recorder::contract::Contract;
use crate::service::{Ask, Service};

const JSON: &str = "Content-Type: application/json\r\n";
const BAD: &str = "Authorization: Bearer nonsense\r\n";

/// A test for each: besides the bad key, something else is wrong, and only the key is judged.
macro_rules! the_key_comes_first {
    ($($name:ident: $line:literal, $fields:expr, $body:expr;)*) => {$(
        #[tokio::test]
        async fn $name() {
            let service = Service::start().await;
            let expected = service.get_with("nonsense", "/v1/pets").await;
            let mut raw = service.raw().await;
            let body: String = $body.into();
            let length = format!("Content-Length: {}\r\n", body.len());
            raw.head_without_key($line, &format!("{BAD}{length}{}", $fields)).await.send(body).await;
            let answer = raw.response().await;
            answer.refused(401, "unauthorized");
            assert_eq!(answer.json(), expected.json(), "a bad key learns something else");
        }
    )*};
}

the_key_comes_first! {
    a_bad_key_is_judged_before_the_limit: "GET /v1/pets?limit=0", "", "";
    a_bad_key_is_judged_before_the_status: "GET /v1/pets?status=lost", "", "";
    a_bad_key_is_judged_before_an_unknown_parameter: "GET /v1/pets?x=1", "", "";
    a_bad_key_is_judged_before_the_cursor: "GET /v1/pets?cursor=x", "", "";
    a_bad_key_is_judged_before_the_identifier: "GET /v1/pets/rex", "", "";
    a_bad_key_is_judged_before_the_fields: "POST /v1/pets", JSON, "{}";
    a_bad_key_is_judged_before_the_json: "POST /v1/pets", JSON, "{";
    a_bad_key_is_judged_before_the_content_type: "POST /v1/pets", "Content-Type: text/plain\r\n", "{}";
    a_bad_key_is_judged_before_the_size: "POST /v1/pets", JSON, " ".repeat(70_000);
}

#[tokio::test]
async fn a_bad_key_is_judged_first_by_every_operation() {
    let service = Service::start().await;
    for operation in &Contract::get().operations {
        // A wrong query and a wrong body as well.
        let target = format!("{}?unknown=1", target(operation));
        let request = service.anonymous(method(operation), &target).bearer_auth("nonsense");
        request.body("{").answer().await.refused(401, "unauthorized");
    }
}

#[tokio::test]
async fn a_bad_key_does_not_learn_which_animals_there_are() {
    let service = Service::start().await;
    service.add(1).await;
    let here = service.get_with("nonsense", "/v1/pets/1").await;
    let missing = service.get_with("nonsense", "/v1/pets/2").await;
    assert_eq!(here.refused(401, "unauthorized"), missing.refused(401, "unauthorized"));
    assert_eq!(here.body, missing.body);
}

#[tokio::test]
async fn a_bad_key_adds_nothing() {
    let service = Service::start().await;
    let request = service.anonymous(Method::POST, "/v1/pets").bearer_auth("nonsense");
    request.json(&json!({ "name": "Rex", "categoryId": 1 })).answer().await.refused(401, "unauthorized");
    assert_eq!(service.get("/v1/pets").await.expect(200), json!([]));
}

#[tokio::test]
async fn a_bad_key_is_answered_without_waiting_for_the_body() {
    let service = Service::start().await;
    let mut raw = service.raw().await;
    raw.head_without_key("POST /v1/pets", &format!("{BAD}{JSON}Content-Length: 30\r\n")).await;
    raw.response().await.refused(401, "unauthorized");
}

#[tokio::test]
async fn a_missing_key_is_answered_without_waiting_for_chunks() {
    let service = Service::start().await;
    let mut raw = service.raw().await;
    raw.head_without_key("POST /v1/pets", &format!("{JSON}Transfer-Encoding: chunked\r\n")).await;
    raw.response().await.refused(401, "unauthorized");
}

#[tokio::test]
async fn a_bad_key_is_not_asked_to_continue() {
    let service = Service::start().await;
    let mut raw = service.raw().await;
    let fields = format!("{BAD}{JSON}Content-Length: 30\r\nExpect: 100-continue\r\n");
    raw.head_without_key("POST /v1/pets", &fields).await;
    raw.response().await.refused(401, "unauthorized");
}

#[tokio::test]
async fn the_answer_to_a_bad_key_arrives_though_a_megabyte_is_under_way() {
    let service = Service::start().await;
    let request = service.anonymous(Method::POST, "/v1/pets").bearer_auth("nonsense");
    request.body("x".repeat(1024 * 1024)).answer().await.refused(401, "unauthorized");
}

#[tokio::test]
async fn a_body_after_its_response_is_drained_and_the_connection_stays_open() {
    let service = Service::start().await;
    let mut raw = service.raw().await;
    raw.head_without_key("POST /v1/pets", &format!("{BAD}{JSON}Content-Length: 30\r\n")).await;
    raw.response().await.refused(401, "unauthorized");
    raw.send("x".repeat(30)).await.head("GET /v1/pets", "").await;
    raw.response().await.expect(200);
}

#[tokio::test]
async fn draining_a_body_that_never_arrives_is_bounded_in_time() {
    let service = Service::start().await;
    let mut raw = service.raw().await;
    raw.head_without_key("POST /v1/pets", &format!("{BAD}{JSON}Content-Length: 30\r\n")).await;
    raw.response().await.refused(401, "unauthorized");
    assert!(raw.ends().await);
}

#[tokio::test]
async fn the_path_is_judged_before_the_key() {
    let service = Service::start().await;
    service.anonymous(Method::GET, "/v1/nothing").answer().await.refused(404, "not_found");
}

#[tokio::test]
async fn the_method_is_judged_before_the_key() {
    let service = Service::start().await;
    service.anonymous(wrong_method("/v1/pets"), "/v1/pets").answer().await.refused(405, "method_not_allowed");
}

#[tokio::test]
async fn the_rate_limit_is_judged_before_parameters_and_body() {
    let service = Service::setup().rate_limit(1, Duration::from_secs(3600)).start().await;
    service.get("/v1/pets?limit=0").await.refused(400, "invalid_parameter");
    service.get("/v1/pets?limit=0").await.refused(429, "rate_limited");
    service.post_text("{").await.refused(429, "rate_limited");
    service.get("/v1/pets/rex").await.refused(429, "rate_limited");
}

#[tokio::test]
async fn the_size_is_judged_before_the_json() {
    let service = Service::start().await;
    service.post_text("x".repeat(65_537)).await.refused(413, "body_too_large");
}
