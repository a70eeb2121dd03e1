//! A listener: binds its address, and accepts connections until it is closed.
//!
//! With the maximum number of connections open, the next ones wait in the kernel's queue: a client that is served later is
//! better off than one that is closed, and nobody who is connected loses their place.

use std::io;
use std::net::{SocketAddr, TcpListener as StdListener};
use std::sync::Arc;
use std::time::Duration;

use slog::warn;
use socket2::{SockFilter, SockRef};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinSet;
use tokio::time::{Instant, timeout};
use tokio_util::task::AbortOnDropHandle;

use super::connection::{Respond, Serving};

/// The number of connections that the kernel may accept before the service does. The kernel has a limit too:
/// `net.core.somaxconn`, 4096 by default on Linux.
const BACKLOG: i32 = 4096;
/// What the kernel may buffer for a client; it takes twice this. A slow client makes room often enough to be seen.
const SEND_BUFFER_BYTES: usize = 128 * 1024;
/// How long the listener waits when there are no file descriptors for a connection: first, and at most.
const PAUSES: [Duration; 2] = [Duration::from_millis(5), Duration::from_secs(1)];
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
    SockRef::from(&socket).listen(BACKLOG)?;
    Ok(socket)
}

/// Starts the task that accepts connections, which closes them when it ends. Returns it with the address of the listener.
/// Must be called within a tokio runtime.
///
/// # Errors
/// When the runtime rejects the socket.
pub(super) fn start<R: Respond>(
    socket: StdListener,
    inherited: bool,
    serving: Arc<Serving<R>>,
) -> io::Result<(SocketAddr, AbortOnDropHandle<()>)> {
    let address = socket.local_addr()?;
    let accept = accept(TcpListener::from_std(socket)?, inherited, serving);
    Ok((address, AbortOnDropHandle::new(tokio::spawn(accept))))
}

/// Accepts connections and serves them, until the server is closing. Then serves those that the kernel accepted before,
/// closes the socket, and waits for all connections. When this is dropped, they are closed. Those of an `inherited` socket,
/// which another process keeps open, wait there for the next process.
async fn accept<R: Respond>(socket: TcpListener, inherited: bool, serving: Arc<Serving<R>>) {
    let max = serving.max();
    serving.metrics.set_max(max);
    let mut open = JoinSet::new();
    let spawn = |open: &mut JoinSet<()>, (stream, peer): (TcpStream, SocketAddr)| {
        // The connection works without these options, too.
        let _ = stream.set_nodelay(true);
        let _ = SockRef::from(&stream).set_send_buffer_size(SEND_BUFFER_BYTES);
        open.spawn(serving.clone().serve(stream, peer.ip()));
    };
    let (mut pause, mut warned) = (PAUSES[0], None::<Instant>);
    loop {
        serving.metrics.set_open(open.len());
        let accepted = tokio::select! {
            () = serving.closing.cancelled() => break,
            Some(_) = open.join_next() => continue,
            accepted = socket.accept(), if open.len() < max => accepted,
        };
        match accepted {
            Ok(accepted) => {
                spawn(&mut open, accepted);
                pause = PAUSES[0];
            }
            Err(error) if is_of_the_client(&error) => {}
            Err(error) => {
                if warned.is_none_or(|at| at.elapsed() >= WARN_AGAIN) {
                    warn!(serving.log, "cannot accept connections"; "error" => %error);
                    warned = Some(Instant::now());
                }
                let _ = timeout(pause, serving.closing.cancelled()).await;
                pause = (2 * pause).min(PAUSES[1]);
            }
        }
    }
    if !inherited && refuse_connections(&socket).is_ok() {
        while let Ok(Ok(accepted)) = timeout(LAST_CONNECTIONS, socket.accept()).await {
            spawn(&mut open, accepted);
            while open.len() >= max && open.join_next().await.is_some() {}
        }
    }
    drop(socket);
    while open.join_next().await.is_some() {
        serving.metrics.set_open(open.len());
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
