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
use tokio::net::TcpListener;
use tokio::runtime::Handle;
use tokio::time::{sleep, timeout};
use tokio_util::sync::CancellationToken;
use tokio_util::task::AbortOnDropHandle;

use crate::document::Document;
use crate::http::BASE_PATH;
use crate::http::access_log::AccessLog;
use crate::http::router::Router;
use crate::operations;
use crate::service::Service;
use crate::storage::Store;
use connections::Connections;
use operators::Operators;
use serving::Serving;
use tls::TlsFiles;

pub use limits::ConnectionLimits;
pub use options::{Listeners, ServerOptions, StartError};

/// How long the store may take to close: a disk can hang.
const CLOSE_TIMEOUT: Duration = Duration::from_millis(1500);

/// A running server. Dropping it does not wait for requests; [`Server::stop`] does.
pub struct Server {
    options: ServerOptions,
    address: SocketAddr,
    ops_address: Option<SocketAddr>,
    serving: Arc<Serving>,
    /// Cancelled when the public listener is to close.
    closing: CancellationToken,
    accepting: AbortOnDropHandle<()>,
    _operating: Option<AbortOnDropHandle<()>>,
    store: Arc<Store>,
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
        store: Arc<Store>,
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
        let service = Service::new(store.clone(), options.rate_limit, options.request_timeout, metrics);
        let scheme = if options.tls.is_some() { Scheme::HTTPS } else { Scheme::HTTP };
        let router = Router::new(operations::api()?, document, &scheme, access_log, service, log)?;
        let tls = options.tls.as_ref().map(TlsFiles::load).transpose()?;
        let tls = tls.map(|certificate| certificate.report(&options.metrics));
        let serving = Arc::new(Serving::new(router, connections, tls));
        let operating = listeners.operators.map(|socket| operators::start(socket, operators)).transpose()?;
        let (ops_address, operating) = operating.unzip();
        let address = listeners.public.local_addr()?;
        let closing = CancellationToken::new();
        let _api = api.enter();
        let socket = TcpListener::from_std(listeners.public)?;
        let accept =
            listener::accept(socket, listeners.inherited, serving.clone(), closing.clone(), log.clone());
        Ok(Self {
            options: options.clone(),
            address,
            ops_address,
            serving,
            closing,
            accepting: AbortOnDropHandle::new(tokio::spawn(accept)),
            _operating: operating,
            store,
            log: log.clone(),
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
                info!(self.log, "certificate reloaded");
            }
            Err(error) => warn!(self.log, "the certificate stays as it was"; "error" => %error),
        }
    }

    /// Reports that the server is not ready, and adds `Connection: close` to its responses. After
    /// [`ServerOptions::shutdown_delay`], stops accepting connections, and closes each one when it has no
    /// request in progress. Those that are open `grace` later are closed too. Then closes the store.
    pub async fn stop(mut self, grace: Duration) {
        let connections = &self.serving.connections;
        connections.begin_shutdown();
        sleep(self.options.shutdown_delay).await;
        self.closing.cancel();
        // It does not panic, and nothing else cancels it.
        let _ = (&mut self.accepting).await;
        if timeout(grace, connections.finish()).await.is_ok() {
            info!(self.log, "all requests finished");
        } else {
            connections.abort();
            warn!(self.log, "cancelled requests that did not finish in time");
        }
        if timeout(CLOSE_TIMEOUT, self.store.close()).await.is_err() {
            warn!(self.log, "the store did not close in time");
        }
    }
}
