//! Starting and stopping: from a configuration to a service that answers, and back.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use dropshot::{ConfigDropshot, HandlerTaskMode, HttpServer, ServerBuilder};
use slog::{Drain, Logger, info, o, warn};
use tokio::time::timeout;

use crate::document::{Document, DocumentError};
use crate::edge::{self, Edge};
use crate::operations::{self, BASE_PATH};
use crate::service::{RateLimit, Service};
use crate::storage::Store;

/// What a server needs to know beside its store and its document.
#[derive(Clone, Debug)]
pub struct ServerOptions {
    /// The address to listen on; port 0 picks a free one.
    pub bind: SocketAddr,
    /// How long each step of a request may take: to judge its key, to read its body, to do what it asks.
    pub request_timeout: Duration,
    /// How many requests a key may make, if there is a limit.
    pub rate_limit: Option<RateLimit>,
}

/// Why a server did not start. One line that says what to do.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    /// The document does not fit the code.
    #[error(transparent)]
    Document(#[from] DocumentError),
    /// The address cannot be listened on.
    #[error("cannot listen on {address}: {reason}; choose another address with --bind")]
    Bind {
        /// The address asked for.
        address: SocketAddr,
        /// What the system says.
        reason: String,
    },
    /// dropshot did not take the operations.
    #[error("the operations clash: {0}")]
    Operations(#[from] dropshot::ApiDescriptionRegisterError),
}

/// A running server. Dropping it does not wait; [`Server::stop`] does.
pub struct Server {
    http: HttpServer<Service>,
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
        let edge = Edge::new(operations::api()?, document)?;
        let service =
            Service::new(Arc::clone(&store), edge, options.request_timeout, options.rate_limit, log.clone());
        let config = ConfigDropshot {
            bind_address: options.bind,
            default_request_body_max_bytes: crate::call::MAX_BODY_BYTES,
            // Every handler can be dropped at any await, and is then spared a task and a channel.
            default_handler_task_mode: HandlerTaskMode::CancelOnDisconnect,
            ..Default::default()
        };
        let http = ServerBuilder::new(edge::api()?, service, accept_errors(log))
            .config(config)
            .start()
            .map_err(|error| StartError::Bind {
                address: options.bind,
                reason: std::error::Error::source(&error)
                    .map_or_else(|| error.to_string(), ToString::to_string),
            })?;
        Ok(Self { http, store, log: log.clone() })
    }

    /// The base URL: scheme, address and [`BASE_PATH`].
    pub fn base_url(&self) -> String {
        format!("http://{}{BASE_PATH}", self.http.local_addr())
    }

    /// The address that it listens on.
    pub fn address(&self) -> SocketAddr {
        self.http.local_addr()
    }

    /// Stops to listen, finishes what is in flight within `grace`, and closes the store. What is not
    /// finished by then is cut off.
    pub async fn stop(self, grace: Duration) {
        match timeout(grace, self.http.close()).await {
            Ok(Ok(())) => info!(self.log, "all requests finished"),
            Ok(Err(error)) => warn!(self.log, "the server did not stop cleanly"; "error" => error),
            Err(_) => warn!(self.log, "cut off requests that did not finish in time"),
        }
        self.store.close().await;
    }
}

/// The logger for dropshot. Its records of requests hold the query, where somebody may have put a key, so
/// the edge writes its own, and of dropshot's only those are kept that say that no connection could be
/// accepted.
fn accept_errors(log: &Logger) -> Logger {
    let about_accepting = |record: &slog::Record<'_>| {
        record.level().is_at_least(slog::Level::Warning) && record.msg().to_string() == "accept error"
    };
    Logger::root(slog::Filter::new(log.clone(), about_accepting).ignore_res(), o!())
}
