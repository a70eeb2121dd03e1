//! The public listener: binds its address, and accepts connections until it is closed.

use std::io;
use std::net::{SocketAddr, TcpListener as StdListener};
use std::sync::Arc;
use std::time::Duration;

use rustix::net::listen;
use slog::{Logger, warn};
use socket2::{SockFilter, SockRef, TcpKeepalive};
use tokio::net::TcpListener;
use tokio::time::{Instant, sleep, timeout};
use tokio_util::sync::CancellationToken;

use super::connection::Phase;
use super::serving::{Serving, serve};
use super::socket::split;

/// The number of connections that the kernel may accept before the service does. The kernel has a limit too:
/// `net.core.somaxconn`, 4096 by default on Linux.
const BACKLOG: i32 = 4096;
/// After this time without traffic, the kernel asks whether the client is still there.
const KEEP_ALIVE: Duration = Duration::from_secs(60);
/// How long the service waits for file descriptors, if there are none for a connection.
const RETRY: Duration = Duration::from_millis(100);
/// How often the log says so.
const WARN_AGAIN: Duration = Duration::from_secs(10);
/// How long a closing listener must have no connection. In this time, the last packets of connections arrive
/// that the kernel has promised to clients.
const LAST_CONNECTIONS: Duration = Duration::from_millis(50);

/// Binds an address.
///
/// # Errors
/// When it cannot be bound.
pub(super) fn bind(address: SocketAddr) -> io::Result<StdListener> {
    let socket = StdListener::bind(address)?;
    // The standard library sets a shorter queue; Linux accepts a new length.
    listen(&socket, BACKLOG)?;
    Ok(socket)
}

/// Accepts connections and serves them, until `closing` is cancelled. Then connections that the kernel accepted before are
/// still served. Those of an `inherited` socket wait there for the next process.
pub(super) async fn accept(
    socket: TcpListener,
    inherited: bool,
    serving: Arc<Serving>,
    closing: CancellationToken,
    log: Logger,
) {
    let mut warned: Option<Instant> = None;
    let mut last_connections = false;
    loop {
        let accepted = tokio::select! {
            accepted = socket.accept() => accepted,
            () = closing.cancelled(), if !last_connections => {
                if inherited || refuse_connections(&socket).is_err() {
                    return;
                }
                last_connections = true;
                continue;
            }
            () = sleep(LAST_CONNECTIONS), if last_connections => return,
        };
        let (stream, peer) = match accepted {
            Ok(accepted) => accepted,
            Err(error) if is_of_the_client(&error) => continue,
            Err(error) => {
                if warned.is_none_or(|at| at.elapsed() >= WARN_AGAIN) {
                    warn!(log, "cannot accept connections"; "error" => %error);
                    warned = Some(Instant::now());
                }
                let _ = timeout(RETRY, closing.cancelled()).await;
                continue;
            }
        };
        let phase = if serving.tls.is_some() { Phase::Handshake } else { Phase::New };
        // Without these options, the connection works too.
        let _ = stream.set_nodelay(true);
        let _ = SockRef::from(&stream).set_tcp_keepalive(&TcpKeepalive::new().with_time(KEEP_ALIVE));
        let (socket, observed) = split(stream);
        let Some(registered) = serving.connections.register(phase, observed) else { continue };
        tokio::spawn(serve(serving.clone(), socket, peer.ip(), registered));
    }
}

/// Whether the client closed the connection before it was accepted.
fn is_of_the_client(error: &io::Error) -> bool {
    use io::ErrorKind::{ConnectionAborted, ConnectionReset, Interrupted};
    matches!(error.kind(), ConnectionAborted | ConnectionReset | Interrupted)
}

/// Makes the kernel ignore new connections. When a listening socket closes, the kernel resets the connections
/// that were not accepted; a client whose connection was ignored tries again, and finds the port closed.
fn refuse_connections(socket: &TcpListener) -> io::Result<()> {
    // A classic BPF program over the TCP header (Linux, networking/filter): drops segments with SYN.
    const LOAD_BYTE: u16 = 0x30;
    const JUMP_IF_SET: u16 = 0x45;
    const RETURN: u16 = 0x06;
    const FLAGS_OFFSET: u32 = 13;
    const SYN: u32 = 0x02;
    SockRef::from(socket).attach_filter(&[
        SockFilter::new(LOAD_BYTE, 0, 0, FLAGS_OFFSET),
        SockFilter::new(JUMP_IF_SET, 0, 1, SYN),
        SockFilter::new(RETURN, 0, 0, 0),
        SockFilter::new(RETURN, 0, 0, u32::MAX),
    ])
}
