//! SIGTERM and SIGINT: what is in flight is finished, and the end comes within bounds.

use rustix::process::Signal;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use crate::program::{Place, Program};

const BODY: &str = r#"{"name":"Rex","categoryId":3}"#;

fn head(key: &str) -> String {
    format!(
        "POST /v1/pets HTTP/1.1\r\nHost: animals\r\nAuthorization: Bearer {key}\r\n\
         Content-Type: application/json\r\nContent-Length: {}\r\nConnection: close\r\n\r\n",
        BODY.len()
    )
}

async fn connect(service: &Program, bytes: &str) -> TcpStream {
    let mut stream = TcpStream::connect(service.address).await.unwrap();
    stream.write_all(bytes.as_bytes()).await.unwrap();
    stream
}

/// Runs the service with so much time to stop. How much it takes at the most is measured with a clock that the
/// test moves: `the_stop_takes_at_most_ten_seconds` in `../http/stopping.rs`.
async fn serve(place: &Place, grace: &str) -> Program {
    let config = place.write("store.toml", format!("shutdown_grace = '{grace}'\n"));
    place.serve(&["--config", config.to_str().unwrap()]).await
}

/// Waits until the service has read what was sent before: it answers what was sent after.
async fn settle(service: &Program, key: &str) {
    service.get(key, "/v1/pets").await.expect(200);
}

async fn stops(signal: Signal) {
    let place = Place::new();
    let key = place.key().await;
    // It ends long before, since it has nothing to wait for.
    let mut service = serve(&place, "1h").await;
    settle(&service, &key).await;
    service.signal(signal);
    assert_eq!(service.exit().await.0, Some(0));
    assert!(TcpStream::connect(service.direct).await.is_err());
}

#[tokio::test]
async fn sigterm_stops_the_service() {
    stops(Signal::TERM).await;
}

#[tokio::test]
async fn sigint_stops_the_service() {
    stops(Signal::INT).await;
}

#[tokio::test]
async fn a_request_in_flight_is_answered_before_the_end() {
    let place = Place::new();
    let key = place.key().await;
    let mut service = serve(&place, "1h").await;
    let mut stream = connect(&service, &(head(&key) + &BODY[..10])).await;
    settle(&service, &key).await;
    service.signal(Signal::TERM);
    service.logs("stopping").await;
    stream.write_all(&BODY.as_bytes()[10..]).await.unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).await.unwrap();
    assert!(answer.starts_with("HTTP/1.1 201 "), "{answer}");
    assert_eq!(service.exit().await.0, Some(0));

    let service = place.serve(&[]).await;
    assert_eq!(service.all(&key).await.len(), 1);
}

#[tokio::test]
async fn clients_that_are_stuck_do_not_hold_up_the_end() {
    let place = Place::new();
    let key = place.key().await;
    let mut service = serve(&place, "1s").await;
    let _nothing = connect(&service, "").await;
    let _half_a_head = connect(&service, "GET /v1/pets HTTP/1.1\r\nHost:").await;
    let _half_a_body = connect(&service, &(head(&key) + &BODY[..10])).await;
    settle(&service, &key).await;
    service.signal(Signal::TERM);
    assert_eq!(service.exit().await.0, Some(0));
}

#[tokio::test]
async fn a_client_that_reads_nothing_does_not_hold_up_the_end() {
    let place = Place::new();
    let key = place.key().await;
    let mut service = serve(&place, "1s").await;
    for _ in 0..100 {
        service
            .post(&key, &serde_json::json!({ "name": "r".repeat(255), "categoryId": 3 }))
            .await
            .expect(201);
    }
    // Straight to the service: a tap between would read what the client does not.
    let mut stream = TcpStream::connect(service.direct).await.unwrap();
    let request =
        format!("GET /v1/pets?limit=100 HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer {key}\r\n\r\n");
    let flood = tokio::spawn(async move { while stream.write_all(request.as_bytes()).await.is_ok() {} });
    settle(&service, &key).await;
    service.signal(Signal::TERM);
    assert_eq!(service.exit().await.0, Some(0));
    flood.await.unwrap();
}

#[tokio::test]
async fn a_second_signal_changes_nothing() {
    let place = Place::new();
    let key = place.key().await;
    let mut service = serve(&place, "1s").await;
    let _half_a_body = connect(&service, &(head(&key) + &BODY[..10])).await;
    settle(&service, &key).await;
    service.signal(Signal::TERM);
    service.logs("stopping").await;
    service.signal(Signal::INT);
    service.signal(Signal::TERM);
    assert_eq!(service.exit().await.0, Some(0));
}

#[tokio::test]
async fn writes_acknowledged_before_the_crash_survive_it() {
    let place = Place::new();
    let key = place.key().await;
    let mut service = place.serve(&[]).await;
    let added = service.add(&key, 20).await;
    service.signal(Signal::TERM);
    assert_eq!(service.exit().await.0, Some(0));
    let service = place.serve(&[]).await;
    let found: Vec<_> = service.all(&key).await.iter().map(|pet| pet["id"].as_i64().unwrap()).collect();
    assert_eq!(found, added);
}
