//! Time limits: of a body that does not come, and of a store that does not answer.

use std::time::Duration;

use serde_json::json;

use crate::faulty::{Fault, Gate, Step};
use crate::service::{Service, ids};

const JSON: &str = "Content-Type: application/json\r\n";
const BODY: &str = r#"{"name":"Rex","categoryId":1}"#;

async fn hurried() -> Service {
    Service::setup().request_timeout(Duration::from_millis(100)).start().await
}

#[tokio::test]
async fn half_a_body_is_answered_and_the_connection_closed() {
    let service = hurried().await;
    let mut raw = service.raw().await;
    raw.head("POST /v1/pets", &format!("{JSON}Content-Length: {}\r\n", BODY.len())).await;
    raw.send(&BODY[..10]).await;
    let answer = raw.response().await;
    let message = answer.refused(408, "request_timeout");
    assert_eq!(message, "the body did not arrive in time; send it again");
    assert_eq!(answer.header("connection"), Some("close"));
    assert!(raw.ends().await);
}

#[tokio::test]
async fn a_body_that_never_begins_is_answered() {
    let service = hurried().await;
    let mut raw = service.raw().await;
    raw.head("POST /v1/pets", &format!("{JSON}Content-Length: 30\r\n")).await;
    raw.response().await.refused(408, "request_timeout");
}

#[tokio::test]
async fn half_a_chunk_is_answered() {
    let service = hurried().await;
    let mut raw = service.raw().await;
    raw.head("POST /v1/pets", &format!("{JSON}Transfer-Encoding: chunked\r\n")).await;
    raw.send("1d\r\n{\"name\"").await;
    raw.response().await.refused(408, "request_timeout");
}

#[tokio::test]
async fn a_body_that_comes_byte_by_byte_for_ever_is_answered() {
    let service = hurried().await;
    let mut raw = service.raw().await;
    raw.head("POST /v1/pets", &format!("{JSON}Content-Length: 60000\r\n")).await;
    // Each byte comes long before the limit; all of them do not.
    let mut tick = tokio::time::interval(Duration::from_millis(10));
    let answer = loop {
        tokio::select! {
            answer = raw.response() => break answer,
            _ = tick.tick() => {}
        }
        let _ = raw.try_send(" ").await;
    };
    answer.refused(408, "request_timeout");
}

#[tokio::test]
async fn what_came_in_half_is_not_added() {
    let service = hurried().await;
    let mut raw = service.raw().await;
    raw.head("POST /v1/pets", &format!("{JSON}Content-Length: {}\r\n", BODY.len() + 1)).await;
    raw.send(BODY).await;
    raw.response().await.refused(408, "request_timeout");
    assert_eq!(service.get("/v1/pets").await.expect(200), json!([]));
}

#[tokio::test]
async fn a_body_that_ends_too_early_is_not_added() {
    let service = Service::start().await;
    let mut raw = service.raw().await;
    raw.head("POST /v1/pets", &format!("{JSON}Content-Length: {}\r\n", BODY.len() + 1)).await;
    raw.send(BODY).await.finish().await;
    // Nobody may be there to read an answer; if one comes, the recorder judges it.
    raw.ends().await;
    assert_eq!(service.get("/v1/pets").await.expect(200), json!([]));
}

macro_rules! stalls {
    ($($name:ident: $step:ident $target:literal)*) => {$(
        #[tokio::test]
        async fn $name() {
            let service = hurried().await;
            service.store.fail(Step::$step, Fault::Stall(Gate::closed()));
            let answer = service.get($target).await;
            answer.refused(503, "unavailable");
            assert_eq!(answer.header("retry-after"), Some("1"));
        }
    )*};
}

stalls! {
    a_list_that_does_not_come_is_unavailable: Pets "/v1/pets"
    an_animal_that_does_not_come_is_unavailable: Pet "/v1/pets/1"
    a_key_that_is_not_found_in_time_is_unavailable: KeyByHash "/v1/pets"
}

#[tokio::test]
async fn an_insert_that_does_not_end_is_unavailable() {
    let service = hurried().await;
    service.store.fail(Step::AddPet, Fault::Stall(Gate::closed()));
    let answer = service.post(json!({ "name": "Rex", "categoryId": 1 })).await;
    answer.refused(503, "unavailable");
    assert_eq!(answer.header("retry-after"), Some("1"));
}

#[tokio::test]
async fn the_connection_of_a_stalled_request_can_be_used_again() {
    let service = hurried().await;
    let mut raw = service.raw().await;
    service.store.fail(Step::Pets, Fault::Stall(Gate::closed()));
    raw.head("GET /v1/pets", "").await;
    raw.response().await.refused(503, "unavailable");
    service.store.heal();
    raw.head("GET /v1/pets", "").await;
    raw.response().await.expect(200);
}

#[tokio::test]
async fn the_time_for_the_body_is_not_taken_from_the_time_for_the_store() {
    let service = Service::setup().request_timeout(Duration::from_millis(400)).start().await;
    let gate = Gate::closed();
    service.store.fail(Step::AddPet, Fault::Stall(gate.clone()));
    let mut raw = service.raw().await;
    raw.head("POST /v1/pets", &format!("{JSON}Content-Length: {}\r\n", BODY.len())).await;
    // Together these are more than one limit; each is less.
    tokio::time::sleep(Duration::from_millis(250)).await;
    raw.send(BODY).await;
    gate.arrival().await;
    tokio::time::sleep(Duration::from_millis(250)).await;
    gate.open();
    let pet = raw.response().await.expect(201);
    assert_eq!(ids(&service.get("/v1/pets").await.expect(200)), [pet["id"].as_i64().unwrap()]);
}
