//! The listener for operators: whether the process lives, whether it is ready, and what it has counted.
//!
//! It has its own port, without keys and without TLS, so it belongs on the loopback or a network that
//! only operators reach.

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use dropshot::{
    ApiDescription, ApiDescriptionRegisterError, Body, ConfigDropshot, HttpError, HttpServer, RequestContext,
    ServerBuilder, endpoint,
};
use http::{Response, StatusCode, header};
use slog::Logger;
use tokio::time::timeout;

use crate::server::{StartError, cannot_bind};
use crate::storage::{PetsQuery, Store};
use crate::telemetry::metrics::Metrics;

/// How long the store may take to show that it is there.
const PROBE_TIMEOUT: Duration = Duration::from_secs(2);

/// What the listener tells about.
pub(crate) struct Watched {
    pub(crate) store: Arc<dyn Store>,
    pub(crate) metrics: Arc<Metrics>,
    /// Set when the service is told to stop: no new requests should be sent its way.
    pub(crate) stopping: Arc<AtomicBool>,
}

/// Starts the listener.
///
/// # Errors
/// When the address cannot be listened on.
pub(crate) fn start(
    bind: SocketAddr,
    watched: Watched,
    log: Logger,
) -> Result<HttpServer<Watched>, StartError> {
    let config = ConfigDropshot { bind_address: bind, ..Default::default() };
    let server = ServerBuilder::new(api()?, watched, log).config(config);
    server.start().map_err(cannot_bind(bind, "--ops-bind"))
}

fn api() -> Result<ApiDescription<Watched>, ApiDescriptionRegisterError> {
    let mut api = ApiDescription::new();
    api.register(livez)?;
    api.register(readyz)?;
    api.register(metrics)?;
    Ok(api)
}

/// The process answers.
#[endpoint { method = GET, path = "/livez" }]
async fn livez(_: RequestContext<Watched>) -> Result<Response<Body>, HttpError> {
    Ok(text(StatusCode::OK, "alive\n"))
}

/// The service takes requests: it is not about to stop, and its database answers.
#[endpoint { method = GET, path = "/readyz" }]
async fn readyz(context: RequestContext<Watched>) -> Result<Response<Body>, HttpError> {
    let watched = context.context();
    if watched.stopping.load(Ordering::Relaxed) {
        return Ok(text(StatusCode::SERVICE_UNAVAILABLE, "stopping\n"));
    }
    let probe = watched.store.pets(PetsQuery { status: None, after: None, limit: 1 });
    Ok(match timeout(PROBE_TIMEOUT, probe).await {
        Ok(Ok(_)) => text(StatusCode::OK, "ready\n"),
        // Says no more than a word or two, as all errors of a store.
        Ok(Err(error)) => text(StatusCode::SERVICE_UNAVAILABLE, format!("{error}\n")),
        Err(_) => {
            text(StatusCode::SERVICE_UNAVAILABLE, "the store is unavailable: it did not answer in time\n")
        }
    })
}

/// What was counted.
#[endpoint { method = GET, path = "/metrics" }]
async fn metrics(context: RequestContext<Watched>) -> Result<Response<Body>, HttpError> {
    let mut response = text(StatusCode::OK, context.context().metrics.page());
    let open_metrics = "application/openmetrics-text; version=1.0.0; charset=utf-8";
    response.headers_mut().insert(header::CONTENT_TYPE, header::HeaderValue::from_static(open_metrics));
    Ok(response)
}

fn text(status: StatusCode, body: impl Into<Body>) -> Response<Body> {
    let mut response = Response::new(body.into());
    *response.status_mut() = status;
    let plain = header::HeaderValue::from_static("text/plain; charset=utf-8");
    response.headers_mut().insert(header::CONTENT_TYPE, plain);
    response
}
