//! A connection to write bytes to, for what a client library would not send.

use std::collections::VecDeque;
use std::net::SocketAddr;
use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::time::timeout;

use crate::recorder::wire::{Response, Responses};

/// The longest that anything may take; no test waits so long unless it fails.
const PATIENCE: Duration = Duration::from_secs(20);

/// A connection. What is sent over it must be one request at a time, or a series without HEAD.
pub struct Raw {
    stream: TcpStream,
    key: String,
    responses: Responses,
    ready: VecDeque<Response>,
    to_head: bool,
}

impl Raw {
    /// Connects. `key` is what [`Self::head`] sends.
    pub async fn connect(address: SocketAddr, key: &str) -> Self {
        let stream = TcpStream::connect(address).await.expect("a connection");
        stream.set_nodelay(true).expect("an option of the connection");
        let (responses, ready) = (Responses::default(), VecDeque::new());
        Self { stream, key: key.to_owned(), responses, ready, to_head: false }
    }

    /// Sends bytes as they are.
    pub async fn send(&mut self, bytes: impl AsRef<[u8]>) -> &mut Self {
        self.try_send(bytes).await.expect("bytes are taken");
        self
    }

    /// Sends bytes, unless the other side has closed.
    pub async fn try_send(&mut self, bytes: impl AsRef<[u8]>) -> std::io::Result<()> {
        let sent = timeout(PATIENCE, self.stream.write_all(bytes.as_ref())).await;
        sent.expect("bytes are taken in time")
    }

    /// Sends the head of a request with a `Host`, the key, and `fields`, each of which ends in CRLF.
    pub async fn head(&mut self, line: &str, fields: &str) -> &mut Self {
        let key = format!("Authorization: Bearer {}\r\n", self.key);
        self.head_without_key(line, &(key + fields)).await
    }

    /// Sends the head of a request with a `Host` and `fields`, each of which ends in CRLF.
    pub async fn head_without_key(&mut self, line: &str, fields: &str) -> &mut Self {
        self.to_head = line.starts_with("HEAD ");
        self.send(format!("{line} HTTP/1.1\r\nHost: animals\r\n{fields}\r\n")).await
    }

    /// Says that nothing more will be sent.
    pub async fn finish(&mut self) -> &mut Self {
        self.stream.shutdown().await.expect("half a close");
        self
    }

    /// The next answer, informational ones included.
    pub async fn response(&mut self) -> Response {
        self.next().await.expect("an answer, not the end of the connection")
    }

    /// Whether the server closes the connection without another answer.
    pub async fn ends(&mut self) -> bool {
        self.next().await.is_none()
    }

    /// Reads until the server closes the connection, whatever it sends.
    pub async fn closed(&mut self) {
        let mut bytes = Vec::new();
        // A reset is an end as well.
        let _ = timeout(PATIENCE, self.stream.read_to_end(&mut bytes)).await.expect("an end in time");
    }

    async fn next(&mut self) -> Option<Response> {
        let mut bytes = vec![0; 64 * 1024];
        loop {
            if let Some(response) = self.ready.pop_front() {
                return Some(response);
            }
            let read = timeout(PATIENCE, self.stream.read(&mut bytes)).await.expect("an answer in time");
            // A reset is an end as well.
            let count = read.unwrap_or(0);
            if count == 0 {
                return self.responses.end().expect("HTTP");
            }
            let to_head = self.to_head;
            self.ready.extend(self.responses.feed(&bytes[..count], || to_head).expect("HTTP"));
        }
    }
}
