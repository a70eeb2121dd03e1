//! A hundred thousand malformed requests, each on a connection of its own.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use futures::future::join_all;
use serde_json::json;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::time::timeout;

use crate::forms::hostile;
use crate::program::{Place, Program};
use crate::row::{alone, grouped, long, resident, row};

const CLIENTS: usize = 32;
/// How long to listen before saying that nothing more will be sent.
const LISTEN: Duration = Duration::from_millis(30);
const PATIENCE: Duration = Duration::from_secs(60);
/// How many times memory is looked at in each half: what an allocator keeps at one moment says little.
const LOOKS: u64 = 10;
/// What the allocator may keep beyond what it had after as many requests before, in KiB.
const SLACK: usize = 16 * 1024;

/// What no answer and no log may hold: our files, our statements, our panics.
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
    silent: usize,
}

/// Sends hostile bytes and takes what comes back.
async fn send(address: SocketAddr, bytes: &[u8]) -> Vec<u8> {
    let mut stream = TcpStream::connect(address).await.expect("the service accepts connections");
    let mut answer = Vec::new();
    let (mut reading, mut writing) = stream.split();
    let talk = async {
        // It may have been refused before all of it was read.
        let _ = writing.write_all(bytes).await;
        let read = reading.read_to_end(&mut answer);
        if timeout(LISTEN, read).await.is_err() {
            let _ = writing.shutdown().await;
            let _ = reading.read_to_end(&mut answer).await;
        }
    };
    timeout(PATIENCE, talk).await.expect("the service ends the connection");
    answer
}

/// The statuses of the HTTP/1 answers in `bytes`.
fn statuses(bytes: &[u8]) -> Vec<u16> {
    let starts = bytes.windows(12).filter(|window| window.starts_with(b"HTTP/1.") && window[8] == b' ');
    starts.filter_map(|window| std::str::from_utf8(&window[9..]).ok()?.parse().ok()).collect()
}

fn holds(bytes: &[u8], words: &str) -> bool {
    bytes.windows(words.len()).any(|window| window == words.as_bytes())
}

/// Sends the hostile requests with these numbers, and judges the answers.
async fn storm(numbers: std::ops::Range<u64>, address: SocketAddr, key: &str, seen: &Mutex<Seen>) {
    let next = AtomicU64::new(numbers.start);
    let client = async || {
        loop {
            let number = next.fetch_add(1, Ordering::Relaxed);
            if number >= numbers.end {
                return;
            }
            let answer = send(address, &hostile(number, key)).await;
            let statuses = statuses(&answer);
            let text = || String::from_utf8_lossy(&answer);
            assert!(statuses.iter().all(|status| *status < 500), "number {number}: {}", text());
            assert!(!holds(&answer, key), "number {number} was told a key: {}", text());
            for internal in INTERNALS {
                assert!(!holds(&answer, internal), "number {number} was told {internal}: {}", text());
            }
            let mut seen = seen.lock().unwrap();
            seen.silent += usize::from(statuses.is_empty());
            for status in statuses {
                *seen.statuses.entry(status).or_default() += 1;
            }
        }
    };
    join_all((0..CLIENTS).map(|_| client())).await;
}

/// The same in parts, and the median of the resident memory of the service after each, in KiB.
async fn half(numbers: std::ops::Range<u64>, service: &Program, key: &str, seen: &Mutex<Seen>) -> usize {
    let part = (numbers.end - numbers.start) / LOOKS;
    let mut looks = Vec::new();
    for start in numbers.step_by(usize::try_from(part).unwrap()) {
        storm(start..start + part, service.direct, key, seen).await;
        looks.push(resident(service.pid()));
    }
    looks.sort_unstable();
    looks[looks.len() / 2]
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn malformed_requests() {
    let _turn = alone().await;
    let count: u64 = if long() { 100_000 } else { 10_000 };
    let place = Place::new();
    let key = place.key().await;
    // All that can be logged is.
    let config = place.write("store.toml", "[log]\nlevel = 'trace'\n");
    let service = place.serve(&["--config", config.to_str().unwrap()]).await;
    service.post(&key, &json!({ "name": "Rex", "categoryId": 1 })).await.expect(201);
    let seen = Mutex::new(Seen::default());
    let before = half(0..count / 2, &service, &key, &seen).await;
    let after = half(count / 2..count, &service, &key, &seen).await;

    let pet = service.post(&key, &json!({ "name": "Rex", "categoryId": 1 })).await.expect(201);
    assert_eq!(service.get(&key, &format!("/v1/pets/{}", pet["id"])).await.expect(200), pet);
    let log = service.log();
    for internal in INTERNALS.iter().chain(&["CRIT", &*key]) {
        let line = log.lines().find(|line| line.contains(internal));
        assert_eq!(line, None, "the log holds {internal}");
    }
    assert!(after < before + SLACK, "{before} KiB in the first half, {after} KiB in the second");
    let seen = seen.into_inner().unwrap();
    let statuses: Vec<_> =
        seen.statuses.iter().map(|(status, count)| format!("{} {status}", grouped(*count))).collect();
    assert!(seen.statuses.len() > 8, "the requests are not hostile enough: {statuses:?}");
    row(
        20,
        &format!("{} malformed requests", grouped(usize::try_from(count).unwrap())),
        &format!(
            "{}; {} connections closed without an answer; 0 5xx; no key, path or SQL",
            statuses.join(", "),
            grouped(seen.silent)
        ),
        &format!(
            "good requests are answered; no panic; resident memory {:.1} MiB in the first half, {:.1} MiB \
             in the second",
            before as f64 / 1024.0,
            after as f64 / 1024.0
        ),
    );
    service.stop().await;
}
