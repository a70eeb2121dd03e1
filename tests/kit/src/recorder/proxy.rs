//! A TCP proxy between clients and a service that shows all bytes to a recorder.
//!
//! An HTTP proxy would be shorter, but it would change framing, dates and connection headers, and could not forward
//! malformed HTTP. This proxy changes nothing. A response is checked before its last bytes are forwarded, so when a
//! client has read a response, its violations are recorded.

use std::future;
use std::io;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, PoisonError};

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

use super::{Exchange, Recorder};

/// Starts a proxy for the service at `upstream`. Returns its address. The proxy ends with the runtime.
pub async fn start(upstream: SocketAddr, recorder: Arc<Recorder>) -> io::Result<SocketAddr> {
    let listener = TcpListener::bind((upstream.ip(), 0)).await?;
    let address = listener.local_addr()?;
    tokio::spawn(async move {
        while let Ok((client, _)) = listener.accept().await {
            let recorder = Arc::clone(&recorder);
            tokio::spawn(async move {
                if let Ok(server) = TcpStream::connect(upstream).await {
                    forward(client, server, recorder).await;
                }
            });
        }
    });
    Ok(address)
}

async fn forward(client: TcpStream, server: TcpStream, recorder: Arc<Recorder>) {
    let _ = (client.set_nodelay(true), server.set_nodelay(true));
    let exchange = Mutex::new(Exchange::new(recorder));
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
                    exchange().sent(&bytes[..count]);
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
            drop(exchange().received(&bytes[..count]));
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
