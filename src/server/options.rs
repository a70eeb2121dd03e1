//! What a server needs to start, and why it does not.

use std::io;
use std::net::{SocketAddr, TcpListener};
use std::sync::Arc;
use std::time::Duration;

use super::limits::ConnectionLimits;
use super::listener::bind;
use super::tls::{TlsError, TlsFiles};
use crate::http::RouterError;
use crate::rate_limit::RateLimit;
use crate::telemetry::metrics::Metrics;

/// The options of a server.
#[derive(Clone, Debug)]
pub struct ServerOptions {
    /// The address of the public listener; port 0 selects a free port.
    pub bind: SocketAddr,
    /// The address of the operators' listener; without it there is none.
    pub ops_bind: Option<SocketAddr>,
    /// The certificate of the public listener; without it there is no TLS.
    pub tls: Option<TlsFiles>,
    /// The host names to which the operators' listener answers, besides `localhost` and IP addresses.
    pub ops_hosts: Vec<String>,
    /// The limits of connections to the public listener.
    pub connections: ConnectionLimits,
    /// The maximum duration of a request: authentication, reading the input, the operation.
    pub request_timeout: Duration,
    /// The rate limit of each API key; without it there is none.
    pub rate_limit: Option<RateLimit>,
    /// How long the server accepts connections after it began to shut down.
    pub shutdown_delay: Duration,
    /// The metrics, which the store already uses.
    pub metrics: Arc<Metrics>,
}

impl Default for ServerOptions {
    /// A free port of 127.0.0.1, ten seconds for a request, no rate limit.
    fn default() -> Self {
        Self {
            bind: SocketAddr::from(([127, 0, 0, 1], 0)),
            ops_bind: None,
            tls: None,
            ops_hosts: Vec::new(),
            connections: ConnectionLimits::default(),
            request_timeout: Duration::from_secs(10),
            rate_limit: None,
            shutdown_delay: Duration::ZERO,
            metrics: Arc::default(),
        }
    }
}

/// The listening sockets of a server, bound to their addresses.
pub struct Listeners {
    pub(super) public: TcpListener,
    pub(super) operators: Option<TcpListener>,
    /// Whether another process keeps the public one open.
    pub(super) inherited: bool,
}

impl Listeners {
    /// Binds the addresses. Call it before opening a store, which may create or migrate a database.
    ///
    /// # Errors
    /// [`StartError::Bind`].
    pub fn bind(options: &ServerOptions) -> Result<Self, StartError> {
        Self::inherit(options, None, None)
    }

    /// Uses the sockets that a service manager opened, and binds the addresses of the others.
    ///
    /// # Errors
    /// [`StartError::Bind`].
    pub fn inherit(
        options: &ServerOptions,
        public: Option<TcpListener>,
        operators: Option<TcpListener>,
    ) -> Result<Self, StartError> {
        let listener = |inherited: Option<TcpListener>, address, setting| {
            let listening = || {
                let socket = inherited.map_or_else(|| bind(address), Ok)?;
                socket.set_nonblocking(true)?;
                Ok(socket)
            };
            listening().map_err(|reason| StartError::Bind { address, reason, setting })
        };
        let inherited = public.is_some();
        let public = listener(public, options.bind, "bind")?;
        let operators = match (operators, options.ops_bind) {
            (None, None) => None,
            (inherited, bind) => Some(listener(inherited, bind.unwrap_or(options.bind), "ops_bind")?),
        };
        Ok(Self { public, operators, inherited })
    }
}

/// Returns what to do when an address cannot be bound.
fn remedy(reason: &io::Error) -> &'static str {
    match reason.kind() {
        io::ErrorKind::PermissionDenied => {
            "a port below 1024 needs the capability CAP_NET_BIND_SERVICE; add it, or choose a port from 1024 on"
        }
        io::ErrorKind::AddrNotAvailable => "choose an address of this machine",
        _ => "stop what uses it, or choose another address",
    }
}

/// Why a server did not start. One line that says what to do.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    /// The document does not fit the code.
    #[error(transparent)]
    Router(#[from] RouterError),
    /// The address cannot be bound.
    #[error("cannot listen on {address}: {reason}; {}", remedy(reason))]
    Bind {
        /// The address.
        address: SocketAddr,
        /// The error of the operating system.
        reason: io::Error,
        /// The setting with the address.
        setting: &'static str,
    },
    /// The certificate or its private key cannot be used.
    #[error("TLS: {0}")]
    Tls(#[from] TlsError),
    /// The limit on open files leaves none to clients.
    #[error(
        "the limit on open files is {limit}, and the service needs more than {reserve} with its settings; raise it with \
         ulimit -n"
    )]
    Descriptors {
        /// The limit.
        limit: usize,
        /// What the service and its store need.
        reserve: usize,
    },
    /// The runtime rejected a listening socket.
    #[error("cannot accept connections: {0}")]
    Accept(#[from] io::Error),
}

impl StartError {
    /// Returns the setting that caused the error, if one did.
    pub fn setting(&self) -> Option<&'static str> {
        match self {
            Self::Bind { setting, .. } => Some(setting),
            Self::Tls(error) => Some(error.setting()),
            Self::Router(_) | Self::Descriptors { .. } | Self::Accept(_) => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_that_cannot_be_bound_is_reported_with_the_remedy() {
        for (errno, expected) in [
            (rustix::io::Errno::ACCESS, "a port below 1024 needs the capability CAP_NET_BIND_SERVICE"),
            (rustix::io::Errno::ADDRINUSE, "stop what uses it"),
            (rustix::io::Errno::ADDRNOTAVAIL, "choose an address of this machine"),
        ] {
            let address = SocketAddr::from(([127, 0, 0, 1], 80));
            let error = StartError::Bind { address, reason: errno.into(), setting: "bind" }.to_string();
            assert!(
                error.starts_with("cannot listen on 127.0.0.1:80: ") && error.contains(expected),
                "{error}"
            );
        }
    }
}
