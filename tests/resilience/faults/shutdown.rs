//! Graceful shutdown under load, with idle connections and an incomplete request.

use std::collections::BTreeMap;
use std::io::ErrorKind;
use std::net::SocketAddr;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use futures::future::join_all;
use rustix::process::Signal;

use crate::row::{grouped, measured, row};
use kit::client::{Client, post_head};
use kit::ledger::Ledger;
use kit::program::WorkDir;

/// The documented upper limit of a shutdown: delay, grace and two seconds.
const BOUND: Duration = Duration::from_secs(11);

const WRITERS: usize = 8;
/// The number of clients that open a connection for each request.
const RECONNECTING_CLIENTS: usize = 4;
/// The service accepted a connection and closed it without a response.
const DROPPED: &str = "closed without a response";
/// The kernel closed a connection that the service had not accepted.
const RESET: &str = "reset";

/// Opens a connection for each request until a connection is refused. Counts outcomes after SIGTERM.
async fn reconnect(
    address: SocketAddr,
    key: &str,
    stopping: &AtomicBool,
    outcomes: &Mutex<BTreeMap<&str, usize>>,
) {
    loop {
        let is_stopping = stopping.load(Ordering::Relaxed);
        let outcome = match Client::connect(address, key).await {
            Err(_) => "refused",
            Ok(mut client) => match client.get("/v1/pets").await {
                Ok(response) if response.status == 200 => "served",
                Ok(response) => panic!("{}", response.status),
                Err(error) if error.kind() == ErrorKind::UnexpectedEof => DROPPED,
                Err(_) => RESET,
            },
        };
        if is_stopping {
            *outcomes.lock().unwrap().entry(outcome).or_default() += 1;
        }
        if outcome == "refused" {
            return;
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn sigterm_under_load_with_incomplete_requests() {
    let (rounds, grace) = if kit::is_long() { (20, "8s") } else { (2, "2s") };
    let (mut slowest, mut acknowledged) = (Duration::ZERO, 0);
    let (mut outcomes, mut ends) = (BTreeMap::new(), BTreeMap::<String, usize>::new());
    for _ in 0..rounds {
        let directory = WorkDir::new();
        let key = directory.key().await;
        // The delay lets clients connect after SIGTERM.
        let config = format!("shutdown_grace = '{grace}'\nshutdown_delay = '1s'\n");
        let config = directory.write("store.toml", config);
        let mut service = directory.serve(&["--config", config.to_str().unwrap()]).await;
        let ledger = Ledger::default();
        let mut incomplete = Client::connect(service.direct, &key).await.unwrap();
        incomplete.send(&(post_head(&key, 29) + r#"{"name":"#)).await.unwrap();
        let _idle = Client::connect(service.direct, &key).await.unwrap();
        let (address, stopping) = (service.direct, AtomicBool::new(false));
        let seen = Mutex::new(BTreeMap::new());
        let reconnecting =
            join_all((0..RECONNECTING_CLIENTS).map(|_| reconnect(address, &key, &stopping, &seen)));
        let stop = async {
            ledger.acknowledged(200).await;
            stopping.store(true, Ordering::Relaxed);
            service.signal(Signal::TERM);
            let start = Instant::now();
            let (code, _) = service.exit().await;
            (code, start.elapsed())
        };
        let (_, _, (code, took)) = tokio::join!(ledger.write(WRITERS, address, &key), reconnecting, stop);
        assert_eq!(code, Some(0), "{}", service.log());
        assert!(!measured() || took < BOUND, "{took:?}");
        slowest = slowest.max(took);
        for (outcome, count) in seen.into_inner().unwrap() {
            *outcomes.entry(outcome).or_default() += count;
        }
        for (end, count) in ledger.ends() {
            *ends.entry(end).or_default() += count;
        }

        let service = directory.serve(&[]).await;
        let compared = ledger.compare(&service.all(&key).await);
        acknowledged += compared.acknowledged;
        service.stop().await;
    }
    let count = |outcome| outcomes.get(outcome).copied().unwrap_or(0);
    assert_eq!(count(DROPPED), 0, "{outcomes:?}");
    assert_eq!(count(RESET), 0, "{outcomes:?}");
    assert!(count("served") > 0, "{outcomes:?}");
    let new: Vec<_> = outcomes
        .iter()
        .map(|(outcome, count): (_, &usize)| format!("{} {outcome}", grouped(*count)))
        .collect();
    row(
        10,
        &format!(
            "SIGTERM under load with an incomplete request and an idle connection, `shutdown_grace` {grace}, {rounds} times"
        ),
        &format!(
            "open connections get a last response with `Connection: close` ({} of {} ended without one); new \
             connections: {}",
            ends.values().sum::<usize>(),
            rounds * WRITERS,
            new.join(", ")
        ),
        &format!(
            "exit status 0 after {:.1} s at most; {} acknowledged, 0 lost",
            slowest.as_secs_f64(),
            grouped(acknowledged)
        ),
    );
}
