//! The server: starts the listeners, and shuts down without losing a response.

mod connection;
mod connections;
pub mod descriptors;
pub mod first_request;
mod frame_budget;
mod in_turn;
mod limits;
mod listener;
mod memory;
mod monitored;
mod operators;
mod options;
mod request_body;
mod response_body;
mod sending;
mod serving;
mod socket;
pub mod tls;
mod turns;

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use http::uri::Scheme;
use slog::{Logger, info, warn};
use tokio::runtime::Handle;
use tokio::time::{sleep, timeout};

use crate::document::Document;
use crate::http::BASE_PATH;
use crate::http::access_log::AccessLog;
use crate::http::router::Router;
use crate::operations;
use crate::service::Service;
use crate::storage::Store;
use crate::telemetry::metrics::Metrics;
use connections::Connections;
use listener::Accepting;
use operators::{Operating, Operators};
use tls::TlsFiles;

pub use limits::ConnectionLimits;
pub use options::{Listeners, ServerOptions, StartError};

/// How long the store may take to close: a disk can hang.
const CLOSE_TIMEOUT: Duration = Duration::from_millis(1500);

/// A running server. Dropping it does not wait for requests; [`Server::stop`] does.
pub struct Server {
    public: Accepting,
    operators: Option<Operating>,
    tls: Option<TlsFiles>,
    metrics: Arc<Metrics>,
    shutdown_delay: Duration,
    store: Arc<dyn Store>,
    log: Logger,
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
        store: Arc<dyn Store>,
        log: &Logger,
        api: &Handle,
    ) -> Result<Self, StartError> {
        let metrics = options.metrics.clone();
        let max = options.connections.max.unwrap_or(ConnectionLimits::DEFAULT_MAX);
        let max = max.min(descriptors::for_connections(store.descriptors())?);
        let connections = Connections::new(options.connections, max, metrics.connections().clone());
        let operators = Operators {
            store: store.clone(),
            metrics: metrics.clone(),
            connections: connections.clone(),
            hosts: options.ops_hosts.clone(),
            api: api.clone(),
            api_version: document.version,
        };
        let access_log = AccessLog::new(log.clone(), options.log_one_in);
        let service = Service::new(
            store.clone(),
            options.rate_limit,
            options.authentication_failures,
            options.request_timeout,
            metrics,
        );
        let proxies = options.trusted_proxies.clone();
        let scheme = if options.tls.is_some() { Scheme::HTTPS } else { Scheme::HTTP };
        let router = Router::new(operations::api()?, document, &scheme, access_log, proxies, service, log)?;
        let tls = options.tls.as_ref().map(TlsFiles::load).transpose()?;
        let tls = tls.map(|certificate| certificate.report(&options.metrics));
        let operators =
            listeners.operators.map(|listener| Operating::start(listener, operators)).transpose()?;
        let _api = api.enter();
        let public = Accepting::start(listeners.public, tls, connections, router, log.clone())?;
        Ok(Self {
            public,
            operators,
            tls: options.tls.clone(),
            metrics: options.metrics.clone(),
            shutdown_delay: options.shutdown_delay,
            store,
            log: log.clone(),
        })
    }

    /// Returns the base URL: scheme, address and [`BASE_PATH`].
    pub fn base_url(&self) -> String {
        let scheme = if self.public.uses_tls() { "https" } else { "http" };
        format!("{scheme}://{}{BASE_PATH}", self.public.address)
    }

    /// Returns the address of the public listener.
    pub fn address(&self) -> SocketAddr {
        self.public.address
    }

    /// Returns the address of the operators' listener.
    pub fn ops_address(&self) -> Option<SocketAddr> {
        self.operators.as_ref().map(|operators| operators.address)
    }

    /// Reloads the certificate for new connections. If it cannot be used, logs why and keeps the previous
    /// one.
    pub fn reload_certificate(&self) {
        let Some(files) = &self.tls else { return };
        match files.load() {
            Ok(certificate) => {
                self.public.set_tls(certificate.report(&self.metrics));
                info!(self.log, "certificate reloaded");
            }
            Err(error) => warn!(self.log, "the certificate stays as it was"; "error" => %error),
        }
    }

    /// Reports that the server is not ready, and adds `Connection: close` to its responses. After
    /// [`ServerOptions::shutdown_delay`], stops accepting connections, and closes each one when it has no
    /// request in progress. Those that are open `grace` later are closed too. Then closes the store.
    pub async fn stop(mut self, grace: Duration) {
        self.public.connections.begin_shutdown();
        sleep(self.shutdown_delay).await;
        self.public.close().await;
        if timeout(grace, self.public.connections.finish()).await.is_ok() {
            info!(self.log, "all requests finished");
        } else {
            self.public.connections.abort();
            warn!(self.log, "cancelled requests that did not finish in time");
        }
        if timeout(CLOSE_TIMEOUT, self.store.close()).await.is_err() {
            warn!(self.log, "the store did not close in time");
        }
    }
}
