//! What the log says about a database that fails: each cause once, the end, and the cause of each response.

use reqwest::Method;
use rusqlite::Connection;
use serde_json::{Value, json};

use kit::postgres::Cluster;
use kit::program::{Program, TIMEOUT, WorkDir};
use kit::recorder::request::RequestExt as _;

const FAILED: &str = "the database failed; further errors with this cause are only counted";
const BACK: &str = "the database is back";

/// Returns the log records with this message.
fn records(service: &Program, message: &str) -> Vec<Value> {
    let log = service.log();
    // The last line may be incomplete.
    let records = log.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
    records.filter(|record| record["body"] == message).collect()
}

/// Returns the causes of the responses that failed.
fn causes(service: &Program) -> Vec<String> {
    let failed = records(service, "response").into_iter().filter(|it| it["severity_text"] == "ERROR");
    failed.map(|record| record["animal_store.cause"].as_str().expect("a cause").to_owned()).collect()
}

async fn add(service: &Program, key: &str) -> u16 {
    let request = service.request(Method::POST, key, "/v1/pets");
    request.json(&json!({ "name": "Rex", "categoryId": 3 })).response().await.status
}

/// Adds animals until the log says that the database is back.
async fn recover(service: &Program, key: &str) {
    while records(service, BACK).is_empty() {
        add(service, key).await;
    }
}

#[tokio::test]
async fn an_outage_is_logged_once_and_its_end() {
    let directory = WorkDir::new();
    let key = directory.key().await;
    directory.write("store.toml", "lock_timeout = '1ms'\n[log]\nformat = 'json'\n");
    let service = directory.serve(&["--config", "store.toml"]).await;
    let lock = Connection::open(directory.path("animal-store.db")).unwrap();
    lock.busy_timeout(TIMEOUT).unwrap();
    lock.execute_batch("BEGIN IMMEDIATE").unwrap();
    for _ in 0..50 {
        assert_eq!(add(&service, &key).await, 503);
        // Reads do not fail, and do not end the outage.
        service.get(&key, "/v1/pets").await.expect(200);
    }
    lock.execute_batch("ROLLBACK").unwrap();
    recover(&service, &key).await;

    let failed = records(&service, FAILED);
    assert_eq!(failed.len(), 1, "{failed:?}");
    assert_eq!((&failed[0]["severity_text"], &failed[0]["doing"]), (&json!("ERROR"), &json!("write")));
    let back = records(&service, BACK);
    assert_eq!(back.len(), 1, "{back:?}");
    // The first use of the key is written too.
    let suppressed = back[0]["suppressed_errors"].as_u64().unwrap();
    assert!((49..=51).contains(&suppressed), "{back:?}");
    let away = humantime::parse_duration(back[0]["after"].as_str().unwrap()).unwrap();
    assert!(away.as_millis() >= 49, "{back:?}");
    let locked = "the store is unavailable: another process or session holds its lock";
    assert_eq!(causes(&service), vec![locked; 50]);
    service.stop().await;
}

#[tokio::test]
async fn the_end_of_an_outage_of_a_server_is_logged_and_a_failed_key_check_is_named() {
    let Some(cluster) = Cluster::start() else { return };
    let directory = WorkDir::new();
    let name = cluster.database("").await;
    let url = cluster.url(&name);
    let mut keys = Vec::new();
    for name in ["used", "unused"] {
        let created = directory.run(&["key", "create", name, "--database", &url]).await;
        keys.push(created.success().trim_end().to_owned());
    }
    directory.write("store.toml", "[log]\nformat = 'json'\n");
    let service = directory.serve(&["--config", "store.toml", "--database", &url]).await;
    assert_eq!(add(&service, &keys[0]).await, 201);
    // The use of the key is written after the response. That write must not fail.
    let client = cluster.client(&name).await;
    let used = "SELECT count(*) FROM api_key WHERE last_used IS NOT NULL";
    while client.query_one(used, &[]).await.unwrap().get::<_, i64>(0) == 0 {}
    cluster.stop();
    for _ in 0..100 {
        // No replica has this key in its cache.
        assert_eq!(add(&service, &keys[1]).await, 503);
    }
    cluster.start_server();
    recover(&service, &keys[1]).await;

    // The lost connection, and the refused ones.
    let failed = records(&service, FAILED);
    assert!((1..=6).contains(&failed.len()), "{failed:?}");
    assert!(failed.iter().all(|record| record["doing"] == "read"), "{failed:?}");
    let causes = causes(&service);
    assert!(causes.len() >= 100, "{causes:?}");
    for cause in causes {
        assert!(cause.starts_with("authentication: the store is unavailable: "), "{cause}");
    }
    let back = records(&service, BACK);
    assert!(back[0]["suppressed_errors"].as_u64().unwrap() >= 90, "{back:?}");
    service.stop().await;
}
