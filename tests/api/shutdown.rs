//! Graceful shutdown: requests in progress finish within time limits.

use std::time::Duration;

use animal_store::config::{Config, Flags};
use serde_json::json;
use tokio::net::TcpStream;
use tokio::time::{self, Instant, timeout};

use crate::failing_store::{Fault, Gate, Step};
use crate::service::{Service, id};

const BODY: &str = r#"{"name":"Rex","categoryId":1}"#;

/// The documented upper limit of a shutdown with the default grace period.
const BOUND: Duration = Duration::from_secs(10);
/// The time limit of a shutdown that must end before its grace period does.
const TIMEOUT: Duration = Duration::from_secs(60);
/// A grace period longer than any test.
const LONG: Duration = Duration::from_secs(3600);
/// A grace period that is over soon.
const SHORT: Duration = Duration::from_millis(200);

fn fields() -> String {
    format!("Content-Type: application/json\r\nContent-Length: {}\r\n", BODY.len())
}

#[tokio::test]
async fn a_request_in_progress_is_finished() {
    let mut service = Service::start().await;
    let gate = Gate::closed();
    service.store.fail(Step::Write, Fault::Stall(gate.clone()));
    let mut raw = service.raw().await;
    raw.head("POST /v1/pets", &fields()).await.send(BODY).await;
    gate.arrival().await;
    let mut stop = std::pin::pin!(service.stop(LONG));
    // The shutdown has begun and waits.
    assert!(futures::poll!(stop.as_mut()).is_pending());
    gate.open();
    let (stopped, pet) = tokio::join!(timeout(TIMEOUT, stop), async { raw.response().await.expect(201) });
    stopped.expect("the shutdown ends when the request has ended");
    assert_eq!(pet, json!({ "id": id(&pet), "name": "Rex", "categoryId": 1 }));
}

#[tokio::test]
async fn a_request_that_does_not_end_is_aborted() {
    let mut service = Service::start().await;
    let gate = Gate::closed();
    service.store.fail(Step::Pets, Fault::Stall(gate.clone()));
    let mut raw = service.raw().await;
    raw.head("GET /v1/pets", "").await;
    gate.arrival().await;
    timeout(TIMEOUT, service.stop(SHORT)).await.expect("the shutdown ends after the grace period");
    assert!(service.log.text().contains("cancelled requests"), "{}", service.log.text());
}

#[tokio::test]
async fn an_incomplete_request_does_not_delay_the_shutdown_beyond_the_grace_period() {
    let mut service = Service::start().await;
    let mut incomplete_head = service.raw().await;
    incomplete_head.send("GET /v1/pets HTTP/1.1\r\nHost:").await;
    let mut incomplete_body = service.raw().await;
    incomplete_body.head("POST /v1/pets", &fields()).await.send(&BODY[..5]).await;
    service.store.key_found().await;
    timeout(TIMEOUT, service.stop(SHORT)).await.expect("the shutdown ends after the grace period");
    assert!(service.log.text().contains("cancelled requests"), "{}", service.log.text());
}

#[tokio::test]
async fn a_shutdown_takes_ten_seconds_at_most() {
    let mut service = Service::start().await;
    let gate = Gate::closed();
    service.store.fail(Step::Pets, Fault::Stall(gate.clone()));
    let mut raw = service.raw().await;
    raw.head("GET /v1/pets", "").await;
    gate.arrival().await;
    // While all tasks are idle, the clock advances to the next timer, so the elapsed time is the sum of the limits.
    time::pause();
    let start = Instant::now();
    service.stop(Config::load(&Flags::default()).unwrap().shutdown_grace).await;
    assert!(start.elapsed() <= BOUND, "{:?}", start.elapsed());
}

#[tokio::test]
async fn an_idle_connection_does_not_delay_the_shutdown() {
    let mut service = Service::start().await;
    let mut raw = service.raw().await;
    raw.head("GET /v1/pets", "").await;
    raw.response().await.expect(200);
    timeout(TIMEOUT, service.stop(LONG)).await.expect("the shutdown ends before the grace period");
    assert!(raw.ends().await);
}

#[tokio::test]
async fn after_the_shutdown_connections_are_refused() {
    let mut service = Service::start().await;
    let address = service.server.as_ref().unwrap().address;
    service.stop(Duration::from_secs(5)).await;
    assert!(TcpStream::connect(address).await.is_err());
}

#[tokio::test]
async fn the_base_url_has_the_address_of_the_server() {
    let service = Service::start().await;
    let server = service.server.as_ref().unwrap();
    assert_eq!(server.base_url(), format!("http://{}/v1", server.address));
}
