//! The server: starts the listeners, and shuts down without losing a response.

mod activity;
mod connection;
pub mod descriptors;
mod limits;
mod listener;
mod operators;
mod options;
mod request_body;
mod response_body;
pub mod tls;

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use slog::{Logger, info, warn};
use tokio::runtime::Handle;
use tokio::time::{sleep, timeout};
use tokio_util::task::AbortOnDropHandle;

use crate::document::Document;
use crate::http::{BASE_PATH, Router};
use crate::operations;
use crate::service::Service;
use crate::storage::Store;
use crate::telemetry::connections::ConnectionMetrics;
use connection::Serving;
use operators::Operators;
use tls::TlsFiles;

pub use limits::ConnectionLimits;
pub use options::{Listeners, ServerOptions, StartError};

/// How long the store may take to close: a disk can hang.
const CLOSE_TIMEOUT: Duration = Duration::from_secs(1);

/// A running server. Dropping it does not wait for requests; [`Server::stop`] does.
pub struct Server {
    options: ServerOptions,
    address: SocketAddr,
    ops_address: Option<SocketAddr>,
    serving: Arc<Serving<Router>>,
    accepting: AbortOnDropHandle<()>,
    _operating: Option<AbortOnDropHandle<()>>,
    store: Arc<Store>,
}

impl Server {
    /// Starts to accept connections. The runtime within which this is called serves the operators, and `api` all others.
    ///
    /// # Errors
    /// [`StartError`].
    pub fn start(
        options: &ServerOptions,
        listeners: Listeners,
        document: &Document,
        store: Arc<Store>,
        log: &Logger,
        api: &Handle,
    ) -> Result<Self, StartError> {
        let metrics = options.metrics.clone();
        let max = options.connections.max.unwrap_or(ConnectionLimits::DEFAULT_MAX);
        let max = max.min(descriptors::for_connections(store.descriptors())?);
        let limits = ConnectionLimits { max: Some(max), ..options.connections };
        let service =
            Service::new(store.clone(), options.rate_limit, options.request_timeout, metrics.clone());
        let router = Router::new(operations::all(), document, log, service)?;
        let tls = options.tls.as_ref().map(TlsFiles::load).transpose()?;
        let tls = tls.map(|certificate| certificate.report(&metrics));
        let serving = Serving::new(router, limits, metrics.connections.clone(), tls, log);
        let serving = Arc::new(serving);
        let operators = Operators {
            store: store.clone(),
            metrics: metrics.clone(),
            stopping: serving.stopping.clone(),
            hosts: options.ops_hosts.clone(),
            api: api.clone(),
            api_version: document.version,
        };
        let limits = operators::limits();
        let operators = Arc::new(Serving::new(operators, limits, ConnectionMetrics::default(), None, log));
        let operating = listeners.operators.map(|socket| listener::start(socket, true, operators));
        let (ops_address, operating) = operating.transpose()?.unzip();
        let _api = api.enter();
        let (address, accepting) = listener::start(listeners.public, listeners.inherited, serving.clone())?;
        Ok(Self {
            options: options.clone(),
            address,
            ops_address,
            serving,
            accepting,
            _operating: operating,
            store,
        })
    }

    /// Returns the base URL: scheme, address and [`BASE_PATH`].
    pub fn base_url(&self) -> String {
        let scheme = if self.options.tls.is_some() { "https" } else { "http" };
        format!("{scheme}://{}{BASE_PATH}", self.address)
    }

    /// Returns the address of the public listener.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Returns the address of the operators' listener.
    pub fn ops_address(&self) -> Option<SocketAddr> {
        self.ops_address
    }

    /// Reloads the certificate for new connections. If it cannot be used, logs why and keeps the previous
    /// one.
    pub fn reload_certificate(&self) {
        let (Some(files), Some(tls)) = (&self.options.tls, &self.serving.tls) else { return };
        match files.load() {
            Ok(certificate) => {
                tls.send_replace(Arc::new(certificate.report(&self.options.metrics)));
                info!(self.serving.log, "certificate reloaded");
            }
            Err(error) => warn!(self.serving.log, "the certificate stays as it was"; "error" => %error),
        }
    }

    /// Reports that the server is not ready, and adds `Connection: close` to its responses. After
    /// [`ServerOptions::shutdown_delay`], stops accepting connections, and closes each one when it has no
    /// request in progress. Those that are open `grace` later are closed too. Then closes the store.
    pub async fn stop(mut self, grace: Duration) {
        self.serving.stopping.cancel();
        sleep(self.options.shutdown_delay).await;
        self.serving.closing.cancel();
        if timeout(grace, &mut self.accepting).await.is_ok() {
            info!(self.serving.log, "all requests finished");
        } else {
            // This closes the connections.
            self.accepting.abort();
            warn!(self.serving.log, "cancelled requests that did not finish in time");
        }
        if timeout(CLOSE_TIMEOUT, self.store.close()).await.is_err() {
            warn!(self.serving.log, "the store did not close in time");
        }
    }
}
