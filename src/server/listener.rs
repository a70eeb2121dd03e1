//! A listener: binds its address, and accepts connections until it is closed.

use std::io;
use std::net::{SocketAddr, TcpListener as StdListener};
use std::sync::Arc;
use std::time::Duration;

use rustls::ServerConfig;
use slog::{Logger, warn};
use socket2::{Domain, SockRef, Socket, TcpKeepalive, Type};
use tokio::net::TcpListener;
use tokio::sync::watch;
use tokio::time::{Instant, sleep, timeout};
use tokio_util::task::AbortOnDropHandle;

use super::connection::Phase;
use super::connections::Connections;
use super::serving::{Serving, serve};
use super::socket::split;
use crate::http::router::Router;

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

/// A listening socket.
pub(super) struct Listener {
    socket: StdListener,
    address: SocketAddr,
    /// Whether another process keeps it open: then connections wait there for the next process.
    inherited: bool,
}

impl Listener {
    /// Binds an address.
    ///
    /// # Errors
    /// When it cannot be bound.
    pub(super) fn bind(address: SocketAddr) -> io::Result<Self> {
        let socket = Socket::new(Domain::for_address(address), Type::STREAM, None)?;
        // As the standard library does: without it, a restart would wait for old connections.
        socket.set_reuse_address(true)?;
        socket.bind(&address.into())?;
        socket.listen(BACKLOG)?;
        Self::new(socket.into(), false)
    }

    /// Uses a socket that a service manager opened.
    ///
    /// # Errors
    /// When it is not a TCP socket.
    pub(super) fn inherited(socket: StdListener) -> io::Result<Self> {
        Self::new(socket, true)
    }

    fn new(socket: StdListener, inherited: bool) -> io::Result<Self> {
        socket.set_nonblocking(true)?;
        let address = socket.local_addr()?;
        Ok(Self { socket, address, inherited })
    }

    /// Returns the socket for the runtime, and its address.
    ///
    /// # Errors
    /// When the runtime rejects the socket.
    pub(super) fn into_tokio(self) -> io::Result<(TcpListener, SocketAddr)> {
        Ok((TcpListener::from_std(self.socket)?, self.address))
    }
}

/// A listener that accepts connections.
pub(super) struct Accepting {
    pub(super) address: SocketAddr,
    pub(super) connections: Arc<Connections>,
    tls: Option<watch::Sender<Arc<ServerConfig>>>,
    close: watch::Sender<bool>,
    task: AbortOnDropHandle<()>,
}

impl Accepting {
    /// Accepts connections and serves them with `router`. Must be called within a tokio runtime.
    ///
    /// # Errors
    /// When the runtime rejects the socket.
    pub(super) fn start(
        listener: Listener,
        tls: Option<ServerConfig>,
        connections: Arc<Connections>,
        router: Router,
        log: Logger,
    ) -> io::Result<Self> {
        let inherited = listener.inherited;
        let (socket, address) = listener.into_tokio()?;
        let tls = tls.map(|config| watch::Sender::new(Arc::new(config)));
        let (close, closed) = watch::channel(false);
        let serving = Arc::new(Serving::new(router, connections.clone()));
        let certificate = tls.as_ref().map(watch::Sender::subscribe);
        let accept = accept(socket, inherited, certificate, serving, log, closed);
        let task = AbortOnDropHandle::new(tokio::spawn(accept));
        Ok(Self { address, connections, tls, close, task })
    }

    pub(super) fn uses_tls(&self) -> bool {
        self.tls.is_some()
    }

    /// Sets the certificate of new connections.
    pub(super) fn set_tls(&self, config: ServerConfig) {
        if let Some(tls) = &self.tls {
            tls.send_replace(Arc::new(config));
        }
    }

    /// Stops accepting connections. A connection that the kernel accepted before is served.
    pub(super) async fn close(&mut self) {
        self.close.send_replace(true);
        // It does not panic, and is not cancelled.
        let _ = (&mut self.task).await;
    }
}

async fn accept(
    socket: TcpListener,
    inherited: bool,
    tls: Option<watch::Receiver<Arc<ServerConfig>>>,
    serving: Arc<Serving>,
    log: Logger,
    mut closed: watch::Receiver<bool>,
) {
    let mut warned: Option<Instant> = None;
    let mut last_connections = false;
    loop {
        let accepted = tokio::select! {
            accepted = socket.accept() => accepted,
            _ = closed.wait_for(|closed| *closed), if !last_connections => {
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
                let _ = timeout(RETRY, closed.wait_for(|closed| *closed)).await;
                continue;
            }
        };
        let phase = if tls.is_some() { Phase::Handshake } else { Phase::New };
        // Without these options, the connection works too.
        let _ = stream.set_nodelay(true);
        let _ = SockRef::from(&stream).set_tcp_keepalive(&TcpKeepalive::new().with_time(KEEP_ALIVE));
        let (socket, observed) = split(stream);
        let Some(registered) = serving.connections.register(phase, observed) else { continue };
        let tls = tls.as_ref().map(|tls| tls.borrow().clone());
        tokio::spawn(serve(serving.clone(), socket, peer.ip(), tls, registered));
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
    use socket2::SockFilter;
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
