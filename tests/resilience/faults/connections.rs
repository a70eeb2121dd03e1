//! Ten thousand open connections, and the memory that they take.

use std::time::Instant;

use kit::Need;
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use crate::row::{exclusive, grouped, milliseconds, resident, row};
use kit::client::Client;
use kit::program::{Program, WorkDir};

const WANTED: usize = 10_000;
/// Descriptors that the test process needs for other purposes.
const SPARE: usize = 100;

/// Returns the number of connections that can be opened: `wanted`, or what the limit on open files allows.
pub fn possible(wanted: usize) -> usize {
    let limit = getrlimit(Resource::Nofile);
    setrlimit(Resource::Nofile, Rlimit { current: limit.maximum, ..limit }).unwrap();
    let most = limit.maximum.map_or(usize::MAX, |most| usize::try_from(most).unwrap_or(usize::MAX));
    let possible = wanted.min(most.saturating_sub(SPARE));
    if possible < wanted {
        let reason = format!(
            "only {possible} of {wanted} connections: raise the hard limit on open files, {most} (ulimit -Hn)"
        );
        kit::skip(Need::Tool, &reason);
    }
    possible
}

/// Waits until the service has accepted all connections so far. It accepts them in order.
pub async fn all_accepted(service: &Program, key: &str) {
    let mut last = Client::connect(service.direct, key).await.unwrap();
    assert_eq!(last.get("/v1/pets").await.unwrap().status, 200);
}

/// Reads the response on a connection.
async fn gets_response(stream: &mut TcpStream) {
    let mut bytes = [0; 4096];
    let count = stream.read(&mut bytes).await.unwrap();
    assert!(bytes[..count].starts_with(b"HTTP/1.1 200"), "{}", String::from_utf8_lossy(&bytes));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn ten_thousand_open_connections() {
    let _turn = exclusive().await;
    let count = possible(WANTED);
    let directory = WorkDir::new();
    let key = directory.key().await;
    // The time limits would close connections while a busy machine opens others.
    let service = directory
        .serve_with(&[], |command| {
            command.env("ANIMAL_STORE_CONNECTIONS__MAX", (WANTED + SPARE).to_string());
            command.env("ANIMAL_STORE_REQUEST_TIMEOUT", "1h");
            command.env("ANIMAL_STORE_CONNECTIONS__HEADER_TIMEOUT", "1h");
            command.env("ANIMAL_STORE_CONNECTIONS__IDLE_TIMEOUT", "1h");
        })
        .await;
    all_accepted(&service, &key).await;
    let before = resident(service.pid());

    let mut idle = Vec::new();
    for _ in 0..count {
        idle.push(TcpStream::connect(service.direct).await.unwrap());
    }
    all_accepted(&service, &key).await;
    let with_idle = resident(service.pid());
    let start = Instant::now();
    all_accepted(&service, &key).await;
    let took = start.elapsed();

    // One request on each connection, which then stays open.
    let request = kit::client::get("/v1/pets", &key);
    for stream in &mut idle {
        stream.write_all(request.as_bytes()).await.unwrap();
    }
    let mut kept = Vec::new();
    for mut stream in idle {
        gets_response(&mut stream).await;
        kept.push(stream);
    }
    let with_kept = resident(service.pid());
    drop(kept);
    all_accepted(&service, &key).await;
    row(
        12,
        &format!("{} open connections", grouped(count)),
        &format!("one more is served, in {}", milliseconds(took)),
        &format!(
            "resident memory {} MiB with none, {} MiB with all of them idle, {} MiB after one response on each",
            before / 1024,
            with_idle / 1024,
            with_kept / 1024
        ),
    );
    service.stop().await;
}
