//! A TCP forwarder that can simulate a network partition.

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;

/// A forwarder to a server. While it is broken, connections are accepted and stay open, but no bytes are forwarded.
pub struct Network {
    /// The address for clients of the server.
    pub address: String,
    /// Whether forwarding is interrupted.
    pub is_broken: watch::Sender<bool>,
    /// Whether nothing is forwarded on new connections.
    pub is_refusing: watch::Sender<bool>,
    /// Whether the server gets no more bytes of connections that change their settings, as new ones do after the
    /// handshake.
    pub is_stalling: watch::Sender<bool>,
    /// The number of connections that clients have open.
    pub open: watch::Sender<usize>,
}

impl Network {
    /// Starts a forwarder to this address.
    pub async fn to(server: String) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap().to_string();
        let (is_broken, broken) = watch::channel(false);
        let (is_refusing, refusing) = watch::channel(false);
        let (is_stalling, stalling) = watch::channel(false);
        let open = watch::Sender::new(0);
        let counted = open.clone();
        tokio::spawn(async move {
            while let Ok((client, _)) = listener.accept().await {
                let (server, broken, refusing) = (server.clone(), broken.clone(), refusing.clone());
                let stalling = stalling.clone();
                let open = counted.clone();
                open.send_modify(|count| *count += 1);
                tokio::spawn(async move {
                    not_broken(&refusing).await;
                    not_broken(&broken).await;
                    let Ok(upstream) = TcpStream::connect(server).await else { return };
                    let (client_in, client_out) = client.into_split();
                    let (upstream_in, upstream_out) = upstream.into_split();
                    let requests = async {
                        forward(client_in, upstream_out, broken.clone(), Some(stalling)).await;
                        open.send_modify(|count| *count -= 1);
                    };
                    tokio::join!(requests, forward(upstream_in, client_out, broken.clone(), None));
                });
            }
        });
        Self { address, is_broken, is_refusing, is_stalling, open }
    }
}

/// Waits until forwarding is not interrupted.
async fn not_broken(broken: &watch::Receiver<bool>) {
    let _ = broken.clone().wait_for(|broken| !broken).await;
}

async fn forward(
    mut from: tokio::net::tcp::OwnedReadHalf,
    mut to: tokio::net::tcp::OwnedWriteHalf,
    broken: watch::Receiver<bool>,
    stalling: Option<watch::Receiver<bool>>,
) {
    const SETTINGS: &[u8] = b"set_config";
    let mut bytes = vec![0; 1 << 16];
    let mut stalls = false;
    while let Ok(count @ 1..) = from.read(&mut bytes).await {
        let has_settings = bytes[..count].windows(SETTINGS.len()).any(|part| part == SETTINGS);
        stalls |= has_settings && stalling.as_ref().is_some_and(|stalling| *stalling.borrow());
        if stalls {
            continue;
        }
        not_broken(&broken).await;
        if to.write_all(&bytes[..count]).await.is_err() {
            return;
        }
    }
}
