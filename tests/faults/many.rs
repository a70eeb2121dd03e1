//! Ten thousand open connections: what they cost.

use std::time::Instant;

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use crate::client::Client;
use crate::program::{Place, Program};
use crate::row::{alone, grouped, milliseconds, resident, row};
use crate::tools::required;

const WANTED: usize = 10_000;
/// Descriptors for everything that is no such connection.
const SPARE: usize = 100;

/// How many connections can be made: as many as wanted, or what the system allows.
pub fn possible(wanted: usize) -> usize {
    let limit = getrlimit(Resource::Nofile);
    setrlimit(Resource::Nofile, Rlimit { current: limit.maximum, ..limit }).unwrap();
    let most = limit.maximum.map_or(usize::MAX, |most| usize::try_from(most).unwrap_or(usize::MAX));
    let possible = wanted.min(most.saturating_sub(SPARE));
    assert!(possible == wanted || !required(), "raise the hard limit on open files, {most}: ulimit -Hn");
    possible
}

/// Waits until the service has taken in all of these connections, which it does in order.
pub async fn settled(service: &Program, key: &str) {
    let mut last = Client::connect(service.direct, key).await.unwrap();
    assert_eq!(last.get("/v1/pets").await.unwrap().status, 200);
}

/// Whether an answer comes, rather than the end of the connection.
async fn is_answered(stream: &mut TcpStream) -> bool {
    let mut bytes = [0; 4096];
    match stream.read(&mut bytes).await {
        Ok(0) | Err(_) => false,
        Ok(count) => {
            assert!(bytes[..count].starts_with(b"HTTP/1.1 200"), "{}", String::from_utf8_lossy(&bytes));
            true
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn ten_thousand_open_connections() {
    let _turn = alone().await;
    let count = possible(WANTED);
    let place = Place::new();
    let key = place.key().await;
    let service = place.serve(&[]).await;
    settled(&service, &key).await;
    let before = resident(service.pid());

    let mut silent = Vec::new();
    for _ in 0..count {
        silent.push(TcpStream::connect(service.direct).await.unwrap());
    }
    settled(&service, &key).await;
    let with_silent = resident(service.pid());
    let start = Instant::now();
    settled(&service, &key).await;
    let took = start.elapsed();

    // Each now has had an answer, and stays for the next request.
    let request = crate::client::get("/v1/pets", &key);
    for stream in &mut silent {
        // Fails, as the answer does, if the service has ended the connection.
        let _ = stream.write_all(request.as_bytes()).await;
    }
    let mut kept = Vec::new();
    for mut stream in silent {
        while !is_answered(&mut stream).await {
            // The service ends a connection on which nothing comes for half a minute. A busy machine may take
            // longer to get here.
            stream = TcpStream::connect(service.direct).await.unwrap();
            stream.write_all(request.as_bytes()).await.unwrap();
        }
        kept.push(stream);
    }
    let with_kept = resident(service.pid());
    drop(kept);
    settled(&service, &key).await;
    row(
        12,
        &format!("{} open connections", grouped(count)),
        &format!("one more is served: {}", milliseconds(took)),
        &format!(
            "resident memory {} MiB with none, {} MiB with all of them silent, {} MiB after each had an answer",
            before / 1024,
            with_silent / 1024,
            with_kept / 1024
        ),
    );
    service.stop().await;
}
