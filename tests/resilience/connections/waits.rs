//! Clients that a connection waits for: each wait has a time limit.

use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use crate::connections::clients::frames::{Connection, DATA, GOAWAY, get};
use crate::connections::clients::good::Trust;
use crate::connections::clients::hostile::{Kind, closed};
use crate::connections::service::{Service, in_time};

/// Checks that the service closes the connection of a client of this kind, because of this limit.
async fn is_closed(service: Service, kind: Kind, timeout: &str) {
    let connection = service.held(kind).await.unwrap();
    in_time("the end of the connection", closed(connection)).await;
    service.all_timed_out(timeout, 1).await;
    service.answers().await;
    service.stop().await;
}

macro_rules! is_closed {
    ($($name:ident: $start:ident $kind:expr => $timeout:literal;)*) => {$(
        #[tokio::test]
        async fn $name() {
            let limits = [(concat!($timeout, "_timeout"), "2s")];
            is_closed(Service::$start(&limits).await, $kind, $timeout).await;
        }
    )*};
}

is_closed! {
    a_client_that_sends_nothing: start Kind::Silent => "header";
    half_of_a_header: start Kind::HalfHeader => "header";
    a_header_without_end: start Kind::LongHeader => "header";
    a_client_that_sends_nothing_with_tls: start_tls Kind::Silent => "header";
    half_of_a_handshake: start_tls Kind::HalfHandshake => "header";
    a_handshake_without_a_request: start_tls Kind::Handshake { http2: false } => "header";
    a_handshake_without_the_preface_of_http2: start_tls Kind::Handshake { http2: true } => "header";
    half_of_the_preface_of_http2: start_tls Kind::HalfPreface => "header";
    only_the_preface_of_http2: start_tls Kind::Preface => "header";
    half_of_a_header_over_http2: start_tls Kind::HalfHeaderHttp2 => "header";
    an_idle_client: start Kind::IdleHttp1 => "idle";
    an_idle_client_over_http2_that_does_not_answer_ping: start_tls Kind::IdleHttp2 => "idle";
}

#[tokio::test]
async fn half_of_the_second_header() {
    let service = Service::start(&[("idle_timeout", "2s")]).await;
    let mut connection = service.held(Kind::IdleHttp1).await.unwrap();
    connection.write_all(b"GET /v1/pets HTTP/1.1\r\nHost: ani").await.unwrap();
    in_time("the end of the connection", closed(connection)).await;
    service.all_timed_out("idle", 1).await;
    service.stop().await;
}

#[tokio::test]
async fn a_header_that_arrives_byte_by_byte() {
    let service = Service::start(&[("header_timeout", "2s")]).await;
    let mut connection = TcpStream::connect(service.direct()).await.unwrap();
    connection.set_nodelay(true).unwrap();
    let (mut reader, mut writer) = connection.split();
    let endless = async {
        writer.write_all(b"GET /v1/pets HTTP/1.1\r\nHost: animals\r\nX-Long: ").await?;
        loop {
            writer.write_all(b"a").await?;
            // A request of another client in between, so that the bytes do not arrive together.
            service.metric("connections_open").await;
        }
    };
    let end = async { tokio::io::copy(&mut reader, &mut tokio::io::sink()).await };
    in_time("the end of the connection", async {
        tokio::select! {
            result = endless => { let _: std::io::Result<()> = result; }
            _ = end => {}
        }
    })
    .await;
    service.all_timed_out("header", 1).await;
    service.stop().await;
}

/// Sends a request, and reads until the client is told that the connection ends.
async fn is_told(service: &Service) {
    let mut client: Connection = service.frames(65_535).await;
    client.send(&get(1, "/v1/pets", &service.key)).await.unwrap();
    in_time("a response", client.find(|frame| frame.kind == DATA)).await.expect("a response");
    let goaway = in_time("GOAWAY", client.find(|frame| frame.kind == GOAWAY)).await.expect("GOAWAY");
    assert_eq!(goaway.payload[4..8], [0; 4], "an error: {goaway:?}");
    in_time("the end of the connection", client.last_error()).await;
}

#[tokio::test]
async fn an_idle_client_over_http2_is_told_before_the_end() {
    let service = Service::start_tls(&[("idle_timeout", "2s")]).await;
    is_told(&service).await;
    service.all_timed_out("idle", 1).await;
    service.stop().await;
}

/// A client that uses its connection all the time is told at half of the maximum age, and loses no request.
#[tokio::test]
async fn an_old_connection_ends_between_requests() {
    let service = Service::start_tls(&[("max_age", "1h")]).await;
    let mut client = service.connect(false).await;
    assert_eq!(client.get("/v1/pets").await.unwrap().0, 200);
    service.stop().await;

    let service = Service::start_tls(&[("max_age", "8s"), ("idle_timeout", "1h")]).await;
    is_told(&service).await;
    let mut connection = service.held(Kind::IdleHttp1).await.unwrap();
    let request =
        format!("GET /v1/pets/0 HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer {}\r\n\r\n", service.key);
    let mut last = String::new();
    in_time("a last response", async {
        while !last.contains("connection: close") {
            connection.write_all(request.as_bytes()).await.unwrap();
            connection.flush().await.unwrap();
            let mut bytes = [0; 4096];
            let count = connection.read(&mut bytes).await.unwrap();
            last = String::from_utf8_lossy(&bytes[..count]).into_owned();
            assert!(last.starts_with("HTTP/1.1 404 "), "the connection ended without notice: {last}");
        }
    })
    .await;
    in_time("the end of the connection", closed(connection)).await;
    service.all_timed_out("age", 0).await;
    service.stop().await;
}

/// An upload that does not end keeps no connection for longer than the maximum age.
#[tokio::test]
async fn a_connection_is_closed_at_its_maximum_age() {
    let service = Service::start_with(&[("max_age", "2s")], &[], |command| {
        command.env("ANIMAL_STORE_REQUEST_TIMEOUT", "1h");
    })
    .await;
    is_closed(service, Kind::OpenBody, "age").await;
}

#[tokio::test]
async fn a_client_that_uses_its_connection_keeps_it() {
    // A busy machine may delay a request by more than a second.
    let service = Service::start_tls(&[("idle_timeout", "5s")]).await;
    for http2 in [false, true] {
        let idle = service.held(Kind::IdleHttp1).await.unwrap();
        let mut idle = tokio::spawn(closed(idle));
        let mut client = service.connect(http2).await;
        let mut requests = 0;
        let mut pace = tokio::time::interval(Duration::from_millis(50));
        while !idle.is_finished() {
            pace.tick().await;
            assert_eq!(client.get("/v1/pets").await.unwrap().0, 200, "after {requests} requests");
            requests += 1;
        }
        in_time("the end of the idle connection", &mut idle).await.unwrap();
    }
    service.stop().await;
}

#[tokio::test]
async fn handshakes_that_fail_are_counted() {
    let service = Service::start_tls(&[]).await;
    let mut plain = TcpStream::connect(service.direct()).await.unwrap();
    plain.write_all(b"GET / HTTP/1.1\r\nHost: animals\r\n\r\n").await.unwrap();
    in_time("the end of the connection", closed(Box::new(plain))).await;
    let stream = TcpStream::connect(service.direct()).await.unwrap();
    Trust::nobody().unwrap().connect(stream, false).await.unwrap_err();
    service.wait_for_metric("tls_handshakes_failed_total", |failed| failed == 2).await;
    service.answers().await;
    service.all_timed_out("none", 0).await;
    service.stop().await;
}
