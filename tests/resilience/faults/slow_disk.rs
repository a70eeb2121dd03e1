//! A disk that holds reads or syncs back for as long as a test wants.

use std::fs;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use animal_store::storage::sqlite::blocking_reads;
use rustix::process::Signal;
use serde_json::json;
use tokio::process::Command;
use tokio::time::{sleep, timeout};

use crate::row::{measured, milliseconds, percentile, row};
use kit::client::{Client, get};
use kit::ledger::Ledger;
use kit::program::{Program, TIMEOUT, WorkDir};

const FAULT: &str = "the disk holds reads or a sync back (preloaded library)";
/// Short limits shorten the test. A sync on a busy disk takes less than `request_timeout`.
const CONFIG: &str = "request_timeout = '10s'\nshutdown_grace = '1s'\nops_bind = '127.0.0.1:0'\n";
/// The promise about requests that do not need what is held.
const BOUND: Duration = Duration::from_millis(100);
/// The animals fill many pages, so that those of keys are before [`Disk::offset`].
const ANIMALS: usize = 300;
const LAST: &str = "/v1/pets/300";
/// So many additions fill the log until it is checkpointed.
const UNTIL_CHECKPOINT: usize = 600;
/// How often each other request is sent.
const ROUNDS: usize = 20;

/// A directory with a database, and the library.
struct Disk {
    directory: WorkDir,
    key: String,
    library: PathBuf,
    /// Reads from here on are held.
    offset: u64,
}

impl Disk {
    async fn new() -> Self {
        let directory = WorkDir::new();
        directory.write("store.toml", CONFIG);
        let key = directory.key().await;
        let service = directory.serve(&[]).await;
        for _ in 0..ANIMALS {
            service.post(&key, &json!({ "name": "x".repeat(255), "categoryId": 1 })).await.expect(201);
        }
        service.stop().await;
        let offset = fs::metadata(directory.path("animal-store.db")).unwrap().len() / 2;
        let library = directory.path("hold.so");
        let source = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/resilience/faults/hold.c");
        let mut compiler = Command::new("cc");
        compiler.args(["-shared", "-fPIC", "-o"]).arg(&library).arg(source);
        assert!(compiler.status().await.unwrap().success());
        fs::create_dir(directory.path("hold")).unwrap();
        Self { directory, key, library, offset }
    }

    async fn serve(&self) -> Program {
        let change = |command: &mut Command| {
            command.env("LD_PRELOAD", &self.library).env("HOLD", self.directory.path("hold"));
            command.env("HOLD_FROM", self.offset.to_string());
        };
        self.directory.serve_with(&["--config", "store.toml"], change).await
    }

    /// Lets the next `count` calls be held.
    fn prepare(&self, call: &str, count: usize) {
        for number in 0..count {
            self.directory.write(&format!("hold/{call}.{number}"), "");
        }
    }

    fn held(&self) -> usize {
        let files = fs::read_dir(self.directory.path("hold")).unwrap();
        files.filter(|file| file.as_ref().unwrap().file_name().to_string_lossy().starts_with("held.")).count()
    }

    async fn wait_until_held(&self, count: usize) {
        let held = async {
            while self.held() < count {
                sleep(Duration::from_millis(1)).await;
            }
        };
        timeout(TIMEOUT, held).await.expect("the call must be held");
    }

    fn release(&self) {
        for file in fs::read_dir(self.directory.path("hold")).unwrap() {
            fs::remove_file(file.unwrap().path()).unwrap();
        }
    }

    /// Sends LAST over connections of their own until `count` reads are held. Each gets 503 in time.
    async fn hold_reads(&self, service: &Program, count: usize) {
        self.prepare("read", count);
        let mut clients = Vec::new();
        for number in 1..=count {
            let mut client = Client::connect(service.direct, &self.key).await.unwrap();
            client.send(get(LAST, &self.key)).await.unwrap();
            self.wait_until_held(number).await;
            clients.push(client);
        }
        for mut client in clients {
            client.response().await.unwrap().expect_error(503, "unavailable");
        }
        assert_eq!(self.held(), count);
    }
}

/// Sends requests while something is held, and returns how long the slowest 1% took.
async fn everything_else(service: &Program, key: &str, targets: &[(&str, u16)], adds: bool) -> Duration {
    let (mut times, mut late) = (Vec::new(), 0);
    let ledger = Ledger::default();
    let mut client = Client::connect(service.direct, key).await.unwrap();
    for _ in 0..ROUNDS {
        for (target, status) in targets {
            let start = Instant::now();
            match *target {
                "/readyz" => {
                    let (now, why) = service.ops(target).await;
                    // A busy machine may reach the time limit of the probe.
                    assert!(now == *status || why.contains("time limit"), "{why}");
                    late += usize::from(now != *status);
                }
                "/livez" | "/metrics" => assert_eq!(service.ops(target).await.0, *status, "{target}"),
                _ => assert_eq!(client.get(target).await.unwrap().status, *status, "{target}"),
            }
            times.push(start.elapsed());
        }
        if adds {
            let start = Instant::now();
            assert_eq!(ledger.add(&mut client).await.unwrap(), 201);
            times.push(start.elapsed());
        }
    }
    assert!(late < ROUNDS / 2, "/readyz was late {late} times");
    let slowest = percentile(&mut times, 99);
    assert!(!measured() || slowest < BOUND, "{slowest:?}");
    slowest
}

const WITHOUT_STORE: &[(&str, u16)] =
    &[("/livez", 200), ("/metrics", 200), ("/docs", 200), ("/v1/nothing", 404), ("/v1/pets?limit=x", 400)];
const READS: &[(&str, u16)] = &[("/readyz", 200), ("/v1/pets/1", 200), ("/v1/pets?limit=5", 200)];

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_slow_disk_delays_only_what_needs_it() {
    if !kit::is_installed("cc", "gcc") {
        return;
    }
    let disk = Disk::new().await;
    let readers = blocking_reads() - 1;

    // Some reads are held.
    let service = disk.serve().await;
    disk.hold_reads(&service, readers - 1).await;
    let some = everything_else(&service, &disk.key, &[WITHOUT_STORE, READS].concat(), true).await;
    let ledger = Ledger::default();
    let mut writer = Client::connect(service.direct, &disk.key).await.unwrap();
    for _ in 0..UNTIL_CHECKPOINT {
        assert_eq!(ledger.add(&mut writer).await.unwrap(), 201);
    }
    service.wait_for_log("a read that takes long lets the WAL grow").await;
    disk.release();
    service.get(&disk.key, LAST).await.expect(200);
    service.stop().await;

    // All are held.
    let mut service = disk.serve().await;
    disk.hold_reads(&service, readers).await;
    let all = everything_else(&service, &disk.key, WITHOUT_STORE, true).await;
    service.get(&disk.key, "/v1/pets/1").await.expect_error(503, "unavailable");
    assert_eq!(service.ops("/readyz").await.0, 503);
    service.signal(Signal::TERM);
    // It ends although they are still held.
    let (code, took) = service.exit().await;
    assert_eq!((code, disk.held()), (Some(0), readers), "{}", service.log());
    assert!(!measured() || took < Duration::from_secs(3), "{took:?}");
    disk.release();

    // A sync is held.
    let mut service = disk.serve().await;
    let ledger = Ledger::default();
    let mut writer = Client::connect(service.direct, &disk.key).await.unwrap();
    for _ in 0..ROUNDS {
        assert_eq!(ledger.add(&mut writer).await.unwrap(), 201);
    }
    disk.prepare("sync", 1);
    assert_eq!(ledger.add(&mut writer).await.unwrap(), 503);
    assert_eq!(disk.held(), 1);
    let reads: Vec<_> = [WITHOUT_STORE, &READS[1..]].concat();
    let sync = everything_else(&service, &disk.key, &reads, false).await;
    service.signal(Signal::TERM);
    let (code, stopped) = service.exit().await;
    assert_eq!((code, disk.held()), (Some(0), 1), "{}", service.log());
    assert!(!measured() || stopped < Duration::from_secs(3), "{stopped:?}");
    disk.release();
    let service = disk.directory.serve(&[]).await;
    let compared = ledger.compare(&service.all(&disk.key).await[ANIMALS + UNTIL_CHECKPOINT + 2 * ROUNDS..]);
    assert_eq!(compared.acknowledged, ROUNDS);
    service.stop().await;

    row(
        19,
        FAULT,
        &format!(
            "a request that needs what is held gets 503 at `request_timeout`. The others at the 99th percentile: {} \
             while some reads are held, {} while all are, {} while a sync is",
            milliseconds(some),
            milliseconds(all),
            milliseconds(sync)
        ),
        &format!(
            "SIGTERM ends the process {:.1} s after it with a grace of 1 s, while calls are still held; {} acknowledged, 0 lost",
            took.max(stopped).as_secs_f64(),
            compared.acknowledged
        ),
    );
}
