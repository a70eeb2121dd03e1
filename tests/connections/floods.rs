//! Floods of frames over HTTP/2: the service ends the connection or needs no more memory, and answers others.

use crate::clients::frames::{
    ACK, CONTINUATION, Connection, DATA, END_HEADERS, END_STREAM, HEADERS, PING, SETTINGS, frame, get,
    get_headers, header_block, stream,
};
use crate::service::{Service, exclusive, in_time};

const WINDOW: u32 = 65_535;
/// How often a flood repeats its bytes, which are 100 frames.
const TIMES: usize = 2_000;
/// The maximum growth of the resident memory of the process, in KiB.
const MAX_GROWTH: usize = 32 * 1024;

/// How a flood ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum End {
    /// The service closed the connection.
    Closed,
    /// All was sent.
    Sent,
}

/// Sends `first`, then `bytes` repeatedly, and reads meanwhile.
async fn flood(first: &[u8], bytes: &[u8]) -> End {
    let _turn = exclusive().await;
    let service = Service::start(&[]).await;
    let mut good = service.connect(true).await;
    let before = service.memory("VmHWM");
    let mut client = Connection::open(service.direct(), WINDOW).await.unwrap();
    client.send(first).await.unwrap();
    let mut end = End::Sent;
    for _ in 0..TIMES {
        if in_time("the end of a write", client.send(bytes)).await.is_err() {
            end = End::Closed;
            break;
        }
        client.forget();
        assert_eq!(good.get("/v1/pets").await.unwrap().0, 200);
    }
    service.answers().await;
    let most = service.memory("VmHWM");
    assert!(most < before + MAX_GROWTH, "resident memory grows from {before} to {most} KiB");
    drop((client, good));
    service.wait_for_metric("connections_open", |open| open == 0).await;
    service.stop().await;
    end
}

/// Sends a flood of frames that are answered without a request: it costs no more than the budget of a connection.
async fn ends_the_connection(first: &[u8], bytes: &[u8]) {
    assert_eq!(flood(first, bytes).await, End::Closed);
}

#[tokio::test]
async fn of_continuation_frames_end_the_connection() {
    let first = frame(HEADERS, END_STREAM, 1, &[]);
    let more = frame(CONTINUATION, 0, 1, &header_block(&[("x-more", "a")]));
    assert_eq!(flood(&first, &more.repeat(100)).await, End::Closed);
}

#[tokio::test]
async fn of_settings() {
    ends_the_connection(&[], &frame(SETTINGS, 0, 0, &[0, 4, 0, 0, 255, 255]).repeat(100)).await;
}

#[tokio::test]
async fn of_acknowledgements_of_settings() {
    ends_the_connection(&[], &frame(SETTINGS, ACK, 0, &[]).repeat(100)).await;
}

#[tokio::test]
async fn of_pings() {
    ends_the_connection(&[], &frame(PING, 0, 0, b"flooding").repeat(100)).await;
}

#[tokio::test]
async fn of_empty_data_frames() {
    // The body of this request does not end.
    let headers = [(":method", "POST"), (":scheme", "http"), (":authority", "a"), (":path", "/v1/pets")];
    let first = frame(HEADERS, END_HEADERS, 1, &header_block(&headers));
    flood(&first, &frame(DATA, 0, 1, &[]).repeat(100)).await;
}

#[tokio::test]
async fn of_window_updates() {
    const WINDOW_UPDATE: u8 = 8;
    // The window of a connection must stay below 2^31.
    ends_the_connection(&[], &frame(WINDOW_UPDATE, 0, 0, &1_u32.to_be_bytes()).repeat(100)).await;
}

#[tokio::test]
async fn of_frames_of_unknown_types() {
    ends_the_connection(&[], &frame(0xfa, 0, 0, b"unknown").repeat(100)).await;
}

#[tokio::test]
async fn of_headers_that_refer_to_the_dynamic_table() {
    // Each entry of 4,000 bytes is used by an index of one byte (RFC 7541, section 6.1): 4 MB of headers.
    let value = "a".repeat(3_900);
    let mut first = header_block(&get_headers("/v1/pets", "none"));
    first.push(0x40);
    first.extend(&header_block(&[("x", &value)])[1..]);
    first.extend([0xbe; 1_000]);
    let _turn = exclusive().await;
    let service = Service::start(&[]).await;
    let before = service.memory("VmHWM");
    let mut client = Connection::open(service.direct(), WINDOW).await.unwrap();
    for number in 0..500 {
        let request = frame(HEADERS, END_STREAM | END_HEADERS, stream(number), &first);
        if in_time("the end of a write", client.send(&request)).await.is_err() {
            break;
        }
        client.forget();
    }
    service.answers().await;
    let most = service.memory("VmHWM");
    assert!(most < before + MAX_GROWTH, "resident memory grows from {before} to {most} KiB");
    drop(client);
    service.stop().await;
}

/// 3,000 frames, which are more than the budget of a new connection.
#[tokio::test]
async fn a_client_with_requests_may_send_other_frames() {
    let service = Service::start(&[]).await;
    let mut client = Connection::open(service.direct(), WINDOW).await.unwrap();
    let pings = frame(PING, 0, 0, b"are you?").repeat(15);
    for number in 0..200 {
        client.send(&[get(stream(number), "/v1/pets", &service.key), pings.clone()].concat()).await.unwrap();
        let response = in_time("a response", client.find(|frame| frame.kind == HEADERS)).await;
        assert!(response.is_some_and(|frame| frame.is_ok()));
    }
    assert_eq!(service.metric("connections_closed_total{reason=\"frames\"}").await, 0);
    drop(client);
    service.stop().await;
}
