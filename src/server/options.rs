//! What a server needs to start, and why it does not.

use std::net::{SocketAddr, TcpListener};
use std::sync::Arc;
use std::time::Duration;

use dropshot::BuildError;

use super::tls::{TlsError, TlsFiles};
use crate::http::router::MissingDeprecation;
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
    /// The maximum duration of each step of a request: authentication, reading the input, the operation.
    pub request_timeout: Duration,
    /// The rate limit of each API key; without it there is none.
    pub rate_limit: Option<RateLimit>,
    /// Logs one in this many responses that are not server errors; 0 logs none of them.
    pub log_one_in: u64,
    /// The metrics, which the store already uses.
    pub metrics: Arc<Metrics>,
}

impl Default for ServerOptions {
    /// A free port of 127.0.0.1, ten seconds for each step, no rate limit, every response logged.
    fn default() -> Self {
        Self {
            bind: SocketAddr::from(([127, 0, 0, 1], 0)),
            ops_bind: None,
            tls: None,
            request_timeout: Duration::from_secs(10),
            rate_limit: None,
            log_one_in: 1,
            metrics: Arc::default(),
        }
    }
}

impl ServerOptions {
    /// Checks that the addresses are free and the certificate is usable. Call it before opening a store,
    /// which may create or migrate a database.
    ///
    /// # Errors
    /// [`StartError`].
    pub fn check(&self) -> Result<(), StartError> {
        self.tls.as_ref().map(TlsFiles::load).transpose()?;
        // Each stays bound until the end: both may be the same address.
        let mut bound = Vec::new();
        for (address, setting) in [(Some(self.bind), "bind"), (self.ops_bind, "ops_bind")] {
            if let Some(address) = address {
                let refused =
                    |error: std::io::Error| StartError::Bind { address, reason: error.to_string(), setting };
                bound.push(TcpListener::bind(address).map_err(refused)?);
            }
        }
        Ok(())
    }
}

/// Why a server did not start. One line that says what to do.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    /// The document does not fit the code.
    #[error(transparent)]
    Document(#[from] MissingDeprecation),
    /// The address cannot be bound.
    #[error("cannot listen on {address}: {reason}; stop what uses it, or choose another address")]
    Bind {
        /// The address.
        address: SocketAddr,
        /// The error of the operating system.
        reason: String,
        /// The setting with the address.
        setting: &'static str,
    },
    /// The certificate or its private key cannot be used.
    #[error("TLS: {0}")]
    Tls(#[from] TlsError),
    /// dropshot rejected a route.
    #[error("two operations have the same route: {0}")]
    Operations(#[from] dropshot::ApiDescriptionRegisterError),
}

impl StartError {
    /// Returns the setting that caused the error, if one did.
    pub fn setting(&self) -> Option<&'static str> {
        match self {
            Self::Bind { setting, .. } => Some(setting),
            Self::Tls(error) => Some(error.setting()),
            Self::Document(_) | Self::Operations(_) => None,
        }
    }

    /// Returns the error for dropshot's failure to bind `address`.
    pub(super) fn bind(address: SocketAddr, setting: &'static str, error: &BuildError) -> Self {
        let cause = std::error::Error::source(error).map(ToString::to_string);
        Self::Bind { address, reason: cause.unwrap_or_else(|| error.to_string()), setting }
    }
}
