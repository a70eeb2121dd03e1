//! Each alert of `xtask/dist/alerts.yml` fires for what it is for: Prometheus scrapes services in which that happens.
//!
//! The rules are those of the file, but fire at once instead of after minutes (`for`). `xtask/dist/alerts_test.yml` tests the
//! thresholds and the waits with made-up series.

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::process::Stdio;
use std::time::Duration;

use futures::future::join_all;
use jiff::{SignedDuration, Timestamp, tz::TimeZone};
use rcgen::{CertificateParams, KeyPair, date_time_ymd};
use rusqlite::Connection;
use rustix::process::{Resource, Rlimit, getrlimit, prlimit};
use serde_json::{Value, json};
use tokio::io::AsyncWriteExt as _;
use tokio::net::TcpStream;
use tokio::process::{Child, Command};
use tokio::time::{sleep, timeout};

use kit::client::Client;
use kit::postgres::free_port;
use kit::program::{Program, TIMEOUT, WorkDir};

/// The bytes of a request that is never complete, so that the service holds them.
const HELD: usize = 63 * 1024;
/// The number of connections of clients that hold memory, and of clients that add animals: almost all of the default.
const CLIENTS: usize = 500;

/// What fires if a service has no time to respond to Prometheus, or to a client.
const BUSY: [&str; 2] = ["AnimalStoreDown", "AnimalStoreSlow"];

/// Prometheus with the rules of the file, and the services that it scrapes.
struct Prometheus {
    address: String,
    http: reqwest::Client,
    _child: Child,
    _directory: WorkDir,
}

impl Prometheus {
    /// Starts it. `memory` replaces the threshold of `AnimalStoreMemory`.
    fn start(instances: &[String], memory: u64) -> Self {
        let rules =
            fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/xtask/dist/alerts.yml")).unwrap();
        let at_once: String = rules.split_inclusive('\n').filter(|line| !line.contains(" for: ")).collect();
        let limit = "600 * 1024 * 1024";
        assert!(at_once.contains(limit) && at_once != rules);
        let directory = WorkDir::new();
        directory.write("alerts.yml", at_once.replace(limit, &memory.to_string()));
        let settings = json!({
            "global": { "scrape_interval": "200ms", "scrape_timeout": "200ms", "evaluation_interval": "200ms" },
            "rule_files": ["alerts.yml"],
            "scrape_configs": [{ "job_name": "animal-store", "static_configs": [{ "targets": instances }] }],
        });
        // JSON is YAML.
        directory.write("prometheus.yml", settings.to_string());
        let address = format!("127.0.0.1:{}", free_port());
        let mut command = Command::new("prometheus");
        command.args(["--config.file=prometheus.yml", "--storage.tsdb.path=data", "--log.level=error"]);
        command.arg(format!("--web.listen-address={address}")).current_dir(directory.path(""));
        let child = command.kill_on_drop(true).stdout(Stdio::null()).spawn().unwrap();
        let http = reqwest::Client::builder().no_proxy().build().unwrap();
        Self { address, http, _child: child, _directory: directory }
    }

    /// Returns the data of a response after a while; null until Prometheus has started.
    async fn get(&self, path: &str, query: &[(&str, &str)]) -> Value {
        // Prometheus evaluates the rules every 200 ms, and tells nobody.
        sleep(Duration::from_millis(100)).await;
        let request = self.http.get(format!("http://{}/api/v1/{path}", self.address)).query(query);
        let Ok(response) = request.send().await else { return Value::Null };
        serde_json::from_slice::<Value>(&response.bytes().await.unwrap())
            .map_or(Value::Null, |it| it["data"].clone())
    }

    /// Waits until an expression has a value.
    async fn has(&self, expression: &str) {
        let waiting = async {
            while self.get("query", &[("query", expression)]).await["result"]
                .as_array()
                .is_none_or(Vec::is_empty)
            {}
        };
        timeout(TIMEOUT, waiting).await.unwrap_or_else(|_| panic!("{expression} has no value"));
    }

    /// Returns the alerts of an instance.
    async fn alerts(&self, instance: &str) -> BTreeSet<String> {
        let alerts = self.get("alerts", &[]).await["alerts"].clone();
        let alerts = alerts.as_array().into_iter().flatten().map(|alert| alert["labels"].clone());
        let own = alerts.filter(|labels| labels["instance"] == instance);
        own.filter_map(|labels| Some(labels["alertname"].as_str()?.to_owned())).collect()
    }

    /// Waits until a service is scraped and has no alert.
    async fn is_silent(&self, instance: &str) {
        self.has(&format!("up{{instance=\"{instance}\"}} == 1")).await;
        let waiting = async { while !self.alerts(instance).await.is_empty() {} };
        timeout(TIMEOUT, waiting).await.expect("a service without faults has no alert");
    }

    /// Repeats `cause` until an instance has these alerts, and no others but those of a busy machine.
    async fn fires(&self, instance: &str, expected: &[&str], mut cause: impl AsyncFnMut()) {
        let found = async {
            loop {
                cause().await;
                let found = self.alerts(instance).await;
                let other = found.iter().find(|it| !expected.contains(&&***it) && !BUSY.contains(&&***it));
                assert_eq!(other, None, "{instance}");
                if expected.iter().all(|alert| found.contains(*alert)) {
                    return;
                }
            }
        };
        timeout(TIMEOUT, found).await.unwrap_or_else(|_| panic!("{expected:?} do not fire"));
    }
}

/// Starts a service whose operators' listener has the address `instance`.
async fn serve(directory: &WorkDir, instance: &str, settings: &str) -> (Program, String) {
    directory.write("store.toml", settings);
    let key = directory.key().await;
    (directory.serve(&["--ops-bind", instance, "--config", "store.toml"]).await, key)
}

/// Takes the write lock of a database.
fn lock(directory: &WorkDir) -> Connection {
    let other = Connection::open(directory.path("animal-store.db")).unwrap();
    // The service may still store the use of the key.
    other.busy_timeout(TIMEOUT).unwrap();
    other.execute_batch("BEGIN IMMEDIATE").unwrap();
    other
}

async fn stopped(prometheus: &Prometheus, instance: &str) {
    let directory = WorkDir::new();
    let (service, _) = serve(&directory, instance, "").await;
    prometheus.is_silent(instance).await;
    service.stop().await;
    prometheus.fires(instance, &["AnimalStoreDown"], async || {}).await;
}

async fn restarted(prometheus: &Prometheus, instance: &str) {
    let directory = WorkDir::new();
    for restarts in 0..=4 {
        let service = directory.serve(&["--ops-bind", instance]).await;
        let seen =
            format!("changes(process_start_time_seconds{{instance=\"{instance}\"}}[1h]) == {restarts}");
        prometheus.has(&seen).await;
        if restarts == 0 {
            prometheus.is_silent(instance).await;
        }
        if restarts == 4 {
            prometheus.fires(instance, &["AnimalStoreRestarts"], async || {}).await;
        }
        service.stop().await;
    }
}

async fn failing(prometheus: &Prometheus, instance: &str) {
    let directory = WorkDir::new();
    let (service, key) = serve(&directory, instance, "lock_timeout = '1s 100ms'\n").await;
    prometheus.is_silent(instance).await;
    let _lock = lock(&directory);
    let expected = ["AnimalStoreServerErrors", "AnimalStoreSlow", "AnimalStoreDatabaseErrors"];
    let animal = json!({ "name": "Rex", "categoryId": 3 });
    let cause = async || drop(service.post(&key, &animal).await.expect_error(503, "unavailable"));
    prometheus.fires(instance, &expected, cause).await;
    service.stop().await;
}

async fn waiting(prometheus: &Prometheus, instance: &str) {
    let database = format!("postgres://animals@127.0.0.1:{}/animals", free_port());
    let directory = WorkDir::new();
    let bind = ["serve", "--bind", "127.0.0.1:0", "--ops-bind", instance];
    let _service = directory.start(&[&bind[..], &["--database", &database]].concat());
    prometheus.fires(instance, &["AnimalStoreDatabaseErrors"], async || {}).await;
}

async fn queued(prometheus: &Prometheus, instance: &str) {
    let directory = WorkDir::new();
    let limits = "lock_timeout = '10m'\nrequest_timeout = '10m'\n";
    let (service, key) = serve(&directory, instance, limits).await;
    prometheus.is_silent(instance).await;
    let other = lock(&directory);
    let add = async || {
        let mut client = Client::connect(service.direct, &key).await.unwrap();
        assert_eq!(client.post(r#"{"name":"Rex","categoryId":3}"#).await.unwrap().status, 201);
    };
    let released = async {
        prometheus.fires(instance, &["AnimalStoreWriteQueueFills"], async || {}).await;
        other.execute_batch("ROLLBACK").unwrap();
    };
    tokio::join!(join_all((0..CLIENTS).map(|_| add())), released);
    service.stop().await;
}

async fn crowded(prometheus: &Prometheus, instance: &str) {
    let directory = WorkDir::new();
    let (service, _) = serve(&directory, instance, "[connections]\nmax = 2\n").await;
    prometheus.is_silent(instance).await;
    let _clients = [TcpStream::connect(service.direct).await, TcpStream::connect(service.direct).await];
    prometheus.fires(instance, &["AnimalStoreConnectionsFull"], async || {}).await;
}

async fn attacked(prometheus: &Prometheus, instance: &str) {
    let directory = WorkDir::new();
    let (service, key) = serve(&directory, instance, "").await;
    prometheus.is_silent(instance).await;
    let wrong = format!("{key}x");
    let attempt = async || drop(service.get(&wrong, "/v1/pets").await.expect_error(401, "unauthorized"));
    let cause = async || drop(join_all((0..20).map(|_| attempt())).await);
    prometheus.fires(instance, &["AnimalStoreInvalidKeys"], cause).await;
    service.stop().await;
}

async fn without_log(prometheus: &Prometheus, instance: &str) {
    let directory = WorkDir::new();
    let key = directory.key().await;
    let full = File::options().write(true).open("/dev/full").unwrap();
    let without_log = |command: &mut Command| {
        command.stderr(full);
    };
    let service = directory.serve_with(&["--ops-bind", instance], without_log).await;
    prometheus.has(&format!("up{{instance=\"{instance}\"}} == 1")).await;
    let cause = async || drop(service.get(&key, "/v1/pets").await.expect(200));
    prometheus.fires(instance, &["AnimalStoreLogLost"], cause).await;
    service.stop().await;
}

async fn with_old_certificate(prometheus: &Prometheus, instance: &str) {
    let mut certificate = CertificateParams::new(["localhost".to_owned()]).unwrap();
    let end = (Timestamp::now() + SignedDuration::from_hours(7 * 24)).to_zoned(TimeZone::UTC);
    certificate.not_after = date_time_ymd(end.year().into(), end.month() as u8, end.day() as u8);
    let key = KeyPair::generate().unwrap();
    let directory = WorkDir::new();
    directory.write("certificate.pem", certificate.self_signed(&key).unwrap().pem());
    directory.write("key.pem", key.serialize_pem());
    let tls = "[tls]\ncertificate = 'certificate.pem'\nprivate_key = 'key.pem'\n";
    let (service, _) = serve(&directory, instance, tls).await;
    assert!(!service.log().contains("the certificate has expired"), "{}", service.log());
    prometheus.fires(instance, &["AnimalStoreCertificateExpires"], async || {}).await;
    service.stop().await;
}

async fn without_descriptors(prometheus: &Prometheus, instance: &str) {
    let directory = WorkDir::new();
    let (service, _) = serve(&directory, instance, "").await;
    prometheus.is_silent(instance).await;
    let open = fs::read_dir(format!("/proc/{}/fd", service.pid().as_raw_nonzero())).unwrap().count() as u64;
    let maximum = getrlimit(Resource::Nofile).maximum;
    // Some are left for the next scrape.
    let limit = Rlimit { current: Some(open + open / 12), maximum };
    prlimit(Some(service.pid()), Resource::Nofile, limit).unwrap();
    prometheus.fires(instance, &["AnimalStoreDescriptors"], async || {}).await;
    service.stop().await;
}

async fn with_much_memory(prometheus: &Prometheus, instance: &str, service: &Program, key: &str) {
    prometheus.is_silent(instance).await;
    let head = format!(
        "POST /v1/pets HTTP/1.1\r\nHost: animals\r\nAuthorization: Bearer {key}\r\n\
         Content-Type: application/json\r\nContent-Length: 65536\r\n\r\n"
    );
    let hold = async || {
        let mut client = TcpStream::connect(service.direct).await.unwrap();
        client.write_all(head.as_bytes()).await.unwrap();
        client.write_all(&[b' '; HELD]).await.unwrap();
        client
    };
    let _clients = join_all((0..CLIENTS).map(|_| hold())).await;
    prometheus.fires(instance, &["AnimalStoreMemory"], async || {}).await;
}

/// Returns the resident memory of a process in bytes.
fn resident(service: &Program) -> u64 {
    let status = fs::read_to_string(format!("/proc/{}/status", service.pid().as_raw_nonzero())).unwrap();
    let kibibytes = status.lines().find_map(|line| line.strip_prefix("VmRSS:")?.strip_suffix(" kB"));
    kibibytes.unwrap().trim().parse::<u64>().unwrap() * 1024
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn each_alert_fires_for_what_it_is_for() {
    if !kit::is_installed("prometheus", "prometheus") {
        return;
    }
    let instances: Vec<String> = (0..11).map(|_| format!("127.0.0.1:{}", free_port())).collect();
    let directory = WorkDir::new();
    let patient = "request_timeout = '10m'\n[connections]\nidle_timeout = '10m'\n";
    let (large, key) = serve(&directory, &instances[9], patient).await;
    let half_of_what_is_sent = (CLIENTS * HELD / 2) as u64;
    let prometheus = Prometheus::start(&instances, resident(&large) + half_of_what_is_sent);
    let at = |number: usize| &*instances[number];
    tokio::join!(
        stopped(&prometheus, at(0)),
        restarted(&prometheus, at(1)),
        failing(&prometheus, at(2)),
        queued(&prometheus, at(3)),
        crowded(&prometheus, at(4)),
        attacked(&prometheus, at(5)),
        without_log(&prometheus, at(6)),
        with_old_certificate(&prometheus, at(7)),
        without_descriptors(&prometheus, at(8)),
        with_much_memory(&prometheus, at(9), &large, &key),
        waiting(&prometheus, at(10)),
    );
}
