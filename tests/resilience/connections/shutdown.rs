//! SIGTERM: no request that the service has begun is lost, and the process ends in time.

use std::collections::HashSet;
use std::fs;
use std::time::{Duration, Instant};

use rustix::process::{Resource, Rlimit, Signal, getrlimit, prlimit};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;

use crate::connections::clients::frames::{
    ACK, DATA, END_HEADERS, END_STREAM, Frames, GOAWAY, HEADERS, PING, frame, get, get_headers, header_block,
    preface, stream,
};
use crate::connections::clients::hostile::Kind;
use crate::connections::service::{Service, in_time};

const BODY: &[u8] = br#"{"name":"Rex","categoryId":3}"#;

/// Returns the last stream that a GOAWAY frame names (RFC 9113, section 6.8).
fn last_stream(payload: &[u8]) -> u32 {
    u32::from_be_bytes(payload[..4].try_into().unwrap()) & (u32::MAX >> 1)
}

#[tokio::test]
async fn requests_in_progress_finish() {
    let mut service = Service::start_tls(&[]).await;
    let mut client = service.frames(65_535).await;
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
    let mut service = Service::start_tls(&[]).await;
    let mut client = service.frames(1 << 20).await;
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
    let mut service = Service::start_tls_with(&[], |command| {
        command.env("ANIMAL_STORE_SHUTDOWN_GRACE", "1s");
    })
    .await;
    let mut client = service.frames(65_535).await;
    client.send(&get(1, "/v1/pets", &service.key)).await.unwrap();
    assert!(in_time("a response", client.find(|frame| frame.stream == 1)).await.unwrap().is_ok());
    service.program.signal(Signal::TERM);
    assert_eq!(in_time("the exit", service.program.exit()).await.0, Some(0), "{}", service.program.log());
    assert!(in_time("GOAWAY", client.find(|frame| frame.kind == GOAWAY)).await.is_some());
}

/// A handshake that begins before SIGTERM and ends after it. The client is told, and its requests are answered.
#[tokio::test]
async fn a_connection_that_becomes_http2_after_sigterm_is_told() {
    let mut service = Service::start_tls(&[]).await;
    let trust = service.trust().expect("TLS").clone();
    let (near, mut far) = tokio::io::duplex(64 * 1024);
    let mut tcp = TcpStream::connect(service.direct()).await.unwrap();
    let connector = TlsConnector::from(trust.config(true));
    let client = tokio::spawn(connector.connect("localhost".try_into().unwrap(), near));
    // The first message of the client arrives; its last one does not yet.
    let mut hello = vec![0; 4096];
    let count = far.read(&mut hello).await.unwrap();
    tcp.write_all(&hello[..count]).await.unwrap();
    tcp.peek(&mut [0]).await.unwrap();

    service.program.signal(Signal::TERM);
    // The listener closes before connections are told.
    in_time("the end of the listener", async { while TcpStream::connect(service.direct()).await.is_ok() {} })
        .await;
    let pump = tokio::spawn(async move { tokio::io::copy_bidirectional(&mut tcp, &mut far).await });
    let mut tls = in_time("the handshake", client).await.unwrap().unwrap();
    let requests: Vec<u8> =
        (0..20).flat_map(|number| get(stream(number), "/v1/pets", &service.key)).collect();
    tls.write_all(&[preface(1 << 20), requests].concat()).await.unwrap();
    tls.flush().await.unwrap();
    let (mut frames, mut answered, mut told) = (Frames::default(), HashSet::new(), false);
    let mut bytes = vec![0; 4096];
    while let Ok(count @ 1..) = in_time("bytes", tls.read(&mut bytes)).await {
        for frame in frames.feed(&bytes[..count]) {
            match frame.kind {
                HEADERS => assert!(frame.is_ok() && answered.insert(frame.stream), "{frame:?}"),
                GOAWAY => told = true,
                PING if frame.flags & ACK == 0 => {
                    tls.write_all(&frame_ack(&frame.payload)).await.unwrap();
                    tls.flush().await.unwrap();
                }
                _ => {}
            }
        }
    }
    assert!(told, "GOAWAY is missing");
    assert_eq!(answered.len(), 20, "a request was lost");
    pump.abort();
    assert_eq!(in_time("the exit", service.program.exit()).await.0, Some(0), "{}", service.program.log());
}

/// Without file descriptors for new connections, with a handshake that hangs, half a head, and an idle client.
#[tokio::test]
async fn nothing_delays_the_exit_beyond_the_grace() {
    let mut service = Service::start_tls_with(&[("header_timeout", "1h")], |command| {
        command.env("ANIMAL_STORE_SHUTDOWN_GRACE", "3s");
    })
    .await;
    let mut held = Vec::new();
    for kind in [Kind::Silent, Kind::HalfHandshake, Kind::HalfHeader, Kind::IdleHttp1, Kind::IdleHttp2] {
        held.push(service.held(kind).await.unwrap());
    }
    let pid = service.program.pid();
    let used = fs::read_dir(format!("/proc/{}/fd", pid.as_raw_nonzero())).unwrap().count();
    let maximum = getrlimit(Resource::Nofile).maximum;
    prlimit(Some(pid), Resource::Nofile, Rlimit { current: Some(used as u64), maximum }).unwrap();
    let mut waiting = Vec::new();
    for _ in 0..20 {
        waiting.push(TcpStream::connect(service.direct()).await.unwrap());
    }
    service.program.wait_for_log("cannot accept connections").await;
    let start = Instant::now();
    service.program.signal(Signal::TERM);
    assert_eq!(in_time("the exit", service.program.exit()).await.0, Some(0), "{}", service.program.log());
    let took = start.elapsed();
    // The documented limit, and as much again for a busy machine; without a limit the exit took a minute.
    assert!(took < 2 * Duration::from_secs(3 + 2), "{took:?}");
    drop((held, waiting));
}
