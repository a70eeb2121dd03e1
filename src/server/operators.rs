//! The operators' listener: liveness, readiness and metrics. It responds from before the store is open.
//!
//! It has its own port, without authentication and TLS, so it must be on the loopback interface or on a
//! network that only operators reach. A web page must not reach it through the browser of an operator, so it
//! answers only to hosts that no page can have: IP addresses, `localhost`, and names from the configuration
//! (DNS rebinding).

use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use dropshot::Body;
use http::header::{ACCEPT, ALLOW, CONTENT_TYPE, HOST, HeaderValue};
use http::{Method, Request, Response, StatusCode, Version};
use slog::Logger;
use tokio::runtime::Handle;
use tokio::sync::watch;
use tokio::time::timeout;
use tokio_util::task::AbortOnDropHandle;

use super::connection::{Respond, Serving};
use super::listener::{self, Bound, ListenError};
use crate::VERSION;
use crate::config::{Config, ConnectionLimits};
use crate::http::host;
use crate::storage::Store;
use crate::telemetry::metrics::{ConnectionMetrics, Metrics};

/// How long the store may take to respond to a readiness probe.
const PROBE_TIMEOUT: Duration = Duration::from_secs(2);
/// The limits of this listener. Its time limits keep silent clients from keeping operators away for long.
pub(super) const LIMITS: ConnectionLimits = ConnectionLimits {
    max: 16,
    max_requests: 16,
    header_timeout: Duration::from_secs(2),
    idle_timeout: Duration::from_secs(2),
    send_timeout: Duration::from_secs(2),
    max_age: Duration::from_secs(60),
};

/// What a service does, besides its store.
#[derive(Clone)]
pub(super) enum Phase {
    /// The store is not open yet. `/readyz` says so.
    Opening,
    /// The service responds to clients, if its store does.
    Serving(Arc<Store>),
    /// The service received a signal to stop.
    Stopping,
}

/// The running listener for operators. Dropping it closes it.
pub(super) struct OperatorsServer {
    /// The address; `None` without a listener.
    pub(super) address: Option<SocketAddr>,
    phase: watch::Sender<Phase>,
    _accepting: Option<AbortOnDropHandle<()>>,
}

impl OperatorsServer {
    /// Starts to accept connections on `socket`, if there is one. The runtime within which this is called serves them.
    ///
    /// # Errors
    /// When the socket cannot be used.
    pub(super) fn start(
        socket: Option<Bound>,
        operators: Operators,
        log: &Logger,
    ) -> Result<Self, ListenError> {
        let phase = operators.phase.clone();
        let serving = Arc::new(Serving::new(operators, LIMITS, ConnectionMetrics::default(), None, log));
        let accepting = socket.map(|socket| listener::start(socket, serving)).transpose()?;
        let (address, accepting) = accepting.unzip();
        Ok(Self { address, phase, _accepting: accepting })
    }

    /// Changes what `/readyz` reports.
    pub(super) fn report(&self, phase: Phase) {
        self.phase.send_replace(phase);
    }
}

/// Responds to operators.
pub(super) struct Operators {
    phase: watch::Sender<Phase>,
    metrics: Arc<Metrics>,
    /// The host names to which it answers, besides `localhost`.
    hosts: Vec<String>,
    /// The runtime of the store.
    api: Handle,
    /// The version of the API.
    api_version: &'static str,
}

impl Respond for Operators {
    async fn respond(&self, request: Request<Body>, _: Arc<str>) -> Response<Body> {
        if !self.is_own_host(&request) {
            return text(
                StatusCode::MISDIRECTED_REQUEST,
                "send a Host that is an IP address, localhost, or in the setting ops_hosts\n",
            );
        }
        let path = match (request.method(), request.uri().path()) {
            (&Method::GET | &Method::HEAD, path) => path,
            // The health check that HAProxy sends unless it is told otherwise.
            (&Method::OPTIONS, "/" | "*") => "/readyz",
            _ => {
                let mut response = text(StatusCode::METHOD_NOT_ALLOWED, "only GET and HEAD are allowed\n");
                response.headers_mut().insert(ALLOW, HeaderValue::from_static("GET, HEAD"));
                return response;
            }
        };
        match path {
            "/livez" => text(StatusCode::OK, "alive\n"),
            "/readyz" => match self.check_ready().await {
                Ok(()) => {
                    text(StatusCode::OK, format!("ready: animal-store {VERSION}, API {}\n", self.api_version))
                }
                Err(reason) => text(StatusCode::SERVICE_UNAVAILABLE, format!("{reason}\n")),
            },
            "/metrics" => {
                let (format, page) = if wants_classic(&request) {
                    ("text/plain; version=0.0.4; charset=utf-8", self.metrics.encode_classic())
                } else {
                    ("application/openmetrics-text; version=1.0.0; charset=utf-8", self.metrics.encode())
                };
                let mut response = text(StatusCode::OK, page);
                response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static(format));
                response
            }
            _ => text(StatusCode::NOT_FOUND, "only /livez, /readyz and /metrics exist\n"),
        }
    }
}

impl Operators {
    pub(super) fn new(
        config: &Config,
        metrics: Arc<Metrics>,
        api: &Handle,
        api_version: &'static str,
    ) -> Self {
        let phase = watch::Sender::new(Phase::Opening);
        Self { phase, metrics, hosts: config.ops_hosts.clone(), api: api.clone(), api_version }
    }

    fn is_own_host<B>(&self, request: &Request<B>) -> bool {
        let host = request.uri().authority().cloned().or_else(|| host(request.headers()));
        // No browser sends HTTP/1.0, and programs that do mostly have no Host.
        let Some(host) = host else {
            return request.version() == Version::HTTP_10 && !request.headers().contains_key(HOST);
        };
        let host = host.host();
        let address = host.strip_prefix('[').and_then(|host| host.strip_suffix(']')).unwrap_or(host);
        address.parse::<IpAddr>().is_ok()
            || host.eq_ignore_ascii_case("localhost")
            || self.hosts.iter().any(|own| own.eq_ignore_ascii_case(host))
    }

    /// Checks that the service has started and is not stopping, and that its store can be read and written.
    ///
    /// # Errors
    /// Why it is not ready.
    async fn check_ready(&self) -> Result<(), String> {
        let store = match self.phase.borrow().clone() {
            Phase::Opening => return Err("waiting for the database; its last error is in the log".to_owned()),
            Phase::Serving(store) => store,
            Phase::Stopping => return Err("stopping".to_owned()),
        };
        let check = self.api.spawn(async move { store.check_ready().await });
        match timeout(PROBE_TIMEOUT, check).await {
            Ok(Ok(ready)) => ready.map_err(|error| error.to_string()),
            Ok(Err(_)) => Err("the check of the store panicked".to_owned()),
            Err(_) => Err("the store is unavailable: it did not respond within the time limit".to_owned()),
        }
    }
}

/// Whether a client asks for text and not for OpenMetrics.
fn wants_classic<B>(request: &Request<B>) -> bool {
    let accept = request.headers().get_all(ACCEPT).iter().filter_map(|value| value.to_str().ok());
    let accept = accept.collect::<Vec<_>>().join(",");
    accept.contains("text/plain") && !accept.contains("openmetrics-text")
}

fn text(status: StatusCode, body: impl Into<Body>) -> Response<Body> {
    let mut response = Response::new(body.into());
    *response.status_mut() = status;
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("text/plain; charset=utf-8"));
    response
}
