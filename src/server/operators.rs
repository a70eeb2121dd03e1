//! The operators' listener: liveness, readiness and metrics.
//!
//! It has its own port, without authentication and TLS, so it must be on the loopback interface or on a
//! network that only operators reach. A web page must not reach it through the browser of an operator, so it
//! answers only to hosts that no page can have: IP addresses, `localhost`, and names from the configuration
//! (DNS rebinding).

use std::collections::VecDeque;
use std::convert::Infallible;
use std::io;
use std::net::{IpAddr, SocketAddr, TcpListener as StdListener};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::time::Duration;

use dropshot::Body;
use http::header::{ALLOW, CONTENT_TYPE, HeaderValue};
use http::{Method, Request, Response, StatusCode};
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::net::{TcpListener, TcpStream};
use tokio::runtime::Handle;
use tokio::time::{sleep, timeout};
use tokio_util::task::AbortOnDropHandle;

use super::connections::Connections;
use crate::VERSION;
use crate::http::malformed::{host, malformed};
use crate::storage::Store;
use crate::telemetry::metrics::Metrics;

/// How long the store may take to respond to a readiness probe.
const PROBE_TIMEOUT: Duration = Duration::from_secs(2);
/// How long a client may take to send its request.
const HEAD_TIMEOUT: Duration = Duration::from_secs(2);
/// The maximum size of a request's head, and of the buffer for each direction.
const MAX_HEAD_BYTES: usize = 16 * 1024;
/// The maximum number of connections.
pub(super) const MAX_CONNECTIONS: usize = 16;
/// How long the listener waits after it could not accept a connection.
const RETRY: Duration = Duration::from_millis(100);

/// Starts the task that accepts connections, which closes them when it ends. Returns it with the address of the listener.
/// Must be called within a tokio runtime.
///
/// # Errors
/// When the runtime rejects the socket.
pub(super) fn start(
    socket: StdListener,
    operators: Operators,
) -> io::Result<(SocketAddr, AbortOnDropHandle<()>)> {
    let address = socket.local_addr()?;
    let accept = accept(TcpListener::from_std(socket)?, Arc::new(operators));
    Ok((address, AbortOnDropHandle::new(tokio::spawn(accept))))
}

/// Serves one request for each connection. When there are too many connections, closes the oldest one that has sent no
/// request, so that silent clients do not keep operators away.
async fn accept(socket: TcpListener, operators: Arc<Operators>) {
    let mut open = VecDeque::<(AbortOnDropHandle<()>, Arc<AtomicBool>)>::new();
    loop {
        let Ok((stream, _)) = socket.accept().await else {
            sleep(RETRY).await;
            continue;
        };
        open.retain(|(task, _)| !task.is_finished());
        if open.len() >= MAX_CONNECTIONS {
            let silent = open.iter().position(|(_, has_request)| !has_request.load(Relaxed));
            open.remove(silent.unwrap_or_default());
        }
        let has_request = Arc::<AtomicBool>::default();
        let task = tokio::spawn(serve(stream, operators.clone(), has_request.clone()));
        open.push_back((AbortOnDropHandle::new(task), has_request));
    }
}

async fn serve(stream: TcpStream, operators: Arc<Operators>, has_request: Arc<AtomicBool>) {
    let respond = service_fn(async |request: Request<Incoming>| {
        has_request.store(true, Relaxed);
        Ok::<_, Infallible>(operators.respond(&request.map(drop)).await)
    });
    let mut http = http1::Builder::new();
    http.timer(TokioTimer::new())
        .header_read_timeout(HEAD_TIMEOUT)
        .max_buf_size(MAX_HEAD_BYTES)
        .keep_alive(false);
    // Errors are those of the client.
    let _ = http.serve_connection(TokioIo::new(stream), respond).await;
}

/// Responds to operators.
pub(super) struct Operators {
    pub(super) store: Arc<Store>,
    pub(super) metrics: Arc<Metrics>,
    /// The connections of the public listener.
    pub(super) connections: Arc<Connections>,
    /// The host names to which it answers, besides `localhost`.
    pub(super) hosts: Vec<String>,
    /// The runtime of the store.
    pub(super) api: Handle,
    /// The version of the API.
    pub(super) api_version: &'static str,
}

impl Operators {
    async fn respond(&self, request: &Request<()>) -> Response<Body> {
        if let Err(error) = malformed(request) {
            return text(StatusCode::BAD_REQUEST, format!("{error}\n"));
        }
        if !self.is_own_host(request) {
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
            "/readyz" => match self.check_ready().await {
                Ok(()) => {
                    text(StatusCode::OK, format!("ready: animal-store {VERSION}, API {}\n", self.api_version))
                }
                Err(reason) => text(StatusCode::SERVICE_UNAVAILABLE, format!("{reason}\n")),
            },
            "/metrics" => {
                let mut response = text(StatusCode::OK, self.metrics.encode());
                let open_metrics = "application/openmetrics-text; version=1.0.0; charset=utf-8";
                response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static(open_metrics));
                response
            }
            _ => text(StatusCode::NOT_FOUND, "only /livez, /readyz and /metrics exist\n"),
        }
    }

    fn is_own_host(&self, request: &Request<()>) -> bool {
        let host = request.uri().authority().cloned().or_else(|| host(request.headers()));
        let Some(host) = host else { return false };
        let host = host.host();
        let address = host.strip_prefix('[').and_then(|host| host.strip_suffix(']')).unwrap_or(host);
        address.parse::<IpAddr>().is_ok()
            || host.eq_ignore_ascii_case("localhost")
            || self.hosts.iter().any(|own| own.eq_ignore_ascii_case(host))
    }

    /// Checks that the service is not shutting down, and that its store can be read and written.
    ///
    /// # Errors
    /// Why it is not ready.
    async fn check_ready(&self) -> Result<(), String> {
        if self.connections.is_shutting_down() {
            return Err("stopping".to_owned());
        }
        let store = self.store.clone();
        let check = self.api.spawn(async move { store.check_ready().await });
        match timeout(PROBE_TIMEOUT, check).await {
            Ok(Ok(ready)) => ready.map_err(|error| error.to_string()),
            Ok(Err(_)) => Err("the check of the store panicked".to_owned()),
            Err(_) => Err("the store is unavailable: it did not respond within the time limit".to_owned()),
        }
    }
}

fn text(status: StatusCode, body: impl Into<Body>) -> Response<Body> {
    let mut response = Response::new(body.into());
    *response.status_mut() = status;
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("text/plain; charset=utf-8"));
    response
}
