//! Runs a scaffolded service, and prints dropshot's document and responses.
//!
//! Arguments: the document, then requests as `METHOD TARGET BODY`, one per argument. Prints dropshot's document, then
//! status and body of each response, one per line.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::path::{Path, PathBuf};
use std::time::Duration;

use animal_store::document::Document;
use animal_store::keys::commands;
use animal_store::operations;
use animal_store::server::{Server, ServerOptions};
use animal_store::storage::{self, StoreMetrics, StoreOptions};
use jiff::Timestamp;
use serde_json::{Value, json};

#[tokio::main]
async fn main() {
    let mut arguments = std::env::args().skip(1);
    let spec = PathBuf::from(arguments.next().unwrap());
    let version = "0.0.0".parse().unwrap();
    let code = operations::api().unwrap().openapi("Probe", version).json().unwrap();
    println!("{code}");
    let (server, key) = serve(&spec, code).await;
    let address = server.address();
    for request in arguments {
        let key = key.clone();
        let response = tokio::task::spawn_blocking(move || send(address, &key, &request)).await.unwrap();
        println!("{response}");
    }
    server.stop(Duration::from_secs(1)).await;
}

/// Starts a server with dropshot's document, with the dates that deprecated operations require.
async fn serve(spec: &Path, mut code: Value) -> (Server, String) {
    for item in code["paths"].as_object_mut().unwrap().values_mut() {
        for operation in item.as_object_mut().unwrap().values_mut().filter(|it| it["deprecated"] == true) {
            for (key, value) in
                [("x-deprecated-since", "2026-11-21"), ("x-sunset", "2031-01-01"), ("x-successor", "/probe")]
            {
                operation[key] = json!(value);
            }
        }
    }
    let log = slog::Logger::root(slog::Discard, slog::o!());
    let store = StoreOptions {
        write_queue: 16,
        lock_timeout: Duration::from_secs(2),
        log: log.clone(),
        metrics: StoreMetrics::default(),
    };
    let database = format!("sqlite:{}", spec.with_extension("db").display());
    let store = storage::open(&database, &store).await.unwrap();
    let key = commands::create(&*store, "probe", Timestamp::now(), None).await.unwrap().secret;
    let document = Document::from_yaml(&code.to_string()).unwrap();
    (Server::start(&ServerOptions::default(), &document, store, &log).unwrap(), key)
}

fn send(address: SocketAddr, key: &str, request: &str) -> String {
    let mut parts = request.splitn(3, ' ');
    let (method, target) = (parts.next().unwrap(), parts.next().unwrap());
    let body = parts.next().unwrap_or_default();
    let mut stream = TcpStream::connect(address).unwrap();
    write!(
        stream,
        "{method} {target} HTTP/1.1\r\nHost: probe\r\nConnection: close\r\nAuthorization: Bearer {key}\r\n\
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
