//! The access log: one record per response, its level by status, and sampling.

use reqwest::Method;
use rusqlite::Connection;
use rustix::process::Signal;
use serde_json::{Value, json};

use crate::program::{Program, WorkDir};
use crate::recorder::request::RequestExt as _;

/// Starts a service with a JSON log and these settings of it. Returns an API key and its identifier too.
async fn serve(directory: &WorkDir, settings: &str) -> (Program, String, String) {
    directory.write("store.toml", format!("lock_timeout = '50ms'\n[log]\nformat = 'json'\n{settings}"));
    let key = directory.key().await;
    let list = directory.run(&["key", "list"]).await.success();
    let id = list.lines().nth(1).unwrap().split_whitespace().next().unwrap().to_owned();
    (directory.serve(&["--config", "store.toml"]).await, key, id)
}

/// Stops the service. Returns its access log records.
async fn records(mut service: Program) -> Vec<Value> {
    service.signal(Signal::TERM);
    service.exit().await;
    let log = service.log();
    let records = log.lines().map(|line| serde_json::from_str::<Value>(line).expect(line));
    records.filter(|record| record["msg"] == "answered").collect()
}

/// Sends a request that fails with 503, because another connection holds the lock.
async fn fail(directory: &WorkDir, service: &Program, key: &str) {
    let lock = Connection::open(directory.path("animal-store.db")).unwrap();
    lock.execute_batch("BEGIN IMMEDIATE").unwrap();
    service.post(key, &json!({ "name": "Rex", "categoryId": 3 })).await.expect_error(503, "unavailable");
    lock.execute_batch("ROLLBACK").unwrap();
}

#[tokio::test]
async fn each_response_has_one_record() {
    let directory = WorkDir::new();
    let (service, key, id) = serve(&directory, "").await;
    let trace = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
    let get = service.request(Method::GET, &key, "/v1/pets").header("traceparent", trace).response().await;
    let request_id = get.header("x-request-id").unwrap().to_owned();
    service.get(&key, "/v1/pets/1").await.expect_error(404, "not_found");
    service.get("nonsense", "/v1/pets").await.expect_error(401, "unauthorized");
    service.get(&key, "/v1/nothing").await.expect_error(404, "not_found");
    fail(&directory, &service, &key).await;

    let records = records(service).await;
    let shown = |record: &Value| {
        ["level", "method", "route", "status", "key", "traceparent"].map(|name| record[name].clone())
    };
    let expected = [
        [json!("INFO"), json!("GET"), json!("/v1/pets"), json!(200), json!(id), json!(trace)],
        [json!("WARN"), json!("GET"), json!("/v1/pets/{petId}"), json!(404), json!(id), Value::Null],
        [json!("WARN"), json!("GET"), json!("/v1/pets"), json!(401), Value::Null, Value::Null],
        [json!("WARN"), json!("GET"), Value::Null, json!(404), Value::Null, Value::Null],
        [json!("ERRO"), json!("POST"), json!("/v1/pets"), json!(503), json!(id), Value::Null],
    ];
    assert_eq!(records.iter().map(shown).collect::<Vec<_>>(), expected);
    assert_eq!(records[0]["request_id"], request_id);
    // The request waited for the lock; SQLite counts whole milliseconds, so one may be missing.
    assert!(records[4]["latency_us"].as_u64().unwrap() >= 49_000, "{}", records[4]);
    assert!(records.iter().all(|record| record["latency_us"].as_u64().unwrap() < 60_000_000));
}

#[tokio::test]
async fn responses_other_than_server_errors_are_sampled() {
    for (one_in, kept) in [(10, 3), (0, 0)] {
        let directory = WorkDir::new();
        let (service, key, _) = serve(&directory, &format!("one_in = {one_in}\n")).await;
        for _ in 0..30 {
            service.get(&key, "/v1/pets").await.expect(200);
        }
        fail(&directory, &service, &key).await;
        fail(&directory, &service, &key).await;
        let records = records(service).await;
        let of = |status: u16| records.iter().filter(|record| record["status"] == status).count();
        assert_eq!((of(200), of(503), records.len()), (kept, 2, kept + 2), "one in {one_in}");
    }
}

#[tokio::test]
async fn a_level_omits_less_severe_records() {
    let directory = WorkDir::new();
    let (service, key, _) = serve(&directory, "level = 'error'\n").await;
    service.get(&key, "/v1/pets").await.expect(200);
    service.get("nonsense", "/v1/pets").await.expect_error(401, "unauthorized");
    fail(&directory, &service, &key).await;
    let statuses: Vec<_> = records(service).await.iter().map(|record| record["status"].clone()).collect();
    assert_eq!(statuses, [503]);
}
