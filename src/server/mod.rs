//! The server: starts the listeners, and shuts down without losing a response.

mod activity;
mod body;
mod connection;
mod listener;
mod operators;
mod tls;

use std::error::Error;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use slog::{Logger, info, warn};
use tokio::runtime::Handle;
use tokio::time::{sleep, timeout};
use tokio_util::task::AbortOnDropHandle;

use crate::Document;
use crate::config::Config;
use crate::http::{BASE_PATH, Router};
use crate::operations;
use crate::service::Service;
use crate::storage::Store;
use crate::telemetry::metrics::{ConnectionMetrics, Metrics};
use connection::Serving;
use operators::Operators;

pub use listener::{Listeners, reserve_descriptors};
pub use tls::Certificate;

/// How long the store may take to close: a disk can hang.
const CLOSE_TIMEOUT: Duration = Duration::from_secs(1);

/// A running server. Dropping it does not wait for requests; [`Server::stop`] does.
pub struct Server {
    config: Config,
    /// The address of the public listener.
    pub address: SocketAddr,
    /// The address of the operators' listener.
    pub ops_address: Option<SocketAddr>,
    serving: Arc<Serving<Router>>,
    accepting: AbortOnDropHandle<()>,
    _operating: Option<AbortOnDropHandle<()>>,
    store: Arc<Store>,
    metrics: Arc<Metrics>,
}

impl Server {
    /// Starts to accept connections. The runtime within which this is called serves the operators, and `api` all others.
    ///
    /// # Errors
    /// When the limit on open files is too low, or the operations or the sockets cannot be used.
    pub fn start(
        config: &Config,
        listeners: Listeners,
        document: &Document,
        store: Arc<Store>,
        metrics: Arc<Metrics>,
        log: &Logger,
        api: &Handle,
    ) -> Result<Self, Box<dyn Error>> {
        reserve_descriptors(config, store.descriptors())?;
        let service = Service::new(store.clone(), config.rate_limit, config.request_timeout, metrics.clone());
        let router = Router::new(operations::all(), document, log, service)?;
        let tls = listeners.certificate.map(|certificate| certificate.report(&metrics));
        let connections = metrics.connections.clone();
        let serving = Arc::new(Serving::new(router, config.connections, connections, tls, log));
        let operators = Operators {
            store: store.clone(),
            metrics: metrics.clone(),
            stopping: serving.stopping.clone(),
            hosts: config.ops_hosts.clone(),
            api: api.clone(),
            api_version: document.version,
        };
        let uncounted = ConnectionMetrics::default();
        let operators = Arc::new(Serving::new(operators, operators::LIMITS, uncounted, None, log));
        let operating = listeners.operators.map(|socket| listener::start(socket, true, operators));
        let (ops_address, operating) = operating.transpose()?.unzip();
        let _api = api.enter();
        let (address, accepting) = listener::start(listeners.public, listeners.inherited, serving.clone())?;
        Ok(Self {
            config: config.clone(),
            address,
            ops_address,
            serving,
            accepting,
            _operating: operating,
            store,
            metrics,
        })
    }

    /// Returns the base URL: scheme, address and [`BASE_PATH`].
    pub fn base_url(&self) -> String {
        let scheme = if self.config.tls.is_some() { "https" } else { "http" };
        format!("{scheme}://{}{BASE_PATH}", self.address)
    }

    /// Reloads the certificate for new connections. If it cannot be used, logs why and keeps the previous
    /// one.
    pub fn reload_certificate(&self) {
        let (Some(tls), Some(loaded)) = (&self.serving.tls, Certificate::load(&self.config).transpose())
        else {
            return;
        };
        match loaded {
            Ok(certificate) => {
                tls.send_replace(certificate.report(&self.metrics));
                info!(self.serving.log, "certificate reloaded");
            }
            Err(error) => warn!(self.serving.log, "the certificate stays as it was"; "error" => %error),
        }
    }

    /// Reports that the server is not ready, and adds `Connection: close` to its responses. After
    /// [`Config::shutdown_delay`], stops accepting connections, and closes each one when it has no
    /// request in progress. Those that are open `grace` later are closed too. Then closes the store.
    pub async fn stop(mut self, grace: Duration) {
        self.serving.stopping.cancel();
        sleep(self.config.shutdown_delay).await;
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
