//! Stopping: what is in flight is finished, within bounds.

use std::time::Duration;

use animal_store::config::Config;
use serde_json::json;
use tokio::net::TcpStream;
use tokio::time::{self, Instant, timeout};

use crate::faulty::{Fault, Gate, Step};
use crate::service::{Service, id};

const BODY: &str = r#"{"name":"Rex","categoryId":1}"#;

/// The longest that stopping takes with the grace that is configured by default.
const BOUND: Duration = Duration::from_secs(10);
/// The longest that a stop may take that does not use up its grace; none does unless it fails.
const PATIENCE: Duration = Duration::from_secs(60);
/// A grace that no test can wait for.
const LONG: Duration = Duration::from_secs(3600);
/// A grace that is soon over.
const SHORT: Duration = Duration::from_millis(200);

fn fields() -> String {
    format!("Content-Type: application/json\r\nContent-Length: {}\r\n", BODY.len())
}

#[tokio::test]
async fn a_request_in_flight_is_finished() {
    let mut service = Service::start().await;
    let gate = Gate::closed();
    service.store.fail(Step::AddPet, Fault::Stall(gate.clone()));
    let mut raw = service.raw().await;
    raw.head("POST /v1/pets", &fields()).await.send(BODY).await;
    gate.arrival().await;
    let mut stop = std::pin::pin!(service.stop(LONG));
    // It has been told to stop, and has not stopped.
    assert!(futures::poll!(stop.as_mut()).is_pending());
    gate.open();
    let (stopped, pet) = tokio::join!(timeout(PATIENCE, stop), async { raw.response().await.expect(201) });
    stopped.expect("the stop waits for the request alone");
    assert_eq!(pet, json!({ "id": id(&pet), "name": "Rex", "categoryId": 1 }));
}

#[tokio::test]
async fn a_request_that_does_not_end_is_cancelled() {
    let mut service = Service::start().await;
    let gate = Gate::closed();
    service.store.fail(Step::Pets, Fault::Stall(gate.clone()));
    let mut raw = service.raw().await;
    raw.head("GET /v1/pets", "").await;
    gate.arrival().await;
    timeout(PATIENCE, service.stop(SHORT)).await.expect("the stop does not wait for the request");
    assert!(service.log.text().contains("cancelled requests"), "{}", service.log.text());
}

#[tokio::test]
async fn an_incomplete_request_does_not_delay_the_stop_beyond_the_grace() {
    let mut service = Service::start().await;
    let mut half_a_head = service.raw().await;
    half_a_head.send("GET /v1/pets HTTP/1.1\r\nHost:").await;
    let mut half_a_body = service.raw().await;
    half_a_body.head("POST /v1/pets", &fields()).await.send(&BODY[..5]).await;
    service.store.key_found().await;
    timeout(PATIENCE, service.stop(SHORT)).await.expect("the stop does not wait for the rest");
    assert!(service.log.text().contains("cancelled requests"), "{}", service.log.text());
}

#[tokio::test]
async fn the_stop_takes_at_most_ten_seconds() {
    let mut service = Service::start().await;
    let gate = Gate::closed();
    service.store.fail(Step::Pets, Fault::Stall(gate.clone()));
    let mut raw = service.raw().await;
    raw.head("GET /v1/pets", "").await;
    gate.arrival().await;
    // Whenever all wait, the clock goes on to the next timer: what passes is the sum of the limits.
    time::pause();
    let start = Instant::now();
    service.stop(Config::default().shutdown_grace).await;
    assert!(start.elapsed() <= BOUND, "{:?}", start.elapsed());
}

#[tokio::test]
async fn an_idle_connection_does_not_hold_up_the_stop() {
    let mut service = Service::start().await;
    let mut raw = service.raw().await;
    raw.head("GET /v1/pets", "").await;
    raw.response().await.expect(200);
    timeout(PATIENCE, service.stop(LONG)).await.expect("the stop does not wait for its grace");
    assert!(raw.ends().await);
}

#[tokio::test]
async fn after_the_stop_the_port_is_closed() {
    let mut service = Service::start().await;
    let address = service.server.as_ref().unwrap().address();
    service.stop(Duration::from_secs(5)).await;
    assert!(TcpStream::connect(address).await.is_err());
}

#[tokio::test]
async fn the_base_url_is_where_the_service_is() {
    let service = Service::start().await;
    let server = service.server.as_ref().unwrap();
    assert_eq!(server.base_url(), format!("http://{}/v1", server.address()));
}
