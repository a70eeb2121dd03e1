//! A TCP proxy between clients and a service that shows all bytes to a recorder.
//!
//! An HTTP proxy would be shorter, but it would change framing, dates and connection headers, and could not forward
//! malformed HTTP. This proxy changes nothing. A response is checked before its last bytes are forwarded, so when a
//! client has read a response, its violations are recorded.

use std::collections::VecDeque;
use std::future;
use std::io;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, PoisonError};

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

use super::Recorder;
use super::wire::{RequestLine, Requests, Response, Responses};

/// Starts a proxy for the service at `upstream`. Returns its address. The proxy ends with the runtime.
pub async fn start(upstream: SocketAddr, recorder: Arc<Recorder>) -> io::Result<SocketAddr> {
    let listener = TcpListener::bind((upstream.ip(), 0)).await?;
    let address = listener.local_addr()?;
    tokio::spawn(async move {
        while let Ok((client, _)) = listener.accept().await {
            let recorder = Arc::clone(&recorder);
            tokio::spawn(async move {
                if let Ok(server) = TcpStream::connect(upstream).await {
                    forward(client, server, &recorder).await;
                }
            });
        }
    });
    Ok(address)
}

async fn forward(client: TcpStream, server: TcpStream, recorder: &Recorder) {
    let _ = (client.set_nodelay(true), server.set_nodelay(true));
    let exchange = Mutex::new(Exchange::default());
    let exchange = || exchange.lock().unwrap_or_else(PoisonError::into_inner);
    let (mut from_client, mut to_client) = client.into_split();
    let (mut from_server, mut to_server) = server.into_split();

    let up = async {
        let mut bytes = vec![0; 64 * 1024];
        loop {
            match from_client.read(&mut bytes).await {
                Ok(0) => {
                    let _ = to_server.shutdown().await;
                    // The client has closed its side; the server may still send.
                    return future::pending().await;
                }
                Ok(count) => {
                    exchange().client_sent(&bytes[..count]);
                    if to_server.write_all(&bytes[..count]).await.is_err() {
                        return future::pending().await;
                    }
                }
                Err(_) => return,
            }
        }
    };
    let down = async {
        let mut bytes = vec![0; 64 * 1024];
        while let Ok(count) = from_server.read(&mut bytes).await {
            exchange().server_sent(&bytes[..count], recorder);
            if count == 0 {
                let _ = to_client.shutdown().await;
                return;
            }
            if to_client.write_all(&bytes[..count]).await.is_err() {
                return;
            }
        }
    };
    tokio::select! {
        () = up => {}
        () = down => {}
    }
}

/// The requests of a connection that have no response yet, and the state of both parsers.
#[derive(Default)]
struct Exchange {
    requests: Requests,
    waiting: VecDeque<RequestLine>,
    responses: Responses,
    malformed: bool,
}

impl Exchange {
    fn client_sent(&mut self, bytes: &[u8]) {
        self.waiting.extend(self.requests.feed(bytes));
    }

    /// Parses bytes of the server; none if it has closed the connection.
    fn server_sent(&mut self, bytes: &[u8], recorder: &Recorder) {
        if self.malformed {
            return;
        }
        let begun = usize::from(self.responses.is_partial());
        let mut next = self.waiting.iter().skip(begun);
        let to_head = || next.next().is_some_and(|line| line.method == "HEAD");
        let responses: Result<Vec<Response>, _> = if bytes.is_empty() {
            self.responses.end().map(|last| last.into_iter().collect())
        } else {
            self.responses.feed(bytes, to_head)
        };
        match responses {
            Ok(responses) => {
                for response in responses.iter().filter(|response| response.status >= 200) {
                    recorder.observe(self.waiting.pop_front().as_ref(), response);
                }
            }
            Err(malformed) => {
                self.malformed = true;
                recorder.violation(&format!("the service sent malformed HTTP: {}", malformed.0));
            }
        }
    }
}
