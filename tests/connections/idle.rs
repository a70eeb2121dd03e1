//! Connections that stay open after a response.

use crate::clients::frames::{Connection, DATA, GOAWAY, get};
use crate::clients::hostile::{Kind, closed};
use crate::service::{Service, in_time};

const LIMITS: &[(&str, &str)] = &[("idle_timeout", "1s")];

async fn is_closed(kind: Kind) {
    let service = Service::start(LIMITS).await;
    let connection = kind.connect(0, service.direct(), &service.key).await.unwrap();
    in_time("the end of the connection", closed(connection)).await;
    service.all_timed_out("idle", 1).await;
    service.stop().await;
}

#[tokio::test]
async fn over_http1() {
    is_closed(Kind::IdleHttp1).await;
}

#[tokio::test]
async fn over_http2_without_an_answer_to_the_ping_before_the_end() {
    is_closed(Kind::IdleHttp2).await;
}

#[tokio::test]
async fn a_client_over_http2_is_told_before_the_end() {
    let service = Service::start(LIMITS).await;
    let mut client = Connection::open(service.direct(), 65_535).await.unwrap();
    client.send(&get(1, "/v1/pets", &service.key)).await.unwrap();
    let response = in_time("a response", client.find(|frame| frame.kind == DATA)).await;
    assert!(response.is_some());
    let goaway = in_time("GOAWAY", client.find(|frame| frame.kind == GOAWAY)).await.expect("GOAWAY");
    assert_eq!(goaway.payload[4..8], [0; 4], "an error: {goaway:?}");
    in_time("the end of the connection", client.last_error()).await;
    service.all_timed_out("idle", 1).await;
    service.stop().await;
}

#[tokio::test]
async fn a_client_that_uses_its_connection_keeps_it() {
    // A busy machine may delay a request by more than a second.
    let service = Service::start(&[("idle_timeout", "5s")]).await;
    for http2 in [false, true] {
        let idle = Kind::IdleHttp1.connect(0, service.direct(), &service.key).await.unwrap();
        let mut idle = tokio::spawn(closed(idle));
        let mut client = service.connect(http2).await;
        let mut requests = 0;
        while !idle.is_finished() {
            assert_eq!(client.get("/v1/pets").await.unwrap().0, 200, "after {requests} requests");
            requests += 1;
        }
        in_time("the end of the idle connection", &mut idle).await.unwrap();
    }
    service.stop().await;
}
