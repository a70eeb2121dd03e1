//! Time limits for reading a body and for the store.

use std::time::Duration;

use serde_json::json;

use crate::failing_store::{Fault, Gate, Step};
use crate::raw::Raw;
use crate::service::Service;
use kit::clock::Clock;
use kit::recorder::wire::Response;

const JSON: &str = "Content-Type: application/json\r\n";
const BODY: &str = r#"{"name":"Rex","categoryId":1}"#;
/// The time limit of each step of a request.
const LIMIT: Duration = Duration::from_secs(10);
/// Less than the limit; twice this is more.
const PART: Duration = Duration::from_secs(6);

/// Starts a service whose time limits pass only when the clock is advanced.
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
async fn an_incomplete_body_gets_408_and_the_connection_is_closed() {
    let (clock, service) = limited().await;
    let mut raw = begin(&service, &format!("Content-Length: {}", BODY.len()), &BODY[..10]).await;
    clock.advance(LIMIT).await;
    let response = raw.response().await;
    let message = response.expect_error(408, "request_timeout");
    assert_eq!(message, "the body did not arrive in time; send the request again");
    assert_eq!(response.header("connection"), Some("close"));
    // The service reads and discards the rest of the body for some time.
    clock.advance(LIMIT).await;
    assert!(raw.ends().await);
}

#[tokio::test]
async fn a_body_that_never_begins_gets_408() {
    let (clock, service) = limited().await;
    let mut raw = begin(&service, "Content-Length: 30", "").await;
    clock.advance(LIMIT).await;
    raw.response().await.expect_error(408, "request_timeout");
}

#[tokio::test]
async fn an_incomplete_chunk_gets_408() {
    let (clock, service) = limited().await;
    let mut raw = begin(&service, "Transfer-Encoding: chunked", "1d\r\n{\"name\"").await;
    clock.advance(LIMIT).await;
    raw.response().await.expect_error(408, "request_timeout");
}

#[tokio::test]
async fn a_body_that_arrives_too_slowly_gets_408() {
    let (clock, service) = limited().await;
    let mut raw = begin(&service, "Content-Length: 60000", "").await;
    // The limit applies to the whole body, not to each byte.
    for _ in 0..10 {
        raw.send(" ").await;
        clock.advance(LIMIT / 10).await;
    }
    raw.response().await.expect_error(408, "request_timeout");
}

#[tokio::test]
async fn an_incomplete_body_adds_nothing() {
    let (clock, service) = limited().await;
    let mut raw = begin(&service, &format!("Content-Length: {}", BODY.len() + 1), BODY).await;
    clock.advance(LIMIT).await;
    raw.response().await.expect_error(408, "request_timeout");
    assert_eq!(service.get("/v1/pets").await.expect(200), json!([]));
}

#[tokio::test]
async fn a_body_shorter_than_its_length_adds_nothing() {
    let service = Service::start().await;
    let mut raw = service.raw().await;
    raw.head("POST /v1/pets", &format!("{JSON}Content-Length: {}\r\n", BODY.len() + 1)).await;
    raw.send(BODY).await.finish().await;
    // The service may or may not send a response; the recorder checks it if there is one.
    raw.ends().await;
    assert_eq!(service.get("/v1/pets").await.expect(200), json!([]));
}

/// Returns the response to a request that waits at `gate` until its time limit has passed.
async fn timed_out(clock: &Clock, gate: &Gate, request: impl Future<Output = Response>) -> Response {
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
            let response = timed_out(&clock, &gate, service.get($target)).await;
            response.expect_error(503, "unavailable");
            assert_eq!(response.header("retry-after"), Some("1"));
        }
    )*};
}

stalls! {
    a_stalled_list_is_unavailable: Pets "/v1/pets"
    a_stalled_fetch_is_unavailable: Read "/v1/pets/1"
    a_stalled_key_lookup_is_unavailable: KeyByHash "/v1/pets"
}

#[tokio::test]
async fn a_stalled_insert_is_unavailable() {
    let (clock, service) = limited().await;
    let gate = Gate::closed();
    service.store.fail(Step::Write, Fault::Stall(gate.clone()));
    let response = timed_out(&clock, &gate, service.post(json!({ "name": "Rex", "categoryId": 1 }))).await;
    response.expect_error(503, "unavailable");
    assert_eq!(response.header("retry-after"), Some("1"));
}

#[tokio::test]
async fn the_connection_of_a_stalled_request_can_be_used_again() {
    let (clock, service) = limited().await;
    let mut raw = service.raw().await;
    let gate = Gate::closed();
    service.store.fail(Step::Pets, Fault::Stall(gate.clone()));
    raw.head("GET /v1/pets", "").await;
    timed_out(&clock, &gate, raw.response()).await.expect_error(503, "unavailable");
    service.store.recover();
    raw.head("GET /v1/pets", "").await;
    raw.response().await.expect(200);
}

#[tokio::test]
async fn body_and_store_share_one_time_limit() {
    let (clock, service) = limited().await;
    let gate = Gate::closed();
    service.store.fail(Step::Write, Fault::Stall(gate.clone()));
    let mut raw = begin(&service, &format!("Content-Length: {}", BODY.len()), "").await;
    clock.advance(PART).await;
    raw.send(BODY).await;
    gate.arrival().await;
    clock.advance(PART).await;
    raw.response().await.expect_error(503, "unavailable");
}
