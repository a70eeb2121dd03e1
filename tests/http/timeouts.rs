//! Time limits: of a body that does not come, and of a store that does not answer.

use std::time::Duration;

use serde_json::json;

use crate::clock::Clock;
use crate::faulty::{Fault, Gate, Step};
use crate::raw::Raw;
use crate::recorder::wire::Response;
use crate::service::{Service, ids};

const JSON: &str = "Content-Type: application/json\r\n";
const BODY: &str = r#"{"name":"Rex","categoryId":1}"#;
/// The time limit of each step of a request.
const LIMIT: Duration = Duration::from_secs(10);
/// Less than the limit, and more when it passes twice.
const PART: Duration = Duration::from_secs(6);

/// A service with time limits that only `Clock` can reach.
async fn limited() -> (Clock, Service) {
    let clock = Clock::stopped();
    (clock, Service::setup().request_timeout(LIMIT).start().await)
}

/// Sends the head of a request and the beginning of its body. Returns when the service waits for the rest.
async fn begin(service: &Service, fields: &str, body: &str) -> Raw {
    let mut raw = service.raw().await;
    raw.head("POST /v1/pets", &format!("{JSON}{fields}\r\n")).await.send(body).await;
    service.store.key_found().await;
    raw
}

#[tokio::test]
async fn half_a_body_is_answered_and_the_connection_closed() {
    let (clock, service) = limited().await;
    let mut raw = begin(&service, &format!("Content-Length: {}", BODY.len()), &BODY[..10]).await;
    clock.advance(LIMIT).await;
    let answer = raw.response().await;
    let message = answer.refused(408, "request_timeout");
    assert_eq!(message, "the body did not arrive in time; send the request again");
    assert_eq!(answer.header("connection"), Some("close"));
    // For a while, the service reads what may still come.
    clock.advance(LIMIT).await;
    assert!(raw.ends().await);
}

#[tokio::test]
async fn a_body_that_never_begins_is_answered() {
    let (clock, service) = limited().await;
    let mut raw = begin(&service, "Content-Length: 30", "").await;
    clock.advance(LIMIT).await;
    raw.response().await.refused(408, "request_timeout");
}

#[tokio::test]
async fn half_a_chunk_is_answered() {
    let (clock, service) = limited().await;
    let mut raw = begin(&service, "Transfer-Encoding: chunked", "1d\r\n{\"name\"").await;
    clock.advance(LIMIT).await;
    raw.response().await.refused(408, "request_timeout");
}

#[tokio::test]
async fn a_body_that_trickles_forever_gets_a_response() {
    let (clock, service) = limited().await;
    let mut raw = begin(&service, "Content-Length: 60000", "").await;
    // Each byte comes long before the limit; all of them do not.
    for _ in 0..10 {
        raw.send(" ").await;
        clock.advance(LIMIT / 10).await;
    }
    raw.response().await.refused(408, "request_timeout");
}

#[tokio::test]
async fn a_truncated_body_adds_nothing() {
    let (clock, service) = limited().await;
    let mut raw = begin(&service, &format!("Content-Length: {}", BODY.len() + 1), BODY).await;
    clock.advance(LIMIT).await;
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

/// What a request is answered that waits at `gate` until its time is over.
async fn late(clock: &Clock, gate: &Gate, request: impl Future<Output = Response>) -> Response {
    let time = async {
        gate.arrival().await;
        clock.advance(LIMIT).await;
    };
    tokio::join!(request, time).0
}

macro_rules! stalls {
    ($($name:ident: $step:ident $target:literal)*) => {$(
        #[tokio::test]
        async fn $name() {
            let (clock, service) = limited().await;
            let gate = Gate::closed();
            service.store.fail(Step::$step, Fault::Stall(gate.clone()));
            let answer = late(&clock, &gate, service.get($target)).await;
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
    let (clock, service) = limited().await;
    let gate = Gate::closed();
    service.store.fail(Step::AddPet, Fault::Stall(gate.clone()));
    let answer = late(&clock, &gate, service.post(json!({ "name": "Rex", "categoryId": 1 }))).await;
    answer.refused(503, "unavailable");
    assert_eq!(answer.header("retry-after"), Some("1"));
}

#[tokio::test]
async fn the_connection_of_a_stalled_request_can_be_used_again() {
    let (clock, service) = limited().await;
    let mut raw = service.raw().await;
    let gate = Gate::closed();
    service.store.fail(Step::Pets, Fault::Stall(gate.clone()));
    raw.head("GET /v1/pets", "").await;
    late(&clock, &gate, raw.response()).await.refused(503, "unavailable");
    service.store.heal();
    raw.head("GET /v1/pets", "").await;
    raw.response().await.expect(200);
}

#[tokio::test]
async fn the_time_for_the_body_is_not_taken_from_the_time_for_the_store() {
    let (clock, service) = limited().await;
    let gate = Gate::closed();
    service.store.fail(Step::AddPet, Fault::Stall(gate.clone()));
    let mut raw = begin(&service, &format!("Content-Length: {}", BODY.len()), "").await;
    clock.advance(PART).await;
    raw.send(BODY).await;
    gate.arrival().await;
    clock.advance(PART).await;
    gate.open();
    let pet = raw.response().await.expect(201);
    assert_eq!(ids(&service.get("/v1/pets").await.expect(200)), [pet["id"].as_i64().unwrap()]);
}
