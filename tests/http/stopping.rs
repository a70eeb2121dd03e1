//! Stopping: what is in flight is finished, within bounds.

use std::time::{Duration, Instant};

use serde_json::json;
use tokio::net::TcpStream;

use crate::faulty::{Fault, Gate, Step};
use crate::service::{Service, id};

const BODY: &str = r#"{"name":"Rex","categoryId":1}"#;

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
    let mut stop = std::pin::pin!(service.stop(Duration::from_secs(15)));
    // It has been told to stop, and has not stopped.
    assert!(futures::poll!(stop.as_mut()).is_pending());
    gate.open();
    let ((), pet) = tokio::join!(stop, async { raw.response().await.expect(201) });
    assert_eq!(pet, json!({ "id": id(&pet), "name": "Rex", "categoryId": 1 }));
}

#[tokio::test]
async fn a_request_that_does_not_end_is_cut_off() {
    let mut service = Service::start().await;
    let gate = Gate::closed();
    service.store.fail(Step::Pets, Fault::Stall(gate.clone()));
    let mut raw = service.raw().await;
    raw.head("GET /v1/pets", "").await;
    gate.arrival().await;
    let start = Instant::now();
    service.stop(Duration::from_millis(200)).await;
    assert!(start.elapsed() < Duration::from_secs(5), "{:?}", start.elapsed());
}

#[tokio::test]
async fn half_a_request_does_not_hold_up_the_stop_beyond_its_grace() {
    let mut service = Service::start().await;
    let mut half_a_head = service.raw().await;
    half_a_head.send("GET /v1/pets HTTP/1.1\r\nHost:").await;
    let mut half_a_body = service.raw().await;
    half_a_body.head("POST /v1/pets", &fields()).await.send(&BODY[..5]).await;
    let start = Instant::now();
    service.stop(Duration::from_millis(200)).await;
    assert!(start.elapsed() < Duration::from_secs(5), "{:?}", start.elapsed());
}

#[tokio::test]
async fn an_idle_connection_does_not_hold_up_the_stop() {
    let mut service = Service::start().await;
    let mut raw = service.raw().await;
    raw.head("GET /v1/pets", "").await;
    raw.response().await.expect(200);
    let start = Instant::now();
    service.stop(Duration::from_secs(15)).await;
    assert!(start.elapsed() < Duration::from_secs(10), "{:?}", start.elapsed());
    assert!(raw.ends().await);
}

#[tokio::test]
async fn after_the_stop_nobody_listens() {
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
