//! The service has no file descriptors left.

use std::fs;
use std::time::{Duration, Instant};

use rustix::process::{Resource, Rlimit, getrlimit, prlimit};
use tokio::net::TcpStream;
use tokio::process::Command;

use crate::client::{Client, get};
use crate::injection::{has, prefix, skip};
use crate::ledger::Ledger;
use crate::program::WorkDir;
use crate::row::{exclusive, milliseconds, row};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_file_descriptors_are_left() {
    let _turn = exclusive().await;
    let directory = WorkDir::new();
    let key = directory.key().await;
    let mut service = directory.serve(&[]).await;
    let ledger = Ledger::default();
    let mut early = Client::connect(service.direct, &key).await.unwrap();
    assert_eq!(ledger.add(&mut early).await.unwrap(), 201);

    let used = fs::read_dir(format!("/proc/{}/fd", service.pid().as_raw_nonzero())).unwrap().count();
    let limits = prlimit(Some(service.pid()), Resource::Nofile, soft_limit(used as u64 + 8)).unwrap();
    let mut idle = Vec::new();
    for _ in 0..64 {
        idle.push(TcpStream::connect(service.direct).await.unwrap());
    }
    service.wait_for_log("cannot accept connections").await;

    // Open connections are served. A new connection waits and is not reset.
    assert_eq!(ledger.add(&mut early).await.unwrap(), 201);
    assert_eq!(early.get("/v1/pets").await.unwrap().status, 200);
    let mut late = Client::connect(service.direct, &key).await.unwrap();
    late.send(&get("/v1/pets", &key)).await.unwrap();
    let waits = tokio::time::timeout(Duration::from_millis(300), late.response()).await;
    assert!(waits.is_err(), "the service accepted the connection, so a descriptor was left");

    drop(idle);
    let start = Instant::now();
    assert_eq!(late.response().await.unwrap().status, 200);
    let took = start.elapsed();
    prlimit(Some(service.pid()), Resource::Nofile, limits).unwrap();
    let errors = service.log().matches("cannot accept connections").count();
    let compared = ledger.compare(&service.all(&key).await);
    assert_eq!((compared.acknowledged, compared.unknown), (2, 0));
    row(
        9,
        "no file descriptors left",
        "open connections are served; new connections wait",
        &format!(
            "a waiting client got its response {} after other connections closed, without a restart; {errors} lines in the log",
            milliseconds(took)
        ),
    );
    service.stop().await;
}

#[tokio::test]
async fn too_few_file_descriptors_to_start() {
    let _turn = exclusive().await;
    let directory = WorkDir::new();
    if !has("prlimit").await {
        return skip(9, "too few file descriptors to start", "prlimit is not installed");
    }
    for limit in [4, 8, 16, 32, 63] {
        let hard = format!("--nofile={limit}:{limit}");
        let serve = |command: &mut Command| prefix(command, &["prlimit", &hard, "--"]);
        let line = directory.run_changed(&["serve", "--bind", "127.0.0.1:0"], serve).await.failure();
        assert!(line.contains("ulimit -n"), "{line}");
    }
    // The service raises the soft limit up to the hard limit.
    let soft = |command: &mut Command| prefix(command, &["prlimit", "--nofile=32:256", "--"]);
    let service = directory.serve_with(&[], soft).await;
    let limits = fs::read_to_string(format!("/proc/{}/limits", service.pid().as_raw_nonzero())).unwrap();
    let files = limits.lines().find(|line| line.starts_with("Max open files")).unwrap();
    assert_eq!(files.split_whitespace().nth(3), Some("256"), "{files}");
    service.stop().await;
}

/// Returns a soft limit of `current`. The hard limit stays, because only root can raise it again.
fn soft_limit(current: u64) -> Rlimit {
    Rlimit { current: Some(current), maximum: getrlimit(Resource::Nofile).maximum }
}
