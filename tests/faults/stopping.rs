//! SIGTERM under load, with clients that are stuck.

use std::collections::BTreeMap;
use std::io::ErrorKind;
use std::net::SocketAddr;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use futures::future::join_all;
use rustix::process::Signal;

use crate::client::{Client, post_head};
use crate::ledger::Ledger;
use crate::program::Place;
use crate::row::{alone, grouped, long, measured, row};

/// The bound that is promised.
const BOUND: Duration = Duration::from_secs(10);

const WRITERS: usize = 8;
/// Clients that make a connection for each request.
const KNOCKERS: usize = 4;
/// How a client sees a connection that the service accepted, and then dropped.
const DROPPED: &str = "closed without a word";
/// How a client sees the end of the service, if it waits in the kernel's queue by then.
const RESET: &str = "reset";

/// A client that makes a connection for each request, until it is refused.
async fn knock(
    address: SocketAddr,
    key: &str,
    stopping: &AtomicBool,
    outcomes: &Mutex<BTreeMap<&str, usize>>,
) {
    loop {
        let told = stopping.load(Ordering::Relaxed);
        let outcome = match Client::connect(address, key).await {
            Err(_) => "refused",
            Ok(mut client) => match client.get("/v1/pets").await {
                Ok(answer) if answer.status == 200 => "answered",
                Ok(answer) => panic!("{}", answer.status),
                Err(error) if error.kind() == ErrorKind::UnexpectedEof => DROPPED,
                Err(_) => RESET,
            },
        };
        if told {
            *outcomes.lock().unwrap().entry(outcome).or_default() += 1;
        }
        if outcome == "refused" {
            return;
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn sigterm_under_load_with_stuck_clients() {
    let _turn = alone().await;
    let (rounds, grace) = if long() { (20, "8s") } else { (2, "2s") };
    let (mut slowest, mut acknowledged) = (Duration::ZERO, 0);
    let (mut outcomes, mut ends) = (BTreeMap::new(), BTreeMap::<String, usize>::new());
    // On a machine that does other things as well, a client may be slower than the service gives it time at the
    // very end, or not be answered in its last moments: then that part of a round does not count.
    let (mut done, mut repeats) = (0, if measured() { 0 } else { 10 });
    while done < rounds {
        let place = Place::new();
        let key = place.key().await;
        let config = place.write("store.toml", format!("shutdown_grace = '{grace}'\n"));
        let mut service = place.serve(&["--config", config.to_str().unwrap()]).await;
        let ledger = Ledger::default();
        let mut stuck = Client::connect(service.direct, &key).await.unwrap();
        stuck.send(&(post_head(&key, 29) + r#"{"name":"#)).await.unwrap();
        let _silent = Client::connect(service.direct, &key).await.unwrap();
        let (address, stopping) = (service.direct, AtomicBool::new(false));
        let seen = Mutex::new(BTreeMap::new());
        let knocking = join_all((0..KNOCKERS).map(|_| knock(address, &key, &stopping, &seen)));
        let stop = async {
            ledger.acknowledged(200).await;
            stopping.store(true, Ordering::Relaxed);
            service.signal(Signal::TERM);
            let start = Instant::now();
            let (code, _) = service.exit().await;
            (code, start.elapsed())
        };
        let (_, _, (code, took)) = tokio::join!(ledger.write(WRITERS, address, &key), knocking, stop);
        assert_eq!(code, Some(0), "{}", service.log());
        assert!(!measured() || took < BOUND, "{took:?}");
        slowest = slowest.max(took);
        let seen = seen.into_inner().unwrap();
        if repeats > 0 && (seen.contains_key(DROPPED) || !seen.contains_key("answered")) {
            repeats -= 1;
        } else {
            done += 1;
            for (outcome, count) in seen {
                *outcomes.entry(outcome).or_default() += count;
            }
            for (end, count) in ledger.ends() {
                *ends.entry(end).or_default() += count;
            }
        }

        let service = place.serve(&[]).await;
        let compared = ledger.compare(&service.all(&key).await);
        acknowledged += compared.acknowledged;
        service.stop().await;
    }
    let count = |outcome| outcomes.get(outcome).copied().unwrap_or(0);
    assert_eq!(count(DROPPED), 0, "{outcomes:?}");
    // One each, at the very end; and then it is refused.
    assert!(count(RESET) <= rounds * KNOCKERS, "{outcomes:?}");
    assert!(count("answered") > 0, "{outcomes:?}");
    let new: Vec<_> = outcomes
        .iter()
        .map(|(outcome, count): (_, &usize)| format!("{} {outcome}", grouped(*count)))
        .collect();
    row(
        10,
        &format!(
            "SIGTERM under load with a stuck and a silent client, `shutdown_grace` {grace}, {rounds} times"
        ),
        &format!(
            "kept connections get a last answer with `Connection: close` ({} of {} ended without); new \
             connections: {} (those that wait in the kernel's queue at the very end)",
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
