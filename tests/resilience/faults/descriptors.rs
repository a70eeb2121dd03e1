//! The service has no file descriptors left.

use std::fs;
use std::time::{Duration, Instant};

use animal_store::keys::NewKey;
use jiff::Timestamp;
use rustix::process::{Resource, Rlimit, getrlimit, prlimit};
use tokio::net::TcpStream;
use tokio::process::Command;
use tokio::task::JoinSet;
use tokio::time::timeout;

use crate::row::{milliseconds, row};
use kit::client::{Client, get};
use kit::ledger::Ledger;
use kit::postgres::shared;
use kit::program::{TIMEOUT, WorkDir, prefix};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_file_descriptors_are_left() {
    let directory = WorkDir::new();
    let key = directory.key().await;
    let keep_idle = |command: &mut Command| {
        command.env("ANIMAL_STORE_CONNECTIONS__HEADER_TIMEOUT", "1h");
    };
    let service = directory.serve_with(&[], keep_idle).await;
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
    let waits = timeout(Duration::from_millis(300), late.response()).await;
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

/// A reserve that forgot the connections to the database would leave none to the operators.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_flood_leaves_descriptors_to_postgresql_and_the_operators() {
    const LIMIT: usize = 192;
    const READERS: usize = 30;
    /// The limit without the descriptors of the process, the operators and the database.
    const MAX: usize = LIMIT - 40 - READERS - 3;
    /// The clients that read at the same time: more than connections for reading, so that all of these are opened.
    const CLIENTS: usize = 2 * READERS;
    let Some(cluster) = shared() else { return };
    if !kit::is_installed("prlimit", "util-linux") {
        return;
    }
    let database = cluster.database("").await;
    let url = cluster.url(&database);
    let directory = WorkDir::new();
    let hard = format!("--nofile={LIMIT}:{LIMIT}");
    let service = directory
        .serve_with(&["--ops-bind", "127.0.0.1:0", "--database", &url], |command| {
            prefix(command, &["prlimit", &hard, "--"]);
            command.env("ANIMAL_STORE_POSTGRES__READERS", READERS.to_string());
            command.env("ANIMAL_STORE_CONNECTIONS__HEADER_TIMEOUT", "1h");
            command.env("ANIMAL_STORE_CONNECTIONS__MAX", MAX.to_string());
        })
        .await;
    let responses = async {
        service.wait_for_readiness(200).await;
        // Each request with an unknown key is a read, and opens a connection to the server if none is idle.
        let unknown = NewKey::generate("unknown", None, Timestamp::now(), None).secret;
        let mut clients = JoinSet::new();
        for _ in 0..CLIENTS {
            let mut client = Client::connect(service.direct, &unknown).await.unwrap();
            assert_eq!(client.get("/v1/pets").await.unwrap().status, 401);
            clients.spawn(async move {
                loop {
                    assert_eq!(client.get("/v1/pets").await.unwrap().status, 401);
                }
            });
        }
        let mut flood = Vec::new();
        for _ in 0..LIMIT {
            flood.push(TcpStream::connect(service.direct).await.unwrap());
        }
        let client = cluster.client("postgres").await;
        let sql =
            "SELECT count(*) FROM pg_stat_activity WHERE datname = $1 AND application_name = 'animal-store'";
        while client.query_one(sql, &[&database]).await.unwrap().get::<_, i64>(0) < READERS as i64 {
            assert!(clients.try_join_next().is_none());
        }
        // On a connection of its own.
        let ops = service.ops_address().await;
        reqwest::get(format!("http://{ops}/livez")).await.unwrap().status().as_u16()
    };
    let status = timeout(TIMEOUT, responses).await;
    assert_eq!(status.expect("the connections to the server and the response of the operators"), 200);
    service.stop().await;
}

#[tokio::test]
async fn too_few_file_descriptors_to_start() {
    let directory = WorkDir::new();
    if !kit::is_installed("prlimit", "util-linux") {
        return;
    }
    // With fewer, a descriptor that this process inherited leaves none to load libraries with.
    for limit in [8, 16, 64, 551] {
        let hard = format!("--nofile={limit}:{limit}");
        let serve = |command: &mut Command| prefix(command, &["prlimit", &hard, "--"]);
        let line = directory.run_changed(&["serve", "--bind", "127.0.0.1:0"], serve).await.failure();
        assert!(line.contains("ulimit -n"), "{line}");
    }
    // Enough for SQLite, not for so many connections to a server.
    if let Some(cluster) = shared() {
        let url = cluster.url(&cluster.database("").await);
        let serve = |command: &mut Command| {
            prefix(command, &["prlimit", "--nofile=640:640", "--"]);
            command.env("ANIMAL_STORE_POSTGRES__READERS", "100");
        };
        let arguments = ["serve", "--bind", "127.0.0.1:0", "--database", &url];
        let finished = directory.run_changed(&arguments, serve).await;
        // The first line warns about `fsync`, which is off.
        let line = finished.stderr.lines().last().unwrap();
        let expected = "error: the limit on open files is 640, and the service may need 655; raise it";
        assert!(finished.code == Some(1) && line.starts_with(expected), "{}", finished.stderr);
    }
    // The service raises the soft limit up to the hard limit.
    let soft = |command: &mut Command| prefix(command, &["prlimit", "--nofile=32:1234", "--"]);
    let service = directory.serve_with(&[], soft).await;
    let limits = fs::read_to_string(format!("/proc/{}/limits", service.pid().as_raw_nonzero())).unwrap();
    let files = limits.lines().find(|line| line.starts_with("Max open files")).unwrap();
    assert_eq!(files.split_whitespace().nth(3), Some("1234"), "{files}");
    service.stop().await;
}

/// Returns a soft limit of `current`. The hard limit stays, because only root can raise it again.
fn soft_limit(current: u64) -> Rlimit {
    Rlimit { current: Some(current), maximum: getrlimit(Resource::Nofile).maximum }
}
