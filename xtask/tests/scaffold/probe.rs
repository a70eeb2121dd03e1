//! Runs a scaffolded service, and prints dropshot's document, error codes and responses.
//!
//! Arguments: the document, then requests as `METHOD TARGET BODY`, one per argument, which are sent with
//! an API key unless `anonymous` stands before them. Prints dropshot's document and the error codes in one line, then
//! status and body of each response, one per line.

use std::collections::BTreeMap;
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::path::{Path, PathBuf};
use std::time::Duration;

use animal_store::document::{Deprecation, Document};
use animal_store::http::error_code::ErrorCode;
use animal_store::keys;
use animal_store::operations;
use animal_store::server::{Listeners, Server, ServerOptions};
use animal_store::storage::{self, Migrate, PostgresOptions, StoreMetrics, StoreOptions};
use jiff::Timestamp;
use serde_json::{Value, json};
use tokio::runtime::Handle;

#[tokio::main]
async fn main() {
    let mut arguments = std::env::args().skip(1);
    let spec = PathBuf::from(arguments.next().unwrap());
    let version = "0.0.0".parse().unwrap();
    let (code, codes) = operations::api().unwrap().openapi("Probe", version).unwrap();
    let words = |codes: &Vec<ErrorCode>| codes.iter().map(|code| code.as_str()).collect::<Vec<_>>();
    let words: BTreeMap<_, _> = codes.iter().map(|(id, codes)| (id, words(codes))).collect();
    println!("{}", json!([code, words]));
    let (server, key) = serve(&spec, &code).await;
    let address = server.address();
    for request in arguments {
        let key = key.clone();
        let response = tokio::task::spawn_blocking(move || send(address, &key, &request)).await.unwrap();
        println!("{response}");
    }
    server.stop(Duration::from_secs(1)).await;
}

/// Starts a server with the operations of dropshot's document, with the dates that deprecated operations require.
async fn serve(spec: &Path, code: &Value) -> (Server, String) {
    let items = code["paths"].as_object().unwrap().values();
    let operations = items.flat_map(|item| item.as_object().unwrap().values());
    let deprecations = operations.filter(|it| it["deprecated"] == true).map(|operation| Deprecation {
        operation_id: operation["operationId"].as_str().unwrap().to_owned().leak(),
        since: 1_795_219_200,
        sunset: "Wed, 01 Jan 2031 00:00:00 GMT",
        successor: "/probe",
    });
    let deprecations = deprecations.collect::<Vec<_>>().leak();
    let document = Document { version: "0.0.0", deprecations, origin: "", files: &[] };
    let log = slog::Logger::root(slog::Discard, slog::o!());
    let store = StoreOptions {
        write_queue: 16,
        lock_timeout: Duration::from_secs(2),
        migrate: Migrate::Apply,
        version: "0.0.0",
        postgres: PostgresOptions::default(),
        log: log.clone(),
        metrics: StoreMetrics::default(),
    };
    let database = format!("sqlite:{}", spec.with_extension("db").display());
    let store = storage::open(&database, &store).await.unwrap();
    let key = keys::create(&*store, "probe", None, Timestamp::now(), None).await.unwrap().secret;
    let options = ServerOptions { request_timeout: Duration::from_secs(60), ..ServerOptions::default() };
    let listeners = Listeners::bind(&options).unwrap();
    (Server::start(&options, listeners, &document, store, &log, &Handle::current()).unwrap(), key)
}

fn send(address: SocketAddr, key: &str, request: &str) -> String {
    let (key, request) = match request.strip_prefix("anonymous ") {
        Some(request) => (String::new(), request),
        None => (format!("Authorization: Bearer {key}\r\n"), request),
    };
    let mut parts = request.splitn(3, ' ');
    let (method, target) = (parts.next().unwrap(), parts.next().unwrap());
    let body = parts.next().unwrap_or_default();
    let mut stream = TcpStream::connect(address).unwrap();
    write!(
        stream,
        "{method} {target} HTTP/1.1\r\nHost: probe\r\nConnection: close\r\n{key}If-Match: \"1\"\r\n\
         Content-Type: application/json\r\nContent-Length: {}\r\n\r\n{body}",
        body.len()
    )
    .unwrap();
    let mut response = String::new();
    stream.read_to_string(&mut response).unwrap();
    let status = response.split(' ').nth(1).unwrap();
    let body = response.split_once("\r\n\r\n").unwrap().1;
    format!("{status} {body}")
}
