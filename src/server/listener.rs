//! A listener: binds its address, and accepts connections until it is closed.
//!
//! With the maximum number of connections open, the next ones wait in the kernel's queue: a client that is served later
//! is better off than one that is closed, and connected clients keep their place.

use std::io;
use std::net::{SocketAddr, TcpListener as StdListener};
use std::sync::Arc;
use std::time::Duration;

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use slog::warn;
use socket2::{SockFilter, SockRef};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinSet;
use tokio::time::timeout;
use tokio_util::task::AbortOnDropHandle;

use super::connection::{Respond, Serving};
use super::operators;
use super::tls::Certificate;
use crate::config::{Config, ConfigError};

/// The number of connections that the kernel may accept before the service does. The kernel has a limit too:
/// `net.core.somaxconn`, 4096 by default on Linux.
const BACKLOG: i32 = 4096;
/// What the kernel may buffer for a client; it takes twice this.
const SEND_BUFFER_BYTES: usize = 128 * 1024;
/// How much of it the kernel may not have sent yet. It makes room when a client has taken three quarters of this, instead
/// of a third of the buffer, so even a slow client is seen to take some (12 KiB instead of 64, loopback, small window).
const UNSENT_BYTES: u32 = 16 * 1024;
/// How long the listener waits when the kernel has no file descriptor for a connection.
const PAUSE: Duration = Duration::from_secs(1);
/// How long a closing listener must have no connection. In this time, the last packets of connections arrive
/// that the kernel has promised to clients.
const LAST_CONNECTIONS: Duration = Duration::from_millis(50);

/// The file descriptors of the process itself and its listeners.
const OWN_DESCRIPTORS: usize = 24;

/// Raises the soft limit on open files, which is low for old programs that use `select`, to the hard limit. Checks that
/// it allows all connections of clients and operators, and the `store` descriptors of a store.
///
/// # Errors
/// When it does not.
pub fn reserve_descriptors(config: &Config, store: usize) -> Result<(), ConfigError> {
    let limit = getrlimit(Resource::Nofile);
    // Some systems reject their own hard limit; the soft limit then stays.
    let _ = setrlimit(Resource::Nofile, Rlimit { current: limit.maximum, ..limit });
    let needed = OWN_DESCRIPTORS + operators::LIMITS.max + store + config.connections.max;
    match getrlimit(Resource::Nofile).current {
        Some(limit) if limit < needed as u64 => {
            let problem = format!(
                "the limit on open files is {limit}, and the service may need {needed}; raise it with ulimit -n, or \
                 lower connections.max"
            );
            Err(config.with_source("connections.max", problem))
        }
        _ => Ok(()),
    }
}

/// The listening sockets and the certificate of a server.
pub struct Listeners {
    pub(super) public: StdListener,
    pub(super) operators: Option<StdListener>,
    /// Whether another process keeps the public one open.
    pub(super) inherited: bool,
    pub(super) certificate: Option<Certificate>,
}

impl Listeners {
    /// Uses the sockets that a service manager opened, binds the addresses of the others, and reads the certificate.
    ///
    /// # Errors
    /// When an address or the certificate cannot be used.
    pub fn open(
        config: &Config,
        public: Option<StdListener>,
        operators: Option<StdListener>,
    ) -> Result<Self, ConfigError> {
        let bind = |address, setting| {
            bind(address).map_err(|error| {
                let remedy = "choose an address of this machine that is not in use; a port below 1024 needs \
                              CAP_NET_BIND_SERVICE";
                config.with_source(setting, format!("cannot listen on {address}: {error}; {remedy}"))
            })
        };
        let inherited = public.is_some();
        let public = public.map_or_else(|| bind(config.bind, "bind"), Ok)?;
        let operators = match (operators, config.ops_bind) {
            (None, Some(address)) => Some(bind(address, "ops_bind")?),
            (inherited, _) => inherited,
        };
        Ok(Self { public, operators, inherited, certificate: Certificate::load(config)? })
    }
}

fn bind(address: SocketAddr) -> io::Result<StdListener> {
    let socket = StdListener::bind(address)?;
    // The standard library sets a shorter queue; Linux accepts a new length.
    SockRef::from(&socket).listen(BACKLOG)?;
    Ok(socket)
}

/// Starts the task that accepts connections, which closes them when it ends. Returns it with the address of the
/// listener. Must be called within a tokio runtime.
///
/// # Errors
/// When the runtime rejects the socket.
pub(super) fn start<R: Respond>(
    socket: StdListener,
    inherited: bool,
    serving: Arc<Serving<R>>,
) -> io::Result<(SocketAddr, AbortOnDropHandle<()>)> {
    socket.set_nonblocking(true)?;
    // Connections inherit these options, and work without them, too.
    let options = SockRef::from(&socket);
    let _ = options.set_tcp_nodelay(true);
    let _ = options.set_send_buffer_size(SEND_BUFFER_BYTES);
    let _ = options.set_tcp_notsent_lowat(UNSENT_BYTES);
    let address = socket.local_addr()?;
    let accept = accept(TcpListener::from_std(socket)?, inherited, serving);
    Ok((address, AbortOnDropHandle::new(tokio::spawn(accept))))
}

/// Accepts connections and serves them, until the server is closing. Then serves those that the kernel accepted before,
/// closes the socket, and waits for all connections. When this is dropped, they are closed. Those of an `inherited` socket,
/// which another process keeps open, wait there for the next process.
async fn accept<R: Respond>(socket: TcpListener, inherited: bool, serving: Arc<Serving<R>>) {
    let max = serving.limits.max;
    serving.metrics.set_max(max);
    let mut open = JoinSet::new();
    let spawn = |open: &mut JoinSet<()>, (stream, peer): (TcpStream, SocketAddr)| {
        // As text, once for all its requests (xtask/RECORDS.md, "What made requests cheaper", addresses of clients).
        let peer = peer.ip().to_canonical().to_string();
        open.spawn(serving.clone().serve(stream, peer.into()));
    };
    loop {
        serving.metrics.set_open(open.len());
        let accepted = tokio::select! {
            () = serving.closing.cancelled() => break,
            Some(_) = open.join_next() => continue,
            accepted = socket.accept(), if open.len() < max => accepted,
        };
        match accepted {
            Ok(accepted) => spawn(&mut open, accepted),
            // The client closed the connection before it was accepted.
            Err(error) if error.kind() == io::ErrorKind::ConnectionAborted => {}
            Err(error) => {
                warn!(serving.log, "cannot accept connections"; "error" => %error);
                let _ = timeout(PAUSE, serving.closing.cancelled()).await;
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
