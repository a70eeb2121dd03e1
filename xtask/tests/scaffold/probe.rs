//! Looks at a scaffolded workspace from inside: what the check says of it, and what its service answers.
//!
//! Arguments: the document, then requests as `METHOD TARGET BODY`, each one argument. Prints the exit code of
//! the check, then status and body of each answer, a line each.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::path::{Path, PathBuf};
use std::time::Duration;

use animal_store::document::Document;
use animal_store::keys::commands;
use animal_store::server::{Server, ServerOptions};
use animal_store::storage::{self, StoreMetrics, StoreOptions};
use jiff::Timestamp;
use xtask::check::{Options, run};

#[tokio::main]
async fn main() {
    let mut arguments = std::env::args().skip(1);
    let spec = PathBuf::from(arguments.next().unwrap());
    let options = Options { spec: Some(spec.clone()), ..Options::default() };
    println!("{:?}", run(&options));
    let (server, key) = serve(&spec).await;
    let address = server.address();
    for request in arguments {
        let key = key.clone();
        let answer = tokio::task::spawn_blocking(move || ask(address, &key, &request)).await.unwrap();
        println!("{answer}");
    }
    server.stop(Duration::from_secs(1)).await;
}

async fn serve(spec: &Path) -> (Server, String) {
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
    let document = Document::from_yaml(&std::fs::read_to_string(spec).unwrap()).unwrap();
    (Server::start(&ServerOptions::default(), &document, store, &log).unwrap(), key)
}

fn ask(address: SocketAddr, key: &str, request: &str) -> String {
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
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    let status = answer.split(' ').nth(1).unwrap();
    let body = answer.split_once("\r\n\r\n").unwrap().1;
    format!("{status} {body}")
}
