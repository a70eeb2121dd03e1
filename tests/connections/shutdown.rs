//! SIGTERM while clients use HTTP/2: no request that the service has begun is lost.

use std::collections::HashSet;
use std::time::{Duration, Instant};

use rustix::process::Signal;

use crate::clients::frames::{
    ACK, Connection, DATA, END_HEADERS, END_STREAM, GOAWAY, HEADERS, PING, frame, get, get_headers,
    header_block, stream,
};
use crate::service::{Service, in_time};

const BODY: &[u8] = br#"{"name":"Rex","categoryId":3}"#;

/// Returns the last stream that a GOAWAY frame names (RFC 9113, section 6.8).
fn last_stream(payload: &[u8]) -> u32 {
    u32::from_be_bytes(payload[..4].try_into().unwrap()) & (u32::MAX >> 1)
}

#[tokio::test]
async fn requests_in_progress_finish() {
    let mut service = Service::start(&[]).await;
    let mut client = Connection::open(service.direct(), 65_535).await.unwrap();
    let authorization = format!("Bearer {}", service.key);
    let mut headers = get_headers("/v1/pets", &authorization);
    headers[0].1 = "POST";
    headers.push(("content-type", "application/json"));
    client.send(&frame(HEADERS, END_HEADERS, 1, &header_block(&headers))).await.unwrap();
    client.send(&frame(DATA, 0, 1, &BODY[..10])).await.unwrap();
    // The first request is in progress when there is a response to this one.
    client.send(&get(3, "/v1/pets", &service.key)).await.unwrap();
    assert!(in_time("a response", client.find(|frame| frame.stream == 3)).await.unwrap().is_ok());

    service.program.signal(Signal::TERM);
    let first = in_time("GOAWAY", client.find(|frame| frame.kind == GOAWAY)).await.unwrap();
    assert_eq!(first.payload[4..8], [0; 4], "an error");
    // The client learns which of its requests were processed after it has answered PING.
    let ping = in_time("PING", client.find(|frame| frame.kind == PING)).await.unwrap();
    client.send(&frame(PING, ACK, 0, &ping.payload)).await.unwrap();
    let last = in_time("the last GOAWAY", client.find(|frame| frame.kind == GOAWAY)).await.unwrap();
    assert_eq!(last_stream(&last.payload), 3);
    // It does not begin a request on a new stream, and finishes the one in progress.
    client.send(&get(5, "/v1/pets", &service.key)).await.unwrap();
    client.send(&frame(DATA, END_STREAM, 1, &BODY[10..])).await.unwrap();
    let mut streams = Vec::new();
    while let Some(frame) = in_time("the end of the connection", client.next()).await {
        if matches!(frame.kind, HEADERS | DATA) {
            streams.push((frame.stream, frame.payload));
        }
    }
    assert!(streams.iter().all(|(stream, _)| *stream == 1), "{streams:?}");
    let (_, body) = streams.last().expect("a response");
    assert!(body.starts_with(b"{\"id\":1,"), "{}", String::from_utf8_lossy(body));
    assert_eq!(in_time("the exit", service.program.exit()).await.0, Some(0), "{}", service.program.log());
}

/// A client sends requests without pause. Each that the last GOAWAY frame includes has a response.
#[tokio::test]
async fn every_request_that_goaway_includes_has_a_response() {
    let mut service = Service::start(&[]).await;
    let mut client = Connection::open(service.direct(), 1 << 20).await.unwrap();
    let (mut sent, mut answered, mut last, mut signalled) = (0, HashSet::new(), None, false);
    let (mut seen, mut longest) = (Instant::now(), Duration::ZERO);
    loop {
        // Twenty requests in progress. The connection may end before the next one is sent.
        while sent < answered.len() + 20 {
            if client.send(&get(stream(sent), "/v1/pets", &service.key)).await.is_err() {
                break;
            }
            sent += 1;
        }
        if answered.len() > 200 && !signalled {
            service.program.signal(Signal::TERM);
            signalled = true;
        }
        let frame = in_time("a frame", client.next()).await;
        longest = longest.max(seen.elapsed());
        seen = Instant::now();
        let Some(frame) = frame else { break };
        match frame.kind {
            HEADERS => {
                assert!(frame.is_ok(), "{frame:?}");
                answered.insert(frame.stream);
            }
            GOAWAY => {
                assert_eq!(frame.payload[4..8], [0; 4], "an error: {frame:?}");
                last = Some(last_stream(&frame.payload));
            }
            PING if frame.flags & ACK == 0 => {
                let _ = client.send(&frame_ack(&frame.payload)).await;
            }
            _ => {}
        }
        if last.is_some_and(|last| last != u32::MAX >> 1 && stream(answered.len() - 1) >= last) {
            break;
        }
    }
    let last = last.expect("GOAWAY");
    // The service waits for one second until a client confirms the first GOAWAY frame.
    let was_told = last != u32::MAX >> 1;
    assert!(was_told || longest > Duration::from_millis(700), "the last GOAWAY frame is missing");
    let included = (0..sent).map(stream).filter(|stream| was_told && *stream <= last);
    let lost: Vec<_> = included.filter(|stream| !answered.contains(stream)).collect();
    assert!(lost.is_empty(), "no response to {lost:?} of {sent}, the last of which is {last}");
    assert_eq!(in_time("the exit", service.program.exit()).await.0, Some(0), "{}", service.program.log());
}

/// Returns the answer to PING.
fn frame_ack(payload: &[u8]) -> Vec<u8> {
    frame(PING, ACK, 0, payload)
}

/// A client that answers nothing delays the end by no more than `shutdown_grace`, and is no error.
#[tokio::test]
async fn a_client_that_does_not_answer_does_not_prevent_the_exit() {
    let mut service = Service::start_with(&[], &[], |command| {
        command.env("ANIMAL_STORE_SHUTDOWN_GRACE", "1s");
    })
    .await;
    let mut client = Connection::open(service.direct(), 65_535).await.unwrap();
    client.send(&get(1, "/v1/pets", &service.key)).await.unwrap();
    assert!(in_time("a response", client.find(|frame| frame.stream == 1)).await.unwrap().is_ok());
    service.program.signal(Signal::TERM);
    assert_eq!(in_time("the exit", service.program.exit()).await.0, Some(0), "{}", service.program.log());
    assert!(in_time("GOAWAY", client.find(|frame| frame.kind == GOAWAY)).await.is_some());
}
