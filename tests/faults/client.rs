//! A client that stays with its connection, and tells how the connection ended.

use std::collections::VecDeque;
use std::io::{Error, ErrorKind, Result};
use std::net::SocketAddr;
use std::time::{Duration, Instant};

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::time::timeout;

use crate::recorder::wire::{Response, Responses};

/// The longest that anything may take; no test waits so long unless it fails.
const PATIENCE: Duration = Duration::from_secs(60);

/// A connection straight to the service; a tap would be one more thing that can be full.
pub struct Client {
    stream: TcpStream,
    responses: Responses,
    ready: VecDeque<Response>,
    key: String,
    /// Whether the service has said that this connection ends.
    pub over: bool,
}

impl Client {
    pub async fn connect(address: SocketAddr, key: &str) -> Result<Self> {
        let stream = TcpStream::connect(address).await?;
        stream.set_nodelay(true)?;
        let (responses, ready) = (Responses::default(), VecDeque::new());
        Ok(Self { stream, responses, ready, key: key.to_owned(), over: false })
    }

    pub async fn get(&mut self, target: &str) -> Result<Response> {
        let request = get(target, &self.key);
        self.ask(&request).await
    }

    pub async fn post(&mut self, body: &str) -> Result<Response> {
        let head = post_head(&self.key, body.len());
        self.ask(&(head + body)).await
    }

    /// Sends bytes as they are.
    pub async fn send(&mut self, bytes: impl AsRef<[u8]>) -> Result<()> {
        timeout(PATIENCE, self.stream.write_all(bytes.as_ref())).await.map_err(|_| late())?
    }

    /// The next answer; [`ErrorKind::UnexpectedEof`] if the connection ends without a byte of one.
    pub async fn answer(&mut self) -> Result<Response> {
        let mut bytes = vec![0; 16 * 1024];
        loop {
            if let Some(answer) = self.ready.pop_front() {
                self.over =
                    answer.header("connection").is_some_and(|value| value.eq_ignore_ascii_case("close"));
                return Ok(answer);
            }
            let count = timeout(PATIENCE, self.stream.read(&mut bytes)).await.map_err(|_| late())??;
            if count == 0 {
                return Err(ErrorKind::UnexpectedEof.into());
            }
            let fed = self.responses.feed(&bytes[..count], || false);
            self.ready.extend(fed.map_err(|malformed| Error::new(ErrorKind::InvalidData, malformed.0))?);
        }
    }

    /// Asks for `target` again and again for so long, and tells how long each answer took.
    pub async fn paced(&mut self, target: &str, how_long: Duration) -> Vec<Duration> {
        let (start, mut times) = (Instant::now(), Vec::new());
        while start.elapsed() < how_long {
            let asked = Instant::now();
            let answer = self.get(target).await.expect("an answer");
            assert_eq!(answer.status, 200, "{}", answer.text());
            times.push(asked.elapsed());
        }
        times
    }

    async fn ask(&mut self, request: &str) -> Result<Response> {
        self.send(request).await?;
        self.answer().await
    }
}

fn late() -> Error {
    Error::new(ErrorKind::TimedOut, "nothing came in time")
}

/// A whole request for `target`.
pub fn get(target: &str, key: &str) -> String {
    format!("GET {target} HTTP/1.1\r\nHost: animals\r\nAuthorization: Bearer {key}\r\n\r\n")
}

/// The head of a request to add an animal of so many bytes.
pub fn post_head(key: &str, length: usize) -> String {
    format!(
        "POST /v1/pets HTTP/1.1\r\nHost: animals\r\nAuthorization: Bearer {key}\r\n\
         Content-Type: application/json\r\nContent-Length: {length}\r\n\r\n"
    )
}
