//! PostgreSQL becomes unavailable under load and recovers: what clients and operators see.

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt as _;
use std::time::Instant;

use futures::future::join_all;
use serde_json::json;
use tokio::time::timeout;

use crate::ops::value;
use kit::ledger::Ledger;
use kit::postgres::network::Network;
use kit::postgres::{Cluster, shared};
use kit::program::{Program, TIMEOUT, WorkDir};

const WRITERS: usize = 16;
/// Disables the time limit of requests, so that only the store limits how long a request takes. A request without
/// such a limit fails the test by its timeout.
const NO_DEADLINE: &str = "request_timeout = '1h'\n";

/// Starts the service on this database.
async fn serve(directory: &WorkDir, database: &str) -> Program {
    directory.write("store.toml", NO_DEADLINE);
    directory.serve(&["--ops-bind", "127.0.0.1:0", "--config", "store.toml", "--database", database]).await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_service_recovers_after_postgresql_was_stopped_and_killed_under_load() {
    let Some(cluster) = Cluster::start() else { return };
    let database = cluster.url("postgres");
    let directory = WorkDir::new();
    let key = directory.run(&["key", "create", "tests", "--database", &database]).await.success();
    let key = key.trim_end();
    let service = serve(&directory, &database).await;
    assert!(service.wait_for_readiness(200).await.starts_with("ready: "));

    let ledger = Ledger::default();
    let operator = async {
        ledger.acknowledged(500).await;
        cluster.stop();
        // The reason depends on how far the server's shutdown has got.
        assert!(service.wait_for_readiness(503).await.starts_with("the store is unavailable: "));
        assert_eq!(service.ops("/livez").await.0, 200);
        ledger.unavailable(WRITERS).await;
        // On a busy machine the store may notice later than the readiness check waits.
        service.wait_for_unreadiness("the store is unavailable: it cannot be reached\n").await;
        cluster.start_server();
        service.wait_for_readiness(200).await;
        ledger.acknowledged(500).await;

        cluster.kill();
        cluster.start_server();
        service.wait_for_readiness(200).await;
        ledger.acknowledged(500).await;
        ledger.stop();
    };
    tokio::join!(ledger.write(WRITERS, service.direct, key), operator);
    let compared = ledger.compare(&service.all(key).await);

    let (_, page) = service.ops("/metrics").await;
    let count = |status: u16| {
        let labels = format!(
            r#"http_request_method="POST",http_route="/v1/pets",http_response_status_code="{status}""#
        );
        value(&page, &format!("http_server_request_duration_seconds_count{{{labels}}}"))
    };
    assert_eq!(count(201), compared.acknowledged as f64);
    assert_eq!(count(503), compared.unknown as f64);
    assert!(page.contains(r#"database_errors_total{db_system_name="postgresql""#), "{page}");
    assert_eq!(value(&page, "store_write_queue_depth"), 0.0);
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
