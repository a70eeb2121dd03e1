//! A network that may break between a server and its clients.

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;

/// A way to a server that may break: connections stay open and new ones are taken, but nothing gets through.
pub(crate) struct Network {
    /// Where clients of the server are to connect to.
    pub(crate) address: String,
    /// Whether nothing gets through.
    pub(crate) is_broken: watch::Sender<bool>,
}

impl Network {
    pub(crate) async fn to(server: String) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap().to_string();
        let (is_broken, broken) = watch::channel(false);
        tokio::spawn(async move {
            while let Ok((here, _)) = listener.accept().await {
                let (server, broken) = (server.clone(), broken.clone());
                tokio::spawn(async move {
                    whole(&broken).await;
                    let Ok(there) = TcpStream::connect(server).await else { return };
                    let (here_in, here_out) = here.into_split();
                    let (there_in, there_out) = there.into_split();
                    tokio::join!(pass(here_in, there_out, broken.clone()), pass(there_in, here_out, broken));
                });
            }
        });
        Self { address, is_broken }
    }
}

/// Waits until the network is not broken.
async fn whole(broken: &watch::Receiver<bool>) {
    let _ = broken.clone().wait_for(|broken| !broken).await;
}

async fn pass(
    mut from: tokio::net::tcp::OwnedReadHalf,
    mut to: tokio::net::tcp::OwnedWriteHalf,
    broken: watch::Receiver<bool>,
) {
    let mut bytes = vec![0; 1 << 16];
    while let Ok(count @ 1..) = from.read(&mut bytes).await {
        whole(&broken).await;
        if to.write_all(&bytes[..count]).await.is_err() {
            return;
        }
    }
}
