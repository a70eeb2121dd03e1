//! A tap on the wire: forwards bytes between clients and a service, and shows them to a recorder.
//!
//! A proxy that speaks HTTP would be shorter, but it would make its own framing, dates and connection
//! headers, and could not pass on what is no HTTP. This one changes nothing. An answer is judged before
//! its last bytes are passed on, so whoever has read an answer can rely on its being judged.

use std::collections::VecDeque;
use std::future;
use std::io;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, PoisonError};

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

use super::Recorder;
use super::wire::{RequestLine, Requests, Response, Responses};

/// Starts a tap before the service at `upstream` and tells where it listens. It ends with the runtime.
pub async fn start(upstream: SocketAddr, recorder: Arc<Recorder>) -> io::Result<SocketAddr> {
    let listener = TcpListener::bind((upstream.ip(), 0)).await?;
    let address = listener.local_addr()?;
    tokio::spawn(async move {
        while let Ok((client, _)) = listener.accept().await {
            let recorder = Arc::clone(&recorder);
            tokio::spawn(async move {
                if let Ok(server) = TcpStream::connect(upstream).await {
                    watch(client, server, &recorder).await;
                }
            });
        }
    });
    Ok(address)
}

async fn watch(client: TcpStream, server: TcpStream, recorder: &Recorder) {
    let _ = (client.set_nodelay(true), server.set_nodelay(true));
    let conversation = Mutex::new(Conversation::default());
    let conversation = || conversation.lock().unwrap_or_else(PoisonError::into_inner);
    let (mut from_client, mut to_client) = client.into_split();
    let (mut from_server, mut to_server) = server.into_split();

    let up = async {
        let mut bytes = vec![0; 64 * 1024];
        loop {
            match from_client.read(&mut bytes).await {
                Ok(0) => {
                    let _ = to_server.shutdown().await;
                    // The client has said all; the server may not have.
                    return future::pending().await;
                }
                Ok(count) => {
                    conversation().asked(&bytes[..count]);
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
            conversation().answered(&bytes[..count], recorder);
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

/// What was asked on a connection, and what of it is not answered yet.
#[derive(Default)]
struct Conversation {
    requests: Requests,
    waiting: VecDeque<RequestLine>,
    responses: Responses,
    lost: bool,
}

impl Conversation {
    fn asked(&mut self, bytes: &[u8]) {
        self.waiting.extend(self.requests.feed(bytes));
    }

    /// No bytes means that the server has closed the connection.
    fn answered(&mut self, bytes: &[u8], recorder: &Recorder) {
        if self.lost {
            return;
        }
        let begun = usize::from(self.responses.amid_answer());
        let mut next = self.waiting.iter().skip(begun);
        let to_head = || next.next().is_some_and(|line| line.method == "HEAD");
        let answers: Result<Vec<Response>, _> = if bytes.is_empty() {
            self.responses.end().map(|last| last.into_iter().collect())
        } else {
            self.responses.feed(bytes, to_head)
        };
        match answers {
            Ok(answers) => {
                for answer in answers.iter().filter(|answer| answer.status >= 200) {
                    recorder.saw(self.waiting.pop_front().as_ref(), answer);
                }
            }
            Err(malformed) => {
                self.lost = true;
                recorder.violation(&format!("what the service sent is no HTTP: {}", malformed.0));
            }
        }
    }
}
