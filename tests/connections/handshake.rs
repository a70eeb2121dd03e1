//! Clients that do not complete the TLS handshake.

use tokio::io::AsyncWriteExt;
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;

use crate::clients::good::Trust;
use crate::clients::hostile::{Kind, closed};
use crate::service::{Service, in_time};

const LIMITS: &[(&str, &str)] = &[("handshake_timeout", "5s")];

async fn is_closed(kind: Kind) {
    let service = Service::start_tls(LIMITS).await;
    let connection = kind.connect(0, service.direct(), &service.key).await.unwrap();
    in_time("the end of the connection", closed(connection)).await;
    service.all_timed_out("handshake", 1).await;
    service.answers().await;
    service.stop().await;
}

#[tokio::test]
async fn a_client_that_sends_nothing() {
    is_closed(Kind::Silent).await;
}

#[tokio::test]
async fn a_client_that_stops_in_the_handshake() {
    is_closed(Kind::HalfHandshake).await;
}

#[tokio::test]
async fn a_client_that_sends_nothing_after_the_handshake() {
    let service = Service::start_tls(&[("header_timeout", "5s")]).await;
    for http2 in [false, true] {
        let stream = TcpStream::connect(service.direct()).await.unwrap();
        let trust = service.protocol(http2).tls.unwrap();
        let connector = TlsConnector::from(trust.config(http2));
        let mut tls = connector.connect("localhost".try_into().unwrap(), stream).await.unwrap();
        // The service may close the connection without the alert of TLS.
        let _ = in_time("the end of the connection", tokio::io::copy(&mut tls, &mut tokio::io::sink())).await;
    }
    service.all_timed_out("header", 2).await;
    service.stop().await;
}

#[tokio::test]
async fn handshakes_that_fail_are_counted() {
    let service = Service::start_tls(&[]).await;
    let mut plain = TcpStream::connect(service.direct()).await.unwrap();
    plain.write_all(b"GET / HTTP/1.1\r\nHost: animals\r\n\r\n").await.unwrap();
    in_time("the end of the connection", closed(plain)).await;
    let stream = TcpStream::connect(service.direct()).await.unwrap();
    let connector = TlsConnector::from(Trust::nobody().unwrap().config(false));
    connector.connect("localhost".try_into().unwrap(), stream).await.unwrap_err();
    service.wait_for_metric("tls_handshakes_failed_total", |failed| failed == 2).await;
    service.answers().await;
    service.all_timed_out("none", 0).await;
    service.stop().await;
}
