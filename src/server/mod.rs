//! The server: starts the listeners, and shuts down without losing a response.

pub mod descriptors;
mod operators;
mod options;
pub mod tls;

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use dropshot::{ConfigDropshot, ConfigTls, HandlerTaskMode, HttpServer, ServerBuilder};
use slog::{Drain, Logger, info, o, warn};
use tokio::time::{Instant, sleep, timeout, timeout_at};

use crate::document::Document;
use crate::http::access_log::AccessLog;
use crate::http::in_flight::InFlight;
use crate::http::router::{self, Router};
use crate::http::{BASE_PATH, MAX_BODY_BYTES};
use crate::operations;
use crate::service::Service;
use crate::storage::Store;
use operators::Operators;
use tls::TlsFiles;

pub use options::{ServerOptions, StartError};

/// How long responses say `Connection: close` before the listener closes. Connections that wait to be
/// accepted when it closes are reset.
const DRAIN: Duration = Duration::from_millis(300);
/// How long clients may take to read the last responses.
const LAST_RESPONSES: Duration = Duration::from_secs(1);
/// How long reading from the last accepted connections takes.
const LAST_REQUESTS: Duration = Duration::from_millis(100);
/// How long the store may take to close: a disk can hang.
const CLOSE_TIMEOUT: Duration = Duration::from_millis(1500);

/// A running server. Dropping it does not wait for requests; [`Server::stop`] does.
pub struct Server {
    http: HttpServer<Service>,
    operators: Option<HttpServer<Operators>>,
    tls: Option<TlsFiles>,
    in_flight: Arc<InFlight>,
    store: Arc<dyn Store>,
    log: Logger,
}

impl Server {
    /// Starts the listeners. Must be called within a tokio runtime.
    ///
    /// # Errors
    /// [`StartError`].
    pub fn start(
        options: &ServerOptions,
        document: &Document,
        store: Arc<dyn Store>,
        log: &Logger,
    ) -> Result<Self, StartError> {
        let metrics = options.metrics.clone();
        let in_flight = Arc::new(InFlight::default());
        let operators =
            Operators { store: store.clone(), metrics: metrics.clone(), in_flight: in_flight.clone() };
        let operators = options
            .ops_bind
            .map(|bind| operators::start(bind, operators, accept_errors(log, &in_flight)))
            .transpose()?;

        let access_log = AccessLog::new(log.clone(), options.log_one_in);
        let router = Router::new(operations::api()?, document, access_log, in_flight.clone())?;
        let service = Service::new(store.clone(), options.rate_limit, options.request_timeout, metrics);
        let config = ConfigDropshot {
            bind_address: options.bind,
            default_request_body_max_bytes: MAX_BODY_BYTES,
            // Every handler may be dropped at any await, and so needs neither a task nor a channel.
            default_handler_task_mode: HandlerTaskMode::CancelOnDisconnect,
            ..Default::default()
        };
        let tls = options.tls.as_ref().map(TlsFiles::load).transpose()?;
        let http = ServerBuilder::new(router::catch_all(router)?, service, accept_errors(log, &in_flight))
            .config(config)
            .tls(tls.map(ConfigTls::Dynamic))
            .start()
            .map_err(|error| StartError::bind(options.bind, "bind", &error))?;
        Ok(Self { http, operators, tls: options.tls.clone(), in_flight, store, log: log.clone() })
    }

    /// Returns the base URL: scheme, address and [`BASE_PATH`].
    pub fn base_url(&self) -> String {
        let scheme = if self.http.using_tls() { "https" } else { "http" };
        format!("{scheme}://{}{BASE_PATH}", self.http.local_addr())
    }

    /// Returns the address of the public listener.
    pub fn address(&self) -> SocketAddr {
        self.http.local_addr()
    }

    /// Returns the address of the operators' listener.
    pub fn ops_address(&self) -> Option<SocketAddr> {
        self.operators.as_ref().map(HttpServer::local_addr)
    }

    /// Reloads the certificate for new connections. If it cannot be used, logs why and keeps the previous
    /// one.
    pub async fn reload_certificate(&self) {
        let Some(files) = &self.tls else { return };
        let reloaded = match files.load() {
            Ok(config) => self.http.refresh_tls(&ConfigTls::Dynamic(config)).await,
            Err(error) => Err(error.to_string()),
        };
        match reloaded {
            Ok(()) => info!(self.log, "certificate reloaded"),
            Err(error) => warn!(self.log, "the certificate stays as it was"; "error" => error),
        }
    }

    /// Adds `Connection: close` to every response until no request is in flight, and at least for [`DRAIN`];
    /// then closes the listeners and the store. Requests that do not finish within `grace` are cancelled.
    pub async fn stop(self, grace: Duration) {
        self.stop_without_resets(grace, || ()).await;
    }

    /// Stops like [`Self::stop`], without resetting connections that wait to be accepted.
    ///
    /// When dropshot closes, it closes each accepted connection from which it has read nothing. It keeps its
    /// listener until the last connection ends, but accepts no more, so new connections hang. So it is closed
    /// last. No connection must be accepted from then on, while the value that `pause_accepting` returns
    /// exists.
    pub async fn stop_without_resets<Pause>(self, grace: Duration, pause_accepting: impl FnOnce() -> Pause) {
        let end = Instant::now() + grace;
        self.in_flight.begin_shutdown();
        sleep(DRAIN.min(grace / 4)).await;
        let last = LAST_RESPONSES.min(grace / 4);
        let finished = timeout_at(end - last, self.in_flight.idle()).await.is_ok();
        let pause = pause_accepting();
        sleep(LAST_REQUESTS.min(grace / 4)).await;
        match timeout(last, self.http.close()).await {
            Ok(Ok(())) if finished => info!(self.log, "all requests finished"),
            Ok(Err(error)) => warn!(self.log, "the server did not stop cleanly"; "error" => error),
            _ => warn!(self.log, "cancelled requests that did not finish in time"),
        }
        drop(pause);
        if timeout(CLOSE_TIMEOUT, self.store.close()).await.is_err() {
            warn!(self.log, "the store did not close in time");
        }
    }
}

/// Returns a logger for dropshot that keeps only its records of connections that could not be accepted. Its
/// records of requests contain the query, which may contain an API key. Accept errors during shutdown are
/// expected.
fn accept_errors(log: &Logger, in_flight: &Arc<InFlight>) -> Logger {
    let in_flight = Arc::clone(in_flight);
    let is_accept_error = move |record: &slog::Record<'_>| {
        record.level().is_at_least(slog::Level::Warning)
            && record.msg().to_string() == "accept error"
            && !in_flight.is_shutting_down()
    };
    Logger::root(slog::Filter::new(log.clone(), is_accept_error).ignore_res(), o!())
}
