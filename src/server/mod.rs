//! Starting and stopping: from a configuration to a service that answers, and back.

pub mod descriptors;
mod operators;
pub mod tls;

use std::net::{SocketAddr, TcpListener};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use dropshot::{BuildError, ConfigDropshot, ConfigTls, HandlerTaskMode, HttpServer, ServerBuilder};
use slog::{Drain, Logger, info, o, warn};
use tokio::time::{Instant, sleep, timeout, timeout_at};

use crate::document::{Document, DocumentError};
use crate::http::access_log::AccessLog;
use crate::http::call::MAX_BODY_BYTES;
use crate::http::router::{self, Edge};
use crate::operations::{self, BASE_PATH};
use crate::rate_limit::RateLimit;
use crate::service::Service;
use crate::storage::Store;
use crate::telemetry::metrics::Metrics;
use operators::Watched;
use tls::{TlsError, TlsFiles};

/// How long clients that keep a connection may take to hear that it ends. Until then new ones are let in:
/// when the listener closes, what stands before it unread gets a reset.
const LEAVE: Duration = Duration::from_millis(300);
/// How long clients may take to read the answers that they are sent, when nothing else is under way.
const LAST: Duration = Duration::from_secs(1);
/// How long it takes to read from the last connections that were accepted.
const READ: Duration = Duration::from_millis(100);
/// How long the store may take to close after the last request: a disk can hang.
const CLOSE_TIMEOUT: Duration = Duration::from_millis(1500);

/// What a server needs to know beside its store and its document.
#[derive(Clone, Debug)]
pub struct ServerOptions {
    /// The address to listen on; port 0 picks a free one.
    pub bind: SocketAddr,
    /// The address of the operators' listener, if there is one.
    pub ops_bind: Option<SocketAddr>,
    /// The certificate, if the public listener speaks TLS.
    pub tls: Option<TlsFiles>,
    /// How long each step of a request may take: to judge its key, to read its body, to do what it asks.
    pub request_timeout: Duration,
    /// How many requests a key may make, if there is a limit.
    pub rate_limit: Option<RateLimit>,
    /// Of the answers that are no server errors, one in this many is logged; 0 for none.
    pub log_one_in: u64,
    /// Where everything is counted; its store has counted there from its opening.
    pub metrics: Arc<Metrics>,
}

impl Default for ServerOptions {
    /// A free port of the loopback, ten seconds for each step, no limit, everything logged.
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
    /// Whether a server could start: its addresses are free and its certificate is usable. For those who
    /// want to know before they open a store, which may make a file or change one.
    ///
    /// # Errors
    /// [`StartError`].
    pub fn check(&self) -> Result<(), StartError> {
        self.tls.as_ref().map(TlsFiles::load).transpose()?;
        // All are held until the end: the two may be one and the same.
        let mut held = Vec::new();
        for (address, flag) in [(Some(self.bind), "--bind"), (self.ops_bind, "--ops-bind")] {
            if let Some(address) = address {
                let refused =
                    |error: std::io::Error| StartError::Bind { address, reason: error.to_string(), flag };
                held.push(TcpListener::bind(address).map_err(refused)?);
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
    Document(#[from] DocumentError),
    /// An address cannot be listened on.
    #[error("cannot listen on {address}: {reason}; choose another address with {flag}")]
    Bind {
        /// The address asked for.
        address: SocketAddr,
        /// What the system says.
        reason: String,
        /// The flag that sets it.
        flag: &'static str,
    },
    /// The certificate or its key cannot be used.
    #[error("TLS: {0}")]
    Tls(#[from] TlsError),
    /// dropshot did not take the operations.
    #[error("the operations clash: {0}")]
    Operations(#[from] dropshot::ApiDescriptionRegisterError),
}

/// A running server. Dropping it does not wait; [`Server::stop`] does.
pub struct Server {
    http: HttpServer<Service>,
    ops: Option<HttpServer<Watched>>,
    tls: Option<TlsFiles>,
    stopping: Arc<AtomicBool>,
    store: Arc<dyn Store>,
    log: Logger,
}

impl Server {
    /// Starts to answer. Must be called within a tokio runtime.
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
        let stopping = Arc::new(AtomicBool::new(false));
        let watched = Watched { store: store.clone(), metrics: metrics.clone(), stopping: stopping.clone() };
        let ops = options
            .ops_bind
            .map(|bind| operators::start(bind, watched, accept_errors(log, &stopping)))
            .transpose()?;

        let edge = Edge::new(operations::api()?, document)?;
        let access_log = AccessLog::new(log.clone(), options.log_one_in);
        let limit = options.rate_limit;
        let service = Service::new(
            store.clone(),
            edge,
            options.request_timeout,
            limit,
            metrics,
            access_log,
            stopping.clone(),
        );
        let config = ConfigDropshot {
            bind_address: options.bind,
            default_request_body_max_bytes: MAX_BODY_BYTES,
            // Every handler can be dropped at any await, and is then spared a task and a channel.
            default_handler_task_mode: HandlerTaskMode::CancelOnDisconnect,
            ..Default::default()
        };
        let tls = options.tls.as_ref().map(TlsFiles::load).transpose()?;
        let http = ServerBuilder::new(router::api()?, service, accept_errors(log, &stopping))
            .config(config)
            .tls(tls.map(ConfigTls::Dynamic))
            .start()
            .map_err(cannot_bind(options.bind, "--bind"))?;
        Ok(Self { http, ops, tls: options.tls.clone(), stopping, store, log: log.clone() })
    }

    /// The base URL: scheme, address and [`BASE_PATH`].
    pub fn base_url(&self) -> String {
        let scheme = if self.http.using_tls() { "https" } else { "http" };
        format!("{scheme}://{}{BASE_PATH}", self.http.local_addr())
    }

    /// The address that it listens on.
    pub fn address(&self) -> SocketAddr {
        self.http.local_addr()
    }

    /// The address of the operators' listener, if there is one.
    pub fn ops_address(&self) -> Option<SocketAddr> {
        self.ops.as_ref().map(HttpServer::local_addr)
    }

    /// Reads the certificate again, for the connections that come from now on. One that cannot be used is
    /// logged, and the one before stays.
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

    /// Answers with `Connection: close` from now on, until nothing is under way, and at least for a moment;
    /// then stops to listen and closes the store. What is not finished within `grace` is cut off.
    pub async fn stop(self, grace: Duration) {
        self.stop_held_back(grace, || ()).await;
    }

    /// Stops likewise, and loses nobody at the end.
    ///
    /// dropshot closes each connection that it has accepted and not yet read from without a word, and keeps
    /// its listener, but accepts nothing, until the last connection has ended; who comes then hangs. So it is
    /// told at the very end, and while what `hold_back` returns is there, nothing should be accepted.
    pub async fn stop_held_back<Held>(self, grace: Duration, hold_back: impl FnOnce() -> Held) {
        let end = Instant::now() + grace;
        self.stopping.store(true, Ordering::Relaxed);
        sleep(LEAVE.min(grace / 4)).await;
        let last = LAST.min(grace / 4);
        let finished = timeout_at(end - last, self.http.app_private().idle()).await.is_ok();
        let held = hold_back();
        sleep(READ.min(grace / 4)).await;
        match timeout(last, self.http.close()).await {
            Ok(Ok(())) if finished => info!(self.log, "all requests finished"),
            Ok(Err(error)) => warn!(self.log, "the server did not stop cleanly"; "error" => error),
            _ => warn!(self.log, "cut off requests that did not finish in time"),
        }
        drop(held);
        if timeout(CLOSE_TIMEOUT, self.store.close()).await.is_err() {
            warn!(self.log, "the store did not close in time");
        }
    }
}

pub(crate) fn cannot_bind(address: SocketAddr, flag: &'static str) -> impl Fn(BuildError) -> StartError {
    move |error| {
        let cause = std::error::Error::source(&error).map(ToString::to_string);
        StartError::Bind { address, reason: cause.unwrap_or_else(|| error.to_string()), flag }
    }
}

/// The logger for dropshot. Its records of requests hold the query, where somebody may have put a key, so
/// the edge writes its own, and of dropshot's only those are kept that say that no connection could be
/// accepted.
///
/// Those that come while the service stops are of its own making.
fn accept_errors(log: &Logger, stopping: &Arc<AtomicBool>) -> Logger {
    let stopping = Arc::clone(stopping);
    let about_accepting = move |record: &slog::Record<'_>| {
        record.level().is_at_least(slog::Level::Warning)
            && record.msg().to_string() == "accept error"
            && !stopping.load(Ordering::Relaxed)
    };
    Logger::root(slog::Filter::new(log.clone(), about_accepting).ignore_res(), o!())
}
