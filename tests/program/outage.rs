//! PostgreSQL becomes unavailable under load and recovers: what clients and operators see.

use std::collections::BTreeMap;
use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt as _;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use futures::future::join_all;
use reqwest::Method;
use serde_json::json;
use tokio::sync::Notify;
use tokio::time::{sleep, timeout};

use crate::ops::value;
use kit::postgres::network::Network;
use kit::postgres::{Cluster, shared};
use kit::program::{Program, TIMEOUT, WorkDir};
use kit::recorder::request::RequestExt as _;

const WRITERS: usize = 16;
/// Disables the time limit of requests, so that only the store limits how long a request takes. A request without
/// such a limit fails the test by its timeout.
const NO_DEADLINE: &str = "request_timeout = '1h'\n";

/// Starts the service on this database.
async fn serve(directory: &WorkDir, database: &str) -> Program {
    directory.write("store.toml", NO_DEADLINE);
    directory.serve(&["--ops-bind", "127.0.0.1:0", "--config", "store.toml", "--database", database]).await
}

/// How long the server is stopped.
fn outage() -> Duration {
    Duration::from_secs(if kit::is_long() { 10 } else { 3 })
}

#[derive(Default)]
struct Load {
    sent: AtomicUsize,
    /// The acknowledged names, by identifier.
    acknowledged: Mutex<BTreeMap<i64, String>>,
    unavailable: Mutex<Vec<Duration>>,
    is_over: AtomicBool,
    more: Notify,
}

impl Load {
    fn acknowledged(&self) -> usize {
        self.acknowledged.lock().unwrap().len()
    }

    async fn more(&self, count: usize) {
        let goal = self.acknowledged() + count;
        while self.acknowledged() < goal {
            self.more.notified().await;
        }
    }

    /// Adds animals with unique names until the load is over.
    async fn write(&self, service: &Program, key: &str) {
        while !self.is_over.load(Ordering::Relaxed) {
            let number = self.sent.fetch_add(1, Ordering::Relaxed);
            let name = format!("animal {number}");
            let pet = json!({ "name": name, "categoryId": 1 });
            let start = Instant::now();
            let response = service.request(Method::POST, key, "/v1/pets").json(&pet).response().await;
            let took = start.elapsed();
            if response.status == 201 {
                let id = response.expect(201)["id"].as_i64().unwrap();
                let other = self.acknowledged.lock().unwrap().insert(id, name);
                assert_eq!(other, None, "an identifier was used twice");
                self.more.notify_one();
                continue;
            }
            response.expect_error(503, "unavailable");
            assert_eq!(response.header("retry-after"), Some("1"));
            self.unavailable.lock().unwrap().push(took);
            // Retries sooner than `Retry-After` says.
            sleep(Duration::from_millis(50)).await;
        }
    }

    /// Compares the acknowledged animals with the stored ones.
    async fn outcome(self, service: &Program, key: &str) -> Outcome {
        let found = service.all(key).await;
        let mut names: BTreeMap<&str, usize> = BTreeMap::new();
        for pet in &found {
            *names.entry(pet["name"].as_str().unwrap()).or_default() += 1;
        }
        let acknowledged = self.acknowledged.into_inner().unwrap();
        let unavailable = self.unavailable.into_inner().unwrap();
        let outcome = Outcome {
            sent: self.sent.into_inner(),
            acknowledged: acknowledged.len(),
            unavailable: unavailable.len(),
            slowest_unavailable: unavailable.iter().max().copied().unwrap_or_default(),
            found: found.len(),
            lost: acknowledged.values().filter(|name| !names.contains_key(name.as_str())).count(),
            stored_twice: names.values().filter(|count| **count > 1).count(),
        };
        assert_eq!((outcome.lost, outcome.stored_twice), (0, 0), "{outcome:?}");
        assert_eq!(outcome.sent, outcome.acknowledged + outcome.unavailable);
        // An addition that got 503 may have been stored.
        assert!((outcome.acknowledged..=outcome.sent).contains(&outcome.found), "{outcome:?}");
        outcome
    }
}

/// The result of a load.
#[derive(Debug)]
struct Outcome {
    sent: usize,
    /// Responses with 201.
    acknowledged: usize,
    /// Responses with 503.
    unavailable: usize,
    slowest_unavailable: Duration,
    found: usize,
    lost: usize,
    stored_twice: usize,
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_service_recovers_after_postgresql_was_stopped_under_load() {
    let Some(cluster) = Cluster::start() else { return };
    let database = cluster.url("postgres");
    let directory = WorkDir::new();
    let key = directory.run(&["key", "create", "tests", "--database", &database]).await.success();
    let key = key.trim_end();
    let service = serve(&directory, &database).await;
    assert!(service.wait_for_readiness(200).await.starts_with("ready: "));

    let load = Load::default();
    let writers = join_all((0..WRITERS).map(|_| load.write(&service, key)));
    let operator = async {
        load.more(500).await;
        cluster.stop();
        let stopped = Instant::now();
        // The reason depends on how far the server's shutdown has got.
        assert!(service.wait_for_readiness(503).await.starts_with("the store is unavailable: "));
        let not_ready_after = stopped.elapsed();
        assert_eq!(service.ops("/livez").await.0, 200);
        sleep(outage().saturating_sub(stopped.elapsed())).await;
        // On a busy machine the store may notice later than the readiness check waits.
        while service.wait_for_readiness(503).await != "the store is unavailable: it cannot be reached\n" {}
        cluster.start_server();
        let restarted = Instant::now();
        service.wait_for_readiness(200).await;
        let ready_after = restarted.elapsed();
        load.more(500).await;
        load.is_over.store(true, Ordering::Relaxed);
        (not_ready_after, stopped.elapsed() - restarted.elapsed(), ready_after)
    };
    let (_, (not_ready_after, away, ready_after)) = tokio::join!(writers, operator);

    let outcome = load.outcome(&service, key).await;
    println!(
        "away {away:.1?}: {outcome:?}, slowest 503 {:.1?}; not ready {not_ready_after:.1?} after the stop, ready {ready_after:.1?} after the start",
        outcome.slowest_unavailable
    );
    assert!(outcome.unavailable > 0);

    let (_, page) = service.ops("/metrics").await;
    let count = |status: u16| {
        let labels = format!(
            r#"http_request_method="POST",http_route="/v1/pets",http_response_status_code="{status}""#
        );
        value(&page, &format!("http_server_request_duration_seconds_count{{{labels}}}"))
    };
    assert_eq!(count(201), outcome.acknowledged as f64);
    assert_eq!(count(503), outcome.unavailable as f64);
    assert!(page.contains(r#"database_errors_total{db_system_name="postgresql""#), "{page}");
    assert_eq!(value(&page, "store_write_queue_depth"), 0.0);
    service.stop().await;
}

/// Waits until replication to the standby is synchronous.
async fn replicated(primary: &Cluster) {
    let client = primary.client("postgres").await;
    let state = "SELECT count(*) FROM pg_stat_replication WHERE sync_state = 'sync'";
    while client.query_one(state, &[]).await.unwrap().get::<_, i64>(0) == 0 {
        sleep(Duration::from_millis(10)).await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_service_survives_a_failover_under_load() {
    let Some(primary) = Cluster::start() else { return };
    let standby = primary.standby();
    primary.configure("synchronous_standby_names = 'standby'\n").await;
    replicated(&primary).await;
    let hosts = format!("{},{}", primary.address(), standby.address());
    let database =
        format!("postgres://postgres@{hosts}/postgres?target_session_attrs=read-write&connect_timeout=60");
    let directory = WorkDir::new();
    let key = directory.run(&["key", "create", "tests", "--database", &database]).await.success();
    let key = key.trim_end();
    let service = serve(&directory, &database).await;

    let load = Load::default();
    let writers = join_all((0..WRITERS).map(|_| load.write(&service, key)));
    let operator = async {
        load.more(500).await;
        primary.kill();
        let killed = Instant::now();
        service.wait_for_readiness(503).await;
        standby.promote();
        service.wait_for_readiness(200).await;
        let away = killed.elapsed();
        load.more(500).await;
        load.is_over.store(true, Ordering::Relaxed);
        away
    };
    let (_, away) = tokio::join!(writers, operator);
    println!("away {away:.1?}: {:?}", load.outcome(&service, key).await);
    service.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn requests_time_out_while_the_server_does_not_respond() {
    let Some(cluster) = shared() else { return };
    let network = Network::to(cluster.address()).await;
    let database = cluster.url(&cluster.database("").await).replace(&cluster.address(), &network.address);
    let directory = WorkDir::new();
    let key = directory.run(&["key", "create", "tests", "--database", &database]).await.success();
    let key = key.trim_end();
    let service = serve(&directory, &database).await;
    let added = service.add(key, 10).await;
    service.wait_for_readiness(200).await;

    network.is_broken.send_replace(true);
    let send = async |number: usize| {
        let start = Instant::now();
        let response = match number % 3 {
            0 => service.post(key, &json!({ "name": "late", "categoryId": 1 })).await,
            1 => service.get(key, "/v1/pets").await,
            _ => service.get(key, "/v1/pets/1").await,
        };
        response.expect_error(503, "unavailable");
        assert_eq!(response.header("retry-after"), Some("1"));
        start.elapsed()
    };
    let waited = join_all((0..30).map(send));
    let (waited, reason) = tokio::join!(waited, service.wait_for_readiness(503));
    let slowest = waited.iter().max().unwrap();
    println!("the slowest 503 came after {slowest:.1?}");
    // Requests on open connections time out, and new connections fail.
    assert!(reason.starts_with("the store is unavailable: it "), "{reason}");

    network.is_broken.send_replace(false);
    service.wait_for_readiness(200).await;
    // Writes that were sent during the interruption may have been stored after it.
    let found: Vec<_> = service.all(key).await.iter().map(|pet| pet["id"].as_i64().unwrap()).collect();
    assert!(added.iter().all(|id| found.contains(id)) && found.len() <= 20, "{found:?}");
    service.add(key, 1).await;
    service.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_password_can_be_changed_while_the_service_runs() {
    let Some(cluster) = shared() else { return };
    let name = cluster.database("").await;
    let client = cluster.client(&name).await;
    let role = "CREATE ROLE rotated LOGIN PASSWORD 'first'; GRANT CREATE ON SCHEMA public TO rotated";
    client.batch_execute(role).await.unwrap();
    let url = |password: &str| cluster.url(&name).replace("postgres@", &format!("rotated:{password}@"));
    let directory = WorkDir::new();
    let file = directory.write("database.url", url("first"));
    fs::set_permissions(file, Permissions::from_mode(0o600)).unwrap();
    let create = ["key", "create", "tests", "--database-file", "database.url"];
    let key = directory.run(&create).await.success();
    let key = key.trim_end();
    let service = directory.serve(&["--database-file", "database.url"]).await;
    service.add(key, 1).await;

    client.batch_execute("ALTER ROLE rotated PASSWORD 'second'").await.unwrap();
    directory.write("database.url", url("second"));
    let end = "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity WHERE usename = 'rotated'";
    assert!(client.query_one(end, &[]).await.unwrap().get::<_, i64>(0) > 0);
    // A request that meets a connection that has just ended is 503.
    let animal = json!({ "name": "Rex", "categoryId": 1 });
    let served = async {
        while service.post(key, &animal).await.status != 201 {}
        while service.get(key, "/v1/pets").await.status != 200 {}
    };
    timeout(TIMEOUT, served).await.expect("new connections use the new password");
    service.stop().await;
}
