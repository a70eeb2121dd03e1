//! Socket activation: the listening socket outlives the process, so a restart under load loses no request.

use std::net::{SocketAddr, TcpListener, UdpSocket};
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixListener;
use std::process::Stdio;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use futures::future::join_all;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::process::Command;
use tokio::sync::Notify;

use kit::program::{WorkDir, patient};

const CLIENTS: usize = 16;
const RESTARTS: usize = 3;
/// The number of responses between two restarts.
const RESPONSES: usize = 400;

/// Passes a descriptor like a service manager, but as standard input instead of 3: of the processes that other tests start
/// at the same time, none inherits it.
fn activate(command: &mut Command, descriptor: impl Into<OwnedFd>) {
    patient(command);
    command.stdin(Stdio::from(descriptor.into())).env("LISTEN_FDS", "1").env("LISTEN_FDS_FIRST_FD", "0");
}

#[derive(Default)]
struct Load {
    responses: AtomicUsize,
    response: Notify,
    stop: AtomicBool,
}

impl Load {
    /// Adds animals, and opens a new connection when the service closes one. Returns the number of animals.
    async fn add(&self, address: SocketAddr, key: &str) -> usize {
        let body = r#"{"name":"Rex","categoryId":3}"#;
        let request = format!(
            "POST /v1/pets HTTP/1.1\r\nHost: animals\r\nAuthorization: Bearer {key}\r\n\
             Content-Type: application/json\r\nContent-Length: {}\r\n\r\n{body}",
            body.len()
        );
        let mut added = 0;
        while !self.stop.load(Ordering::Relaxed) {
            let mut stream = TcpStream::connect(address).await.expect("a connection");
            while !self.stop.load(Ordering::Relaxed) {
                stream.write_all(request.as_bytes()).await.expect("a request that is read");
                let head = response(&mut stream).await;
                assert!(head.starts_with("HTTP/1.1 201 "), "{head}");
                added += 1;
                self.responses.fetch_add(1, Ordering::Relaxed);
                self.response.notify_one();
                if head.to_ascii_lowercase().contains("\r\nconnection: close\r\n") {
                    break;
                }
            }
        }
        added
    }

    async fn wait_for(&self, responses: usize) {
        let target = self.responses.load(Ordering::Relaxed) + responses;
        while self.responses.load(Ordering::Relaxed) < target {
            self.response.notified().await;
        }
    }
}

/// Reads a response with a `Content-Length`. Returns its head.
async fn response(stream: &mut TcpStream) -> String {
    let mut bytes = Vec::new();
    loop {
        assert!(stream.read_buf(&mut bytes).await.expect("a response") > 0, "closed without a response");
        let text = String::from_utf8_lossy(&bytes);
        let Some((head, body)) = text.split_once("\r\n\r\n") else { continue };
        let length = head.split_once("content-length: ").and_then(|(_, rest)| rest.lines().next());
        if length.and_then(|length| length.parse().ok()) == Some(body.len()) {
            return head.to_owned() + "\r\n";
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn restarts_under_load_lose_no_request() {
    let directory = WorkDir::new();
    let key = directory.key().await;
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let mut service =
        directory.serve_at(&[], |command| activate(command, listener.try_clone().unwrap())).await;
    assert_eq!(service.direct, address);
    let load = Load::default();
    let clients = join_all((0..CLIENTS).map(|_| load.add(address, &key)));
    let restarts = async {
        for _ in 0..RESTARTS {
            load.wait_for(RESPONSES).await;
            service.stop().await;
            service =
                directory.serve_at(&[], |command| activate(command, listener.try_clone().unwrap())).await;
        }
        load.wait_for(RESPONSES).await;
        load.stop.store(true, Ordering::Relaxed);
        service
    };
    let (added, service) = tokio::join!(clients, restarts);
    let added: usize = added.into_iter().sum();
    assert_eq!(service.all(&key).await.len(), added);
    println!("{RESTARTS} restarts, {CLIENTS} clients: {added} requests sent, {added} answered, 0 failed");
    service.stop().await;
}

/// Checks that `serve` rejects a descriptor and creates no file.
async fn is_rejected(descriptor: impl Into<OwnedFd>, why: &str) {
    let directory = WorkDir::new();
    let line = directory.run_changed(&["serve"], |command| activate(command, descriptor)).await.failure();
    let expected = "expected ListenStream= with a TCP address, and Accept=no";
    assert!(line.contains("socket 0 from the service manager") && line.contains(why), "{line}");
    assert!(line.contains(expected), "{line}");
    assert_eq!(directory.files(), []);
}

#[tokio::test]
async fn descriptors_of_another_kind_are_rejected() {
    is_rejected(tempfile::tempfile().unwrap(), "is not a socket").await;
    is_rejected(UdpSocket::bind("127.0.0.1:0").unwrap(), "is not a valid tcp socket").await;
    let directory = WorkDir::new();
    is_rejected(UnixListener::bind(directory.path("socket")).unwrap(), "is not a valid tcp socket").await;
    // What `Accept=yes` passes.
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let _client = std::net::TcpStream::connect(listener.local_addr().unwrap()).unwrap();
    is_rejected(listener.accept().unwrap().0, "it does not listen").await;
}

#[tokio::test]
async fn a_third_socket_is_rejected() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let three = |command: &mut Command| {
        activate(command, listener);
        command.env("LISTEN_FDS", "3");
    };
    let line = WorkDir::new().run_changed(&["serve"], three).await.failure();
    assert!(line.contains("there are only two listeners, of clients and of operators"), "{line}");
}
