//! A listener: binds its address, and accepts connections until it is closed.
//!
//! With the maximum number of connections open, the next ones wait in the kernel's queue: a client that is served later
//! is better off than one that is closed, and connected clients keep their place.

use std::io;
use std::net::{SocketAddr, TcpListener as StdListener};
use std::sync::Arc;
use std::time::Duration;

use slog::warn;
use socket2::{Domain, SockFilter, SockRef, Socket, Type};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinSet;
use tokio::time::timeout;
use tokio_util::task::AbortOnDropHandle;

use super::connection::{Respond, Serving};
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

/// The sockets and the certificate of a server. They have their addresses, but refuse clients until they are started, unless
/// another process listens on them.
pub struct Listeners {
    pub(super) public: Bound,
    pub(super) operators: Option<Bound>,
    pub(super) certificate: Option<Certificate>,
}

/// A socket with an address.
pub(super) struct Bound {
    socket: Socket,
    setting: &'static str,
    /// The address in the settings; `None` for a socket of another process, which keeps it open.
    own: Option<SocketAddr>,
}

/// A socket cannot be used, because of the address in a setting.
#[derive(Debug, thiserror::Error)]
#[error(
    "cannot listen on {address}: {error}; choose an address of this machine that is not in use; a port below 1024 needs \
     CAP_NET_BIND_SERVICE"
)]
pub(super) struct ListenError {
    setting: &'static str,
    address: String,
    error: io::Error,
}

impl ListenError {
    pub(super) fn in_settings(&self, config: &Config) -> ConfigError {
        config.with_source(self.setting, self)
    }
}

impl Bound {
    /// Takes a socket that another process opened, or binds the address in `setting`.
    fn open(
        socket: Option<StdListener>,
        setting: &'static str,
        address: SocketAddr,
    ) -> Result<Self, ListenError> {
        if let Some(socket) = socket {
            return Ok(Self { socket: socket.into(), setting, own: None });
        }
        let bind = || {
            let socket = Socket::new(Domain::for_address(address), Type::STREAM, None)?;
            // Also while connections of a process before it are in TIME-WAIT.
            socket.set_reuse_address(true)?;
            socket.bind(&address.into())?;
            // Until it listens, another socket could have the same address.
            socket.set_reuse_address(false)?;
            Ok(Self { socket, setting, own: Some(address) })
        };
        bind().map_err(|error| ListenError { setting, address: address.to_string(), error })
    }

    /// Lets clients connect, and sets the options of their connections.
    fn listen(self) -> Result<(SocketAddr, TcpListener), ListenError> {
        let Self { socket, setting, own } = self;
        let listen = || {
            socket.set_nonblocking(true)?;
            if own.is_some() {
                socket.set_reuse_address(true)?;
                socket.listen(BACKLOG)?;
            }
            let socket = StdListener::from(socket);
            // Connections inherit these options, and work without them, too.
            let options = SockRef::from(&socket);
            let _ = options.set_tcp_nodelay(true);
            let _ = options.set_send_buffer_size(SEND_BUFFER_BYTES);
            let _ = options.set_tcp_notsent_lowat(UNSENT_BYTES);
            Ok((socket.local_addr()?, TcpListener::from_std(socket)?))
        };
        listen().map_err(|error| {
            let address = own.map_or_else(|| "an inherited socket".to_owned(), |own| own.to_string());
            ListenError { setting, address, error }
        })
    }
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
        let open = |socket, setting, address| {
            Bound::open(socket, setting, address).map_err(|error| error.in_settings(config))
        };
        let public = open(public, "bind", config.bind)?;
        let operators = match (operators, config.ops_bind) {
            (None, None) => None,
            (socket, address) => Some(open(socket, "ops_bind", address.unwrap_or(config.bind))?),
        };
        Ok(Self { public, operators, certificate: Certificate::load(config)? })
    }
}

/// Starts the task that accepts connections, which closes them when it ends. Returns it with the address of the
/// listener. Must be called within a tokio runtime.
///
/// # Errors
/// When the socket cannot be used, for example because another process began to listen on its address.
pub(super) fn start<R: Respond>(
    socket: Bound,
    serving: Arc<Serving<R>>,
) -> Result<(SocketAddr, AbortOnDropHandle<()>), ListenError> {
    let inherited = socket.own.is_none();
    let (address, socket) = socket.listen()?;
    Ok((address, AbortOnDropHandle::new(tokio::spawn(accept(socket, inherited, serving)))))
}

/// Accepts connections and serves them, until the server is closing. Then serves those that the kernel accepted before,
/// closes the socket, and waits for all connections. When this is dropped, they are closed. Those of an `inherited` socket,
/// which another process keeps open, wait there for the next process.
async fn accept<R: Respond>(socket: TcpListener, inherited: bool, serving: Arc<Serving<R>>) {
    let max = serving.limits.max;
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
