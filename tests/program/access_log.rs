//! The access log: one record per response, and its level by status.

use std::time::Instant;

use reqwest::Method;
use rusqlite::Connection;
use rustix::process::Signal;
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

use kit::program::{Program, TIMEOUT, WorkDir};
use kit::recorder::request::RequestExt as _;

/// A service with these settings of the log, in JSON if they do not say otherwise, and a key with its identifier.
async fn serve(directory: &WorkDir, settings: &str) -> (Program, String, String) {
    let format = if settings.contains("format") { "" } else { "format = 'json'\n" };
    directory.write("store.toml", format!("lock_timeout = '50ms'\n[log]\n{format}{settings}"));
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
    records.filter(|record| record["body"] == "response").collect()
}

/// Sends a request that fails with 503, because another connection holds the lock.
async fn fail(directory: &WorkDir, service: &Program, key: &str) {
    let lock = Connection::open(directory.path("animal-store.db")).unwrap();
    // The service may still store the use of the key.
    lock.busy_timeout(TIMEOUT).unwrap();
    lock.execute_batch("BEGIN IMMEDIATE").unwrap();
    service.post(key, &json!({ "name": "Rex", "categoryId": 3 })).await.expect_error(503, "unavailable");
    lock.execute_batch("ROLLBACK").unwrap();
}

/// Makes five requests that are answered 200, 404, 401, 404 and 503, and returns the identifier of the first.
async fn five(directory: &WorkDir, service: &Program, key: &str) -> String {
    let get = service
        .request(Method::GET, key, "/v1/pets?limit=7")
        .header("traceparent", TRACE)
        .header("x-forwarded-for", "192.0.2.66, 198.51.100.7")
        .response()
        .await;
    service.get(key, "/v1/pets/1").await.expect_error(404, "not_found");
    service.get("nonsense", "/v1/pets").await.expect_error(401, "unauthorized");
    service.get(key, "/v1/nothing").await.expect_error(404, "not_found");
    fail(directory, service, key).await;
    get.header("x-request-id").unwrap().to_owned()
}

const TRACE: &str = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";

#[tokio::test]
async fn each_response_has_one_record_with_the_names_of_opentelemetry() {
    let directory = WorkDir::new();
    let (service, key, id) = serve(&directory, "").await;
    let start = Instant::now();
    let request_id = five(&directory, &service, &key).await;
    let elapsed = start.elapsed().as_secs_f64();
    let mut records = records(service).await;
    let durations: Vec<f64> = records
        .iter_mut()
        .map(|record| {
            let object = record.as_object_mut().unwrap();
            object.remove("timestamp").unwrap().as_str().unwrap().parse::<jiff::Timestamp>().unwrap();
            let ids = object.remove("http.response.header.x-request-id").unwrap();
            assert!(ids.as_array().unwrap().len() == 1 && ids[0].as_str().unwrap().len() == 36, "{ids}");
            object.insert("first".to_owned(), json!(ids[0] == *request_id));
            object.remove("http.server.request.duration").unwrap().as_f64().unwrap()
        })
        .collect();
    // The last one waited for a lock. In another unit than seconds, the sum would be larger than the time that they took.
    assert!(durations[4] > 0.0 && durations.iter().sum::<f64>() <= elapsed, "{durations:?} in {elapsed}");
    // The rest of each record, with nothing besides.
    let record = |level: &str, method: &str, path: &str, status: u16| {
        json!({
            "severity_text": level, "body": "response", "http.request.method": method, "url.path": path,
            "http.response.status_code": status, "network.peer.address": "127.0.0.1", "first": status == 200,
        })
    };
    let with = |mut record: Value, fields: Value| {
        record.as_object_mut().unwrap().extend(fields.as_object().unwrap().clone());
        record
    };
    let expected = [
        with(
            record("INFO", "GET", "/v1/pets", 200),
            json!({
                "http.route": "/v1/pets", "enduser.id": id, "trace_id": "0af7651916cd43dd8448eb211c80319c",
                "span_id": "b7ad6b7169203331", "trace_flags": "01",
                "http.request.header.x-forwarded-for": ["198.51.100.7"],
            }),
        ),
        with(
            record("INFO", "GET", "/v1/pets/1", 404),
            json!({ "http.route": "/v1/pets/{petId}", "enduser.id": id, "error.type": "not_found" }),
        ),
        with(
            record("INFO", "GET", "/v1/pets", 401),
            json!({ "http.route": "/v1/pets", "error.type": "unauthorized" }),
        ),
        with(record("INFO", "GET", "/v1/nothing", 404), json!({ "error.type": "not_found" })),
        with(
            record("ERROR", "POST", "/v1/pets", 503),
            json!({
                "http.route": "/v1/pets", "enduser.id": id, "error.type": "unavailable",
                "animal_store.cause": "the store is unavailable: another process or session holds its lock",
            }),
        ),
    ];
    assert_eq!(records, expected);
}

#[tokio::test]
async fn the_text_format_is_one_short_line_without_absent_fields() {
    let directory = WorkDir::new();
    let (service, key, id) = serve(&directory, "format = 'text'\n").await;
    let request_id = five(&directory, &service, &key).await;
    let mut service = service;
    service.signal(Signal::TERM);
    service.exit().await;
    let log = service.log();
    // Without time, duration and request identifier, whose forms are checked.
    let shown = |line: &str| -> Option<String> {
        let (time, rest) = line.split_once(' ')?;
        assert!(time.len() == 24 && time.parse::<jiff::Timestamp>().is_ok(), "{line}");
        let words = rest.split_whitespace().map(|word| match word.split_once('=') {
            Some(("request", id)) if id == request_id => "request=first",
            Some(("request", id)) if id.len() == 36 => "request=other",
            None if word.strip_suffix("ms").is_some_and(|number| number.parse::<f64>().is_ok()) => "TIME",
            _ => word,
        });
        rest.contains(" request=").then(|| words.collect::<Vec<_>>().join(" "))
    };
    let expected = [
        format!(
            "INFO GET /v1/pets 200 TIME peer=127.0.0.1 forwarded=198.51.100.7 key={id} request=first \
             trace=0af7651916cd43dd8448eb211c80319c"
        ),
        format!("INFO GET /v1/pets/1 404 TIME code=not_found peer=127.0.0.1 key={id} request=other"),
        "INFO GET /v1/pets 401 TIME code=unauthorized peer=127.0.0.1 request=other".to_owned(),
        "INFO GET /v1/nothing 404 TIME code=not_found peer=127.0.0.1 request=other".to_owned(),
        format!(
            "ERROR POST /v1/pets 503 TIME code=unavailable \
             cause=\"the store is unavailable: another process or session holds its lock\" \
             peer=127.0.0.1 key={id} request=other"
        ),
    ];
    assert_eq!(log.lines().filter_map(shown).collect::<Vec<_>>(), expected, "{log}");
}

#[tokio::test]
async fn a_key_in_a_path_is_replaced_and_a_query_is_not_logged() {
    let directory = WorkDir::new();
    let (service, key, _) = serve(&directory, "level = 'trace'\n").await;
    for target in [format!("/v1/{key}/x"), format!("/v1/pets?{key}"), format!("/v1/pets/{}", &key[4..])] {
        assert!((400..500).contains(&service.get(&key, &target).await.status));
    }
    let records = records(service).await;
    let paths: Vec<_> = records.iter().map(|record| record["url.path"].clone()).collect();
    assert_eq!(paths, ["/v1/[redacted]/x", "/v1/pets", "/v1/pets/[redacted]"]);
    assert!(!format!("{records:?}").contains(&key[4..]), "{records:?}");
}

#[tokio::test]
async fn a_level_omits_less_severe_records() {
    let directory = WorkDir::new();
    let (service, key, _) = serve(&directory, "level = 'warning'\n").await;
    service.get(&key, "/v1/pets").await.expect(200);
    service.get("nonsense", "/v1/pets").await.expect_error(401, "unauthorized");
    fail(&directory, &service, &key).await;
    let statuses: Vec<_> =
        records(service).await.iter().map(|record| record["http.response.status_code"].clone()).collect();
    assert_eq!(statuses, [503]);
}

#[tokio::test]
async fn a_key_that_was_sent_as_the_method_or_in_the_path_is_not_logged() {
    for format in ["json", "text"] {
        let directory = WorkDir::new();
        let (mut service, key, _) = serve(&directory, &format!("format = '{format}'\n")).await;
        for line in
            [format!("{key} /v1/pets"), format!("{key} /"), format!("GET /v1/{key}"), "BREW /".to_owned()]
        {
            let mut stream = TcpStream::connect(service.direct).await.unwrap();
            let request = format!("{line} HTTP/1.1\r\nHost: animals\r\nConnection: close\r\n\r\n");
            stream.write_all(request.as_bytes()).await.unwrap();
            let mut response = String::new();
            stream.read_to_string(&mut response).await.unwrap();
            assert!(response.starts_with("HTTP/1.1 40"), "{response}");
        }
        service.signal(Signal::TERM);
        service.exit().await;
        let log = service.log();
        assert!(!log.contains(&key), "{log}");
        assert_eq!(log.matches("_OTHER").count(), 3, "{log}");
    }
}
