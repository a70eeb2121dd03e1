//! Ten thousand malformed requests (a hundred thousand in the long run), each on its own connection.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use futures::future::join_all;
use serde_json::json;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::time::timeout;

use crate::hostile::forms::malformed;
use crate::row::{grouped, resident, row};
use kit::program::{Program, WorkDir};
use kit::recorder::{Exchange, Recorder};

const CLIENTS: usize = 32;
/// How long a client waits for more bytes before it closes its side of the connection.
const QUIET: Duration = Duration::from_millis(30);
const TIMEOUT: Duration = Duration::from_secs(60);
/// The number of memory samples in each half; their median is compared, since one sample varies too much.
const SAMPLES: u64 = 10;
/// The growth in KiB from the first half to the second that the allocator may cause.
const SLACK: usize = 16 * 1024;

/// Texts that no response and no log may contain: paths, SQL and panic messages.
const INTERNALS: [&str; 10] = [
    "animal-store.db",
    "/src/",
    ".rs:",
    ".cargo",
    "sqlite",
    "INSERT INTO",
    "SELECT ",
    "animal_by_status",
    "panicked",
    "stack backtrace",
];

#[derive(Default)]
struct Seen {
    statuses: BTreeMap<u16, usize>,
    unanswered: usize,
}

/// Sends a malformed request. Returns all bytes received.
async fn send(address: SocketAddr, bytes: &[u8]) -> Vec<u8> {
    let mut stream = TcpStream::connect(address).await.expect("the service accepts connections");
    let mut response = Vec::new();
    let (mut reading, mut writing) = stream.split();
    let talk = async {
        // Fails if the service rejects the request before it has read all of it.
        let _ = writing.write_all(bytes).await;
        let read = reading.read_to_end(&mut response);
        if timeout(QUIET, read).await.is_err() {
            let _ = writing.shutdown().await;
            let _ = reading.read_to_end(&mut response).await;
        }
    };
    timeout(TIMEOUT, talk).await.expect("the service ends the connection");
    response
}

/// Returns the statuses of the HTTP/1 responses in `bytes`.
fn statuses(bytes: &[u8]) -> Vec<u16> {
    let starts = bytes.windows(12).filter(|window| window.starts_with(b"HTTP/1.") && window[8] == b' ');
    starts.filter_map(|window| std::str::from_utf8(&window[9..]).ok()?.parse().ok()).collect()
}

fn contains(bytes: &[u8], text: &str) -> bool {
    bytes.windows(text.len()).any(|window| window == text.as_bytes())
}

/// Sends the malformed requests of these seeds, and checks the responses.
async fn send_all(numbers: std::ops::Range<u64>, address: SocketAddr, key: &str, seen: &Mutex<Seen>) {
    let recorder = &Arc::new(Recorder::default());
    let next = AtomicU64::new(numbers.start);
    let client = async || {
        loop {
            let number = next.fetch_add(1, Ordering::Relaxed);
            if number >= numbers.end {
                return;
            }
            let response = send(address, &malformed(number, key)).await;
            let mut exchange = Exchange::new(Arc::clone(recorder));
            exchange.sent(&malformed(number, key));
            exchange.received(&response);
            let found = recorder.violations();
            let sent = malformed(number, key);
            let sent = String::from_utf8_lossy(&sent[..sent.len().min(1000)]);
            assert!(found.is_empty(), "number {number}: {found:?} to {sent:?}");
            let statuses = statuses(&response);
            let text = || String::from_utf8_lossy(&response);
            assert!(statuses.iter().all(|status| *status < 500), "number {number}: {}", text());
            assert!(!contains(&response, key), "response to number {number} contains a key: {}", text());
            for internal in INTERNALS {
                assert!(
                    !contains(&response, internal),
                    "response to number {number} contains {internal}: {}",
                    text()
                );
            }
            let mut seen = seen.lock().unwrap();
            seen.unanswered += usize::from(statuses.is_empty());
            for status in statuses {
                *seen.statuses.entry(status).or_default() += 1;
            }
        }
    };
    join_all((0..CLIENTS).map(|_| client())).await;
}

/// Sends the requests in parts. Returns the median of the service's resident memory after each part, in KiB.
async fn half(numbers: std::ops::Range<u64>, service: &Program, key: &str, seen: &Mutex<Seen>) -> usize {
    let part = (numbers.end - numbers.start) / SAMPLES;
    let mut samples = Vec::new();
    for start in numbers.step_by(usize::try_from(part).unwrap()) {
        send_all(start..start + part, service.direct, key, seen).await;
        samples.push(resident(service.pid()));
    }
    samples.sort_unstable();
    samples[samples.len() / 2]
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn malformed_requests() {
    let count: u64 = if kit::is_long() { 100_000 } else { 4_000 };
    let directory = WorkDir::new();
    let key = directory.key().await;
    // The most verbose level, since the log must not contain internals either.
    let config = directory.write("store.toml", "[log]\nlevel = 'trace'\n");
    let service = directory.serve(&["--config", config.to_str().unwrap()]).await;
    service.post(&key, &json!({ "name": "Rex", "categoryId": 1 })).await.expect(201);
    let seen = Mutex::new(Seen::default());
    let before = half(0..count / 2, &service, &key, &seen).await;
    let after = half(count / 2..count, &service, &key, &seen).await;

    let pet = service.post(&key, &json!({ "name": "Rex", "categoryId": 1 })).await.expect(201);
    assert_eq!(service.get(&key, &format!("/v1/pets/{}", pet["id"])).await.expect(200), pet);
    let log = service.log();
    // The start record names the database.
    let (start, log) = log.split_once('\n').unwrap();
    assert!(start.contains(" ready "), "{start}");
    for internal in INTERNALS.iter().chain(&["CRIT", &*key]) {
        let line = log.lines().find(|line| line.contains(internal));
        assert_eq!(line, None, "the log contains {internal}");
    }
    assert!(after < before + SLACK, "{before} KiB in the first half, {after} KiB in the second");
    let seen = seen.into_inner().unwrap();
    let statuses: Vec<_> =
        seen.statuses.iter().map(|(status, count)| format!("{} {status}", grouped(*count))).collect();
    assert!(
        seen.statuses.len() > 6 && seen.unanswered < count as usize / 2,
        "too few different statuses; the requests do not vary enough: {statuses:?}, {} without",
        seen.unanswered
    );
    row(
        20,
        &format!("{} malformed requests", grouped(usize::try_from(count).unwrap())),
        &format!(
            "{}; {} connections closed without a response; 0 times 5xx; no key, path or SQL",
            statuses.join(", "),
            grouped(seen.unanswered)
        ),
        &format!(
            "valid requests are served; no panic; resident memory {:.1} MiB in the first half, {:.1} MiB \
             in the second",
            before as f64 / 1024.0,
            after as f64 / 1024.0
        ),
    );
    service.stop().await;
}
