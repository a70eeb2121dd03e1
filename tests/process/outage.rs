//! PostgreSQL goes away under load and comes back: what clients and operators see of it.

use std::collections::BTreeMap;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use futures::future::join_all;
use reqwest::Method;
use serde_json::json;
use tokio::sync::Notify;
use tokio::time::sleep;

use crate::ops::value;
use crate::postgres_cluster::network::Network;
use crate::postgres_cluster::{Cluster, shared};
use crate::program::{Place, Program};
use crate::recorder::ask::Ask as _;

const WRITERS: usize = 16;
/// With this the store alone bounds what a request takes, and a request that it does not bound is never
/// answered.
const NO_DEADLINE: &str = "request_timeout = '1h'\n";

/// Runs the service on this database.
async fn serve(place: &Place, database: &str) -> Program {
    place.write("store.toml", NO_DEADLINE);
    place.serve(&["--ops-bind", "0", "--config", "store.toml", "--database", database]).await
}

/// How long the server is away.
fn outage() -> Duration {
    let long = std::env::var_os("STORE_TESTS_LONG").is_some_and(|value| value == "1");
    Duration::from_secs(if long { 10 } else { 3 })
}

#[derive(Default)]
struct Load {
    sent: AtomicUsize,
    /// The names that were acknowledged, by identifier.
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

    /// Adds animals with names of their own until the load is over.
    async fn write(&self, service: &Program, key: &str) {
        while !self.is_over.load(Ordering::Relaxed) {
            let number = self.sent.fetch_add(1, Ordering::Relaxed);
            let name = format!("animal {number}");
            let pet = json!({ "name": name, "categoryId": 1 });
            let start = Instant::now();
            let answer = service.request(Method::POST, key, "/v1/pets").json(&pet).answer().await;
            let took = start.elapsed();
            if answer.status == 201 {
                let id = answer.expect(201)["id"].as_i64().unwrap();
                let other = self.acknowledged.lock().unwrap().insert(id, name);
                assert_eq!(other, None, "an identifier was given twice");
                self.more.notify_one();
                continue;
            }
            answer.refused(503, "unavailable");
            assert_eq!(answer.header("retry-after"), Some("1"));
            self.unavailable.lock().unwrap().push(took);
            // Less patient than it is told to be.
            sleep(Duration::from_millis(50)).await;
        }
    }

    /// Compares what the writers were told with what is there.
    async fn account(self, service: &Program, key: &str) -> Account {
        let found = service.all(key).await;
        let mut names: BTreeMap<&str, usize> = BTreeMap::new();
        for pet in &found {
            *names.entry(pet["name"].as_str().unwrap()).or_default() += 1;
        }
        let acknowledged = self.acknowledged.into_inner().unwrap();
        let unavailable = self.unavailable.into_inner().unwrap();
        let account = Account {
            sent: self.sent.into_inner(),
            acknowledged: acknowledged.len(),
            unavailable: unavailable.len(),
            slowest_unavailable: unavailable.iter().max().copied().unwrap_or_default(),
            found: found.len(),
            lost: acknowledged.values().filter(|name| !names.contains_key(name.as_str())).count(),
            doubled: names.values().filter(|count| **count > 1).count(),
        };
        assert_eq!((account.lost, account.doubled), (0, 0), "{account:?}");
        assert_eq!(account.sent, account.acknowledged + account.unavailable);
        // What was not acknowledged may be there all the same: a 503 leaves that open.
        assert!((account.acknowledged..=account.sent).contains(&account.found), "{account:?}");
        account
    }
}

/// The account of a load.
#[derive(Debug)]
struct Account {
    sent: usize,
    /// Answered 201.
    acknowledged: usize,
    /// Answered 503.
    unavailable: usize,
    slowest_unavailable: Duration,
    found: usize,
    lost: usize,
    doubled: usize,
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn postgresql_may_stop_under_load() {
    let Some(cluster) = Cluster::start() else { return };
    let database = cluster.url("postgres");
    let place = Place::new();
    let key = place.run(&["key", "create", "tests", "--database", &database]).await.printed();
    let key = key.trim_end();
    let service = serve(&place, &database).await;
    assert_eq!(service.readiness(200).await, "ready\n");

    let load = Load::default();
    let writers = join_all((0..WRITERS).map(|_| load.write(&service, key)));
    let operator = async {
        load.more(500).await;
        cluster.stop();
        let stopped = Instant::now();
        // What it says of the first moment depends on how far the server had come with its end.
        assert!(service.readiness(503).await.starts_with("the store is unavailable: "));
        let red = stopped.elapsed();
        assert_eq!(service.ops("/livez").await.0, 200);
        sleep(outage().saturating_sub(stopped.elapsed())).await;
        // On a busy machine the store may take longer to find out than readiness waits for it.
        while service.readiness(503).await != "the store is unavailable: it cannot be reached\n" {}
        cluster.boot();
        let booted = Instant::now();
        service.readiness(200).await;
        let green = booted.elapsed();
        load.more(500).await;
        load.is_over.store(true, Ordering::Relaxed);
        (red, stopped.elapsed() - booted.elapsed(), green)
    };
    let (_, (red, away, green)) = tokio::join!(writers, operator);

    let account = load.account(&service, key).await;
    println!(
        "away {away:.1?}: {account:?}, slowest 503 {:.1?}; not ready {red:.1?} after the stop, ready {green:.1?} after the start",
        account.slowest_unavailable
    );
    assert!(account.unavailable > 0);

    let (_, page) = service.ops("/metrics").await;
    let answered = |status: u16| {
        let labels = format!(
            r#"http_request_method="POST",http_route="/v1/pets",http_response_status_code="{status}""#
        );
        value(&page, &format!("http_server_request_duration_seconds_count{{{labels}}}"))
    };
    assert_eq!(answered(201), account.acknowledged as f64);
    assert_eq!(answered(503), account.unavailable as f64);
    assert!(page.contains(r#"database_errors_total{db_system_name="postgresql""#), "{page}");
    assert_eq!(value(&page, "store_write_queue_depth"), 0.0);
    service.stop().await;
}

/// Waits until the standby keeps what the primary commits.
async fn replicated(primary: &Cluster) {
    let client = primary.client("postgres").await;
    let state = "SELECT count(*) FROM pg_stat_replication WHERE sync_state = 'sync'";
    while client.query_one(state, &[]).await.unwrap().get::<_, i64>(0) == 0 {
        sleep(Duration::from_millis(10)).await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_primary_may_be_killed_and_its_standby_promoted_under_load() {
    let Some(primary) = Cluster::start() else { return };
    let standby = primary.standby();
    primary.configure("synchronous_standby_names = 'standby'\n").await;
    replicated(&primary).await;
    let hosts = format!("{},{}", primary.address(), standby.address());
    let database =
        format!("postgres://postgres@{hosts}/postgres?target_session_attrs=read-write&connect_timeout=60");
    let place = Place::new();
    let key = place.run(&["key", "create", "tests", "--database", &database]).await.printed();
    let key = key.trim_end();
    let service = serve(&place, &database).await;

    let load = Load::default();
    let writers = join_all((0..WRITERS).map(|_| load.write(&service, key)));
    let operator = async {
        load.more(500).await;
        primary.kill();
        let killed = Instant::now();
        service.readiness(503).await;
        standby.promote();
        service.readiness(200).await;
        let away = killed.elapsed();
        load.more(500).await;
        load.is_over.store(true, Ordering::Relaxed);
        away
    };
    let (_, away) = tokio::join!(writers, operator);
    println!("away {away:.1?}: {:?}", load.account(&service, key).await);
    service.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_silent_server_does_not_block_callers_forever() {
    let Some(cluster) = shared() else { return };
    let network = Network::to(cluster.address()).await;
    let database = cluster.url(&cluster.database("").await).replace(&cluster.address(), &network.address);
    let place = Place::new();
    let key = place.run(&["key", "create", "tests", "--database", &database]).await.printed();
    let key = key.trim_end();
    let service = serve(&place, &database).await;
    let added = service.add(key, 10).await;
    service.readiness(200).await;

    network.is_broken.send_replace(true);
    let ask = async |number: usize| {
        let start = Instant::now();
        let answer = match number % 3 {
            0 => service.post(key, &json!({ "name": "late", "categoryId": 1 })).await,
            1 => service.get(key, "/v1/pets").await,
            _ => service.get(key, "/v1/pets/1").await,
        };
        answer.refused(503, "unavailable");
        assert_eq!(answer.header("retry-after"), Some("1"));
        start.elapsed()
    };
    let waited = join_all((0..30).map(ask));
    let (waited, words) = tokio::join!(waited, service.readiness(503));
    let slowest = waited.iter().max().unwrap();
    println!("the slowest 503 came after {slowest:.1?}");
    // Over a connection that there was, no answer in time; no new connection either.
    assert!(words.starts_with("the store is unavailable: it "), "{words}");

    network.is_broken.send_replace(false);
    service.readiness(200).await;
    // What was sent before the silence may have arrived after it.
    let found: Vec<_> = service.all(key).await.iter().map(|pet| pet["id"].as_i64().unwrap()).collect();
    assert!(added.iter().all(|id| found.contains(id)) && found.len() <= 20, "{found:?}");
    service.add(key, 1).await;
    service.stop().await;
}
