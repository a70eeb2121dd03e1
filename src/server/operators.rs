//! The operators' listener: liveness, readiness and metrics.
//!
//! It has its own port, without authentication and TLS, so it must be on the loopback interface or on a
//! network that only operators reach.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use dropshot::{
    ApiDescription, ApiDescriptionRegisterError, Body, ConfigDropshot, HttpError, HttpServer, RequestContext,
    ServerBuilder, endpoint,
};
use http::{Response, StatusCode, header};
use slog::Logger;
use tokio::time::timeout;

use super::options::StartError;
use crate::http::in_flight::InFlight;
use crate::storage::Store;
use crate::telemetry::metrics::Metrics;

/// How long the store may take to respond to a readiness probe.
const PROBE_TIMEOUT: Duration = Duration::from_secs(2);

/// The state that the listener reports.
pub(super) struct Operators {
    pub(super) store: Arc<dyn Store>,
    pub(super) metrics: Arc<Metrics>,
    pub(super) in_flight: Arc<InFlight>,
}

/// Starts the listener.
///
/// # Errors
/// When the address cannot be bound.
pub(super) fn start(
    bind: SocketAddr,
    operators: Operators,
    log: Logger,
) -> Result<HttpServer<Operators>, StartError> {
    let config = ConfigDropshot { bind_address: bind, ..Default::default() };
    let server = ServerBuilder::new(endpoints()?, operators, log).config(config);
    server.start().map_err(|error| StartError::bind(bind, "ops_bind", &error))
}

fn endpoints() -> Result<ApiDescription<Operators>, ApiDescriptionRegisterError> {
    let mut api = ApiDescription::new();
    api.register(livez)?;
    api.register(readyz)?;
    api.register(metrics)?;
    Ok(api)
}

/// Responds while the process runs.
#[endpoint { method = GET, path = "/livez" }]
async fn livez(_: RequestContext<Operators>) -> Result<Response<Body>, HttpError> {
    Ok(text(StatusCode::OK, "alive\n"))
}

/// Responds with 200 while the service is not shutting down and its store responds, else with 503.
#[endpoint { method = GET, path = "/readyz" }]
async fn readyz(context: RequestContext<Operators>) -> Result<Response<Body>, HttpError> {
    let operators = context.context();
    if operators.in_flight.is_shutting_down() {
        return Ok(text(StatusCode::SERVICE_UNAVAILABLE, "stopping\n"));
    }
    Ok(match timeout(PROBE_TIMEOUT, operators.store.check_ready()).await {
        Ok(Ok(())) => text(StatusCode::OK, "ready\n"),
        Ok(Err(error)) => text(StatusCode::SERVICE_UNAVAILABLE, format!("{error}\n")),
        Err(_) => text(
            StatusCode::SERVICE_UNAVAILABLE,
            "the store is unavailable: it did not respond within the time limit\n",
        ),
    })
}

/// Responds with the metrics.
#[endpoint { method = GET, path = "/metrics" }]
async fn metrics(context: RequestContext<Operators>) -> Result<Response<Body>, HttpError> {
    let mut response = text(StatusCode::OK, context.context().metrics.encode());
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
