//! An HTTP client that keeps one connection and reports how it ended.

use std::collections::VecDeque;
use std::io::{Error, ErrorKind, Result};
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::{Duration, Instant};

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::time::timeout;

use crate::program::TIMEOUT;
use crate::recorder::wire::Response;
use crate::recorder::{Exchange, Recorder};

/// A connection to the service without the proxy of the recorder, whose own buffers and descriptors could fill up first.
/// The client itself has each response checked.
pub struct Client {
    stream: TcpStream,
    recorder: Arc<Recorder>,
    exchange: Exchange,
    ready: VecDeque<Response>,
    key: String,
    /// Whether the last response had `Connection: close`.
    pub closing: bool,
}

impl Client {
    /// Connects. The requests carry `key`.
    pub async fn connect(address: SocketAddr, key: &str) -> Result<Self> {
        let stream = TcpStream::connect(address).await?;
        stream.set_nodelay(true)?;
        let recorder = Arc::new(Recorder::default());
        let exchange = Exchange::new(Arc::clone(&recorder));
        Ok(Self { stream, recorder, exchange, ready: VecDeque::new(), key: key.to_owned(), closing: false })
    }

    /// Sends a GET request. Returns the response.
    pub async fn get(&mut self, target: &str) -> Result<Response> {
        let request = get(target, &self.key);
        self.request(&request).await
    }

    /// Sends a request that adds an animal. Returns the response.
    pub async fn post(&mut self, body: &str) -> Result<Response> {
        let head = post_head(&self.key, body.len());
        self.request(&(head + body)).await
    }

    /// Sends a request that adds an animal, with an `Idempotency-Key`. Returns the response.
    pub async fn post_once(&mut self, body: &str, idempotency_key: &str) -> Result<Response> {
        let head = post_head(&self.key, body.len());
        let field = format!("Idempotency-Key: \"{idempotency_key}\"\r\nContent-Type:");
        self.request(&(head.replace("Content-Type:", &field) + body)).await
    }

    /// Sends bytes as they are.
    pub async fn send(&mut self, bytes: impl AsRef<[u8]>) -> Result<()> {
        self.exchange.sent(bytes.as_ref());
        timeout(TIMEOUT, self.stream.write_all(bytes.as_ref())).await.map_err(|_| timed_out())?
    }

    /// Reads the next response. Fails with [`ErrorKind::UnexpectedEof`] if the connection ends before it is complete.
    pub async fn response(&mut self) -> Result<Response> {
        let mut bytes = vec![0; 16 * 1024];
        loop {
            if let Some(response) = self.ready.pop_front() {
                self.closing =
                    response.header("connection").is_some_and(|value| value.eq_ignore_ascii_case("close"));
                return Ok(response);
            }
            let count = timeout(TIMEOUT, self.stream.read(&mut bytes)).await.map_err(|_| timed_out())??;
            if count == 0 {
                return Err(ErrorKind::UnexpectedEof.into());
            }
            self.ready.extend(self.exchange.received(&bytes[..count]));
            self.recorder.assert_no_violations();
        }
    }

    /// Requests `target` repeatedly for `duration`. Returns how long each response took.
    pub async fn response_times(&mut self, target: &str, duration: Duration) -> Vec<Duration> {
        let (start, mut times) = (Instant::now(), Vec::new());
        while start.elapsed() < duration {
            let sent = Instant::now();
            let response = self.get(target).await.expect("a response");
            assert_eq!(response.status, 200, "{}", response.text());
            times.push(sent.elapsed());
        }
        times
    }

    async fn request(&mut self, request: &str) -> Result<Response> {
        self.send(request).await?;
        self.response().await
    }
}

fn timed_out() -> Error {
    Error::new(ErrorKind::TimedOut, "no data within the time limit")
}

/// Returns a complete GET request for `target`.
pub fn get(target: &str, key: &str) -> String {
    format!("GET {target} HTTP/1.1\r\nHost: animals\r\nAuthorization: Bearer {key}\r\n\r\n")
}

/// Returns the head of a request that adds an animal, for a body of `length` bytes.
pub fn post_head(key: &str, length: usize) -> String {
    format!(
        "POST /v1/pets HTTP/1.1\r\nHost: animals\r\nAuthorization: Bearer {key}\r\n\
         Content-Type: application/json\r\nContent-Length: {length}\r\n\r\n"
    )
}
