//! The server: starts the listeners, and shuts down without losing a response.

mod activity;
mod body;
mod connection;
mod descriptors;
mod listener;
mod operators;
pub mod service_manager;
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
use crate::config::{Config, ConfigError};
use crate::http::{BASE_PATH, Router};
use crate::operations;
use crate::service::Service;
use crate::storage::Store;
use crate::telemetry::metrics::Metrics;
use connection::Serving;
use operators::{Operators, OperatorsServer, Phase};

pub use descriptors::reserve_descriptors;
pub use listener::Listeners;
pub use tls::Certificate;

/// How long the store may take to close: a disk can hang.
const CLOSE_TIMEOUT: Duration = Duration::from_secs(1);

/// A server that responds to operators, and not to clients yet.
pub struct Starting<'a> {
    config: &'a Config,
    listeners: Listeners,
    operators: OperatorsServer,
    document: &'a Document,
    metrics: Arc<Metrics>,
    log: &'a Logger,
    api: &'a Handle,
}

impl<'a> Starting<'a> {
    /// Starts to respond to operators. The runtime within which this is called serves them, and `api` the clients.
    ///
    /// # Errors
    /// When the socket for operators cannot be used.
    pub fn new(
        config: &'a Config,
        mut listeners: Listeners,
        document: &'a Document,
        metrics: Arc<Metrics>,
        log: &'a Logger,
        api: &'a Handle,
    ) -> Result<Self, ConfigError> {
        metrics.connections.set_max(config.connections.max);
        let socket = listeners.operators.take();
        let operators = Operators::new(config, metrics.clone(), api, document.version);
        let operators = OperatorsServer::start(socket, operators, log);
        let operators = operators.map_err(|error| error.in_settings(config))?;
        Ok(Self { config, listeners, operators, document, metrics, log, api })
    }

    /// Returns the address of the operators' listener; `None` if there is none.
    pub fn operators(&self) -> Option<SocketAddr> {
        self.operators.address
    }

    /// Starts to accept connections of clients.
    ///
    /// # Errors
    /// When the limit on open files is too low, or the operations or the socket cannot be used.
    pub fn serve(self, store: Arc<Store>) -> Result<Server, Box<dyn Error>> {
        let Self { config, listeners, operators, document, metrics, log, api } = self;
        reserve_descriptors(config, store.descriptors())?;
        let service = Service::new(store.clone(), config.rate_limit, config.request_timeout, metrics.clone());
        let router = Router::new(operations::all(), document, log, service)?;
        let tls = listeners.certificate.map(|certificate| certificate.report(&metrics, log));
        let connections = metrics.connections.clone();
        let serving = Arc::new(Serving::new(router, config.connections, connections, tls, log));
        let _api = api.enter();
        let accepting = listener::start(listeners.public, serving.clone());
        let (address, accepting) = accepting.map_err(|error| error.in_settings(config))?;
        operators.report(Phase::Serving(store.clone()));
        Ok(Server { config: config.clone(), address, operators, serving, accepting, store, metrics })
    }
}

/// A running server. Dropping it does not wait for requests; [`Server::stop`] does.
pub struct Server {
    config: Config,
    /// The address of the public listener.
    pub address: SocketAddr,
    operators: OperatorsServer,
    serving: Arc<Serving<Router>>,
    accepting: AbortOnDropHandle<()>,
    store: Arc<Store>,
    metrics: Arc<Metrics>,
}

impl Server {
    /// Returns the address of the operators' listener; `None` if there is none.
    pub fn operators(&self) -> Option<SocketAddr> {
        self.operators.address
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
            info!(
                self.serving.log,
                "SIGHUP has no effect without a certificate; other settings need a restart"
            );
            return;
        };
        match loaded {
            Ok(certificate) => {
                tls.send_replace(certificate.report(&self.metrics, &self.serving.log));
                info!(self.serving.log, "certificate reloaded");
            }
            Err(error) => warn!(self.serving.log, "the certificate stays as it was"; "error" => %error),
        }
    }

    /// Reports that the server is not ready, and adds `Connection: close` to its responses. After
    /// [`Config::shutdown_delay`], stops accepting connections, and closes each one when it has no
    /// request in progress. Those that are open `grace` later are closed too. Then closes the store.
    pub async fn stop(mut self, grace: Duration) {
        self.operators.report(Phase::Stopping);
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
