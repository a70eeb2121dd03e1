//! The operators' listener: liveness, readiness and metrics.
//!
//! It has its own port, without authentication and TLS, so it must be on the loopback interface or on a
//! network that only operators reach. A web page must not reach it through the browser of an operator, so it
//! answers only to hosts that no page can have: IP addresses, `localhost`, and names from the configuration
//! (DNS rebinding).

use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;

use dropshot::Body;
use http::header::{ALLOW, CONTENT_TYPE, HOST, HeaderValue};
use http::uri::Authority;
use http::{Method, Request, Response, StatusCode};
use hyper::body::Incoming;
use tokio::runtime::Handle;
use tokio::time::timeout;

use super::connections::Connections;
use super::serving::Handler;
use crate::storage::Store;
use crate::telemetry::metrics::Metrics;

/// How long the store may take to respond to a readiness probe.
const PROBE_TIMEOUT: Duration = Duration::from_secs(2);
/// The maximum number of connections.
pub(super) const MAX_CONNECTIONS: usize = 16;

/// Responds to operators.
pub(super) struct Operators {
    pub(super) store: Arc<dyn Store>,
    pub(super) metrics: Arc<Metrics>,
    /// The connections of the public listener.
    pub(super) connections: Arc<Connections>,
    /// The host names to which it answers, besides `localhost`.
    pub(super) hosts: Vec<String>,
    /// The runtime of the store.
    pub(super) api: Handle,
}

impl Handler for Operators {
    async fn respond(&self, request: Request<Incoming>, _: IpAddr) -> Response<Body> {
        if !self.is_own_host(&request) {
            return text(
                StatusCode::MISDIRECTED_REQUEST,
                "send a Host that is an IP address, localhost, or in the setting ops_hosts\n",
            );
        }
        if !matches!(*request.method(), Method::GET | Method::HEAD) {
            let mut response = text(StatusCode::METHOD_NOT_ALLOWED, "this path allows only GET, HEAD\n");
            response.headers_mut().insert(ALLOW, HeaderValue::from_static("GET, HEAD"));
            return response;
        }
        match request.uri().path() {
            "/livez" => text(StatusCode::OK, "alive\n"),
            "/readyz" => self.ready().await,
            "/metrics" => {
                let mut response = text(StatusCode::OK, self.metrics.encode());
                let open_metrics = "application/openmetrics-text; version=1.0.0; charset=utf-8";
                response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static(open_metrics));
                response
            }
            _ => text(StatusCode::NOT_FOUND, "only /livez, /readyz and /metrics exist\n"),
        }
    }
}

impl Operators {
    fn is_own_host(&self, request: &Request<Incoming>) -> bool {
        let host = request.uri().authority().cloned().or_else(|| {
            let mut hosts = request.headers().get_all(HOST).iter();
            let host = hosts.next().filter(|_| hosts.next().is_none())?;
            Authority::try_from(host.as_bytes()).ok()
        });
        let Some(host) = host else { return false };
        let host = host.host();
        let address = host.strip_prefix('[').and_then(|host| host.strip_suffix(']')).unwrap_or(host);
        address.parse::<IpAddr>().is_ok()
            || host.eq_ignore_ascii_case("localhost")
            || self.hosts.iter().any(|own| own.eq_ignore_ascii_case(host))
    }

    /// Returns 200 while the service is not shutting down and its store can be read and written, else 503.
    async fn ready(&self) -> Response<Body> {
        if self.connections.is_shutting_down() {
            return text(StatusCode::SERVICE_UNAVAILABLE, "stopping\n");
        }
        let store = self.store.clone();
        match timeout(PROBE_TIMEOUT, self.api.spawn(async move { store.check_ready().await })).await {
            Ok(Ok(Ok(()))) => text(StatusCode::OK, "ready\n"),
            Ok(Ok(Err(error))) => text(StatusCode::SERVICE_UNAVAILABLE, format!("{error}\n")),
            Ok(Err(_)) => text(StatusCode::SERVICE_UNAVAILABLE, "the check of the store panicked\n"),
            Err(_) => text(
                StatusCode::SERVICE_UNAVAILABLE,
                "the store is unavailable: it did not respond within the time limit\n",
            ),
        }
    }
}

fn text(status: StatusCode, body: impl Into<Body>) -> Response<Body> {
    let mut response = Response::new(body.into());
    *response.status_mut() = status;
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("text/plain; charset=utf-8"));
    response
}
