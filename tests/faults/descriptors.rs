//! No file descriptors left.

use std::fs;
use std::time::{Duration, Instant};

use rustix::process::{Resource, Rlimit, getrlimit, prlimit};
use tokio::net::TcpStream;
use tokio::process::Command;

use crate::client::{Client, get};
use crate::ledger::Ledger;
use crate::program::Place;
use crate::row::{alone, milliseconds, row};
use crate::tools::{has, leave_out, prefix};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_file_descriptors_are_left() {
    let _turn = alone().await;
    let place = Place::new();
    let key = place.key().await;
    let mut service = place.serve(&[]).await;
    let ledger = Ledger::default();
    let mut early = Client::connect(service.direct, &key).await.unwrap();
    assert_eq!(ledger.add(&mut early).await.unwrap(), 201);

    let used = fs::read_dir(format!("/proc/{}/fd", service.pid().as_raw_nonzero())).unwrap().count();
    let limits = prlimit(Some(service.pid()), Resource::Nofile, some(used as u64 + 8)).unwrap();
    let mut hoard = Vec::new();
    for _ in 0..64 {
        hoard.push(TcpStream::connect(service.direct).await.unwrap());
    }
    service.logs("accept error").await;

    // Who is in is served; who comes now waits, and is not turned away.
    assert_eq!(ledger.add(&mut early).await.unwrap(), 201);
    assert_eq!(early.get("/v1/pets").await.unwrap().status, 200);
    let mut late = Client::connect(service.direct, &key).await.unwrap();
    late.send(&get("/v1/pets", &key)).await.unwrap();
    let waits = tokio::time::timeout(Duration::from_millis(300), late.answer()).await;
    assert!(waits.is_err(), "there was a descriptor left");

    drop(hoard);
    let start = Instant::now();
    assert_eq!(late.answer().await.unwrap().status, 200);
    let took = start.elapsed();
    prlimit(Some(service.pid()), Resource::Nofile, limits).unwrap();
    let errors = service.log().matches("accept error").count();
    let compared = ledger.compare(&service.all(&key).await);
    assert_eq!((compared.acknowledged, compared.open), (2, 0));
    row(
        9,
        "no file descriptors left",
        "on open connections all is well; new ones wait",
        &format!(
            "who waited was answered {} after others had gone, by itself; {errors} lines in the log",
            milliseconds(took)
        ),
    );
    service.stop().await;
}

#[tokio::test]
async fn too_few_file_descriptors_to_start() {
    let _turn = alone().await;
    let place = Place::new();
    if !has("prlimit").await {
        return leave_out(9, "too few file descriptors to start", "prlimit is not installed");
    }
    for limit in [4, 8, 16, 32, 63] {
        let hard = format!("--nofile={limit}:{limit}");
        let serve = |command: &mut Command| prefix(command, &["prlimit", &hard, "--"]);
        let line = place.run_changed(&["serve", "--bind", "127.0.0.1:0"], serve).await.failed();
        assert!(line.contains("ulimit -n"), "{line}");
    }
    // The soft limit is only a proposal.
    let soft = |command: &mut Command| prefix(command, &["prlimit", "--nofile=32:256", "--"]);
    let service = place.serve_with(&[], soft).await;
    let limits = fs::read_to_string(format!("/proc/{}/limits", service.pid().as_raw_nonzero())).unwrap();
    let files = limits.lines().find(|line| line.starts_with("Max open files")).unwrap();
    assert_eq!(files.split_whitespace().nth(3), Some("256"), "{files}");
    service.stop().await;
}

/// So many, as the soft limit only: the hard one could not be raised again.
fn some(current: u64) -> Rlimit {
    Rlimit { current: Some(current), maximum: getrlimit(Resource::Nofile).maximum }
}
