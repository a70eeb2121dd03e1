//! A TCP connection that sends arbitrary bytes, for requests that a client library would not send.

use std::collections::VecDeque;
use std::net::SocketAddr;
use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::time::timeout;

use kit::recorder::wire::{Response, Responses};

/// The time limit of each read and write.
const TIMEOUT: Duration = Duration::from_secs(60);

/// A connection. Send one request at a time, or pipelined requests without HEAD.
pub struct Raw {
    stream: TcpStream,
    key: String,
    responses: Responses,
    ready: VecDeque<Response>,
    to_head: bool,
}

impl Raw {
    /// Connects. [`Self::head`] sends `key`.
    pub async fn connect(address: SocketAddr, key: &str) -> Self {
        let stream = TcpStream::connect(address).await.expect("a connection");
        stream.set_nodelay(true).expect("an option of the connection");
        let (responses, ready) = (Responses::default(), VecDeque::new());
        Self { stream, key: key.to_owned(), responses, ready, to_head: false }
    }

    /// Sends bytes unchanged.
    pub async fn send(&mut self, bytes: impl AsRef<[u8]>) -> &mut Self {
        self.try_send(bytes).await.expect("the connection is open");
        self
    }

    /// Sends bytes. Fails if the peer has closed the connection.
    pub async fn try_send(&mut self, bytes: impl AsRef<[u8]>) -> std::io::Result<()> {
        let sent = timeout(TIMEOUT, self.stream.write_all(bytes.as_ref())).await;
        sent.expect("the peer reads within the time limit")
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

    /// Closes the sending side of the connection.
    pub async fn finish(&mut self) -> &mut Self {
        self.stream.shutdown().await.expect("the sending side is open");
        self
    }

    /// Returns the next response, which may be an informational one.
    pub async fn response(&mut self) -> Response {
        self.next().await.expect("a response before the end of the connection")
    }

    /// Returns whether the server closes the connection without another response.
    pub async fn ends(&mut self) -> bool {
        self.next().await.is_none()
    }

    /// Reads and discards everything until the server closes the connection.
    pub async fn closed(&mut self) {
        let mut bytes = Vec::new();
        // A reset ends the connection too.
        let _ = timeout(TIMEOUT, self.stream.read_to_end(&mut bytes))
            .await
            .expect("the end within the time limit");
    }

    async fn next(&mut self) -> Option<Response> {
        let mut bytes = vec![0; 64 * 1024];
        loop {
            if let Some(response) = self.ready.pop_front() {
                return Some(response);
            }
            let read = timeout(TIMEOUT, self.stream.read(&mut bytes))
                .await
                .expect("a response within the time limit");
            // A reset ends the connection too.
            let count = read.unwrap_or(0);
            if count == 0 {
                return self.responses.end().expect("HTTP");
            }
            let to_head = self.to_head;
            self.ready.extend(self.responses.feed(&bytes[..count], || to_head).expect("HTTP"));
        }
    }
}
