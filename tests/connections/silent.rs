//! Clients that send no complete request.

use tokio::io::AsyncWriteExt;
use tokio::net::TcpStream;

use crate::clients::frames::{HEADERS, frame, preface};
use crate::clients::hostile::{Kind, closed};
use crate::service::{Service, in_time};

const LIMITS: &[(&str, &str)] = &[("header_timeout", "5s")];

/// Checks that the service closes the connection of a client of this kind.
async fn is_closed(kind: Kind) {
    let service = Service::start(LIMITS).await;
    let connection = kind.connect(0, service.direct(), &service.key).await.unwrap();
    in_time("the end of the connection", closed(connection)).await;
    service.all_timed_out("header", 1).await;
    service.stop().await;
}

#[tokio::test]
async fn a_client_that_sends_nothing() {
    is_closed(Kind::Silent).await;
}

#[tokio::test]
async fn a_client_that_sends_half_of_the_preface_of_http2() {
    is_closed(Kind::HalfPreface).await;
}

#[tokio::test]
async fn a_client_that_sends_only_the_preface_of_http2() {
    is_closed(Kind::Preface).await;
}

#[tokio::test]
async fn a_client_that_sends_half_of_a_header() {
    is_closed(Kind::HalfHeader).await;
}

#[tokio::test]
async fn a_client_that_sends_half_of_its_second_header() {
    let service = Service::start(LIMITS).await;
    let mut connection = Kind::IdleHttp1.connect(0, service.direct(), &service.key).await.unwrap();
    connection.write_all(b"GET /v1/pets HTTP/1.1\r\nHost: ani").await.unwrap();
    in_time("the end of the connection", closed(connection)).await;
    service.all_timed_out("header", 1).await;
    service.stop().await;
}

#[tokio::test]
async fn a_client_that_sends_half_of_a_header_over_http2() {
    let service = Service::start(LIMITS).await;
    let mut connection = TcpStream::connect(service.direct()).await.unwrap();
    // Without END_HEADERS.
    let bytes = [preface(65_535), frame(HEADERS, 0, 1, &[0x82])].concat();
    connection.write_all(&bytes).await.unwrap();
    in_time("the end of the connection", closed(connection)).await;
    service.all_timed_out("header", 1).await;
    service.stop().await;
}

#[tokio::test]
async fn a_client_that_sends_its_header_byte_by_byte() {
    let service = Service::start(LIMITS).await;
    let mut connection = TcpStream::connect(service.direct()).await.unwrap();
    connection.set_nodelay(true).unwrap();
    let (mut reader, mut writer) = connection.split();
    // An endless header, which the limit on time ends first.
    let endless = async {
        writer.write_all(b"GET /v1/pets HTTP/1.1\r\nHost: animals\r\nX-Long: ").await?;
        loop {
            writer.write_all(b"a").await?;
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
