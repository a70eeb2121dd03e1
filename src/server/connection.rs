//! Serves one connection with hyper: TLS handshake, HTTP/1.1 or HTTP/2, requests, end.

use std::error::Error as _;
use std::pin::pin;
use std::sync::Arc;

use dropshot::Body;
use http::header::{CONNECTION, EXPECT, HeaderValue};
use http::{Request, Response};
use http_body_util::Full;
use hyper::body::{Body as _, Bytes, Incoming};
use hyper::server::conn::{http1, http2};
use hyper::service::service_fn;
use hyper_util::rt::{TokioExecutor, TokioIo};
use hyper_util::server::graceful::GracefulConnection;
use rustls::ServerConfig;
use slog::Logger;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;
use tokio::sync::{Semaphore, watch};
use tokio::time::{Instant, MissedTickBehavior, interval, timeout};
use tokio_rustls::TlsAcceptor;
use tokio_util::io::InspectWriter;
use tokio_util::sync::CancellationToken;

use super::activity::{Activity, PERIOD, Verdict, Watch};
use super::body::{incoming, outgoing};
use crate::config::ConnectionLimits;
use crate::http::Router;
use crate::telemetry::metrics::{ConnectionMetrics, Timeout};

/// The maximum size of a request's head over HTTP/1.1, and of the buffer for each direction.
const MAX_HEAD_BYTES: usize = 32 * 1024;
/// The maximum size of the headers of a request over HTTP/2 (RFC 9113, section 6.5.2).
const MAX_HEADER_LIST_BYTES: u32 = 16 * 1024;
/// The maximum number of requests at the same time on a connection over HTTP/2.
const MAX_STREAMS: u32 = 32;
/// The maximum size of request bodies that wait to be read, of a request and of a connection over HTTP/2.
const WINDOW: u32 = 64 * 1024;
/// What rustls may buffer for a client, in each direction.
const MAX_TLS_BYTES: usize = 32 * 1024;

/// Responds to the requests of a listener.
pub(super) trait Respond: Send + Sync + 'static {
    /// Returns the response to a request from the IP address `peer`.
    fn respond(&self, request: Request<Body>, peer: Arc<str>) -> impl Future<Output = Response<Body>> + Send;
}

impl Respond for Router {
    // Without another future around that of the router, which would be copied once more.
    fn respond(&self, request: Request<Body>, peer: Arc<str>) -> impl Future<Output = Response<Body>> + Send {
        Self::respond(self, request, peer)
    }
}

/// What serves the connections of a listener.
pub(super) struct Serving<R> {
    responder: R,
    pub(super) limits: ConnectionLimits,
    pub(super) metrics: ConnectionMetrics,
    pub(super) log: Logger,
    /// The certificate of new connections; `None` without TLS.
    pub(super) tls: Option<watch::Sender<Arc<ServerConfig>>>,
    /// A permit for each request.
    requests: Arc<Semaphore>,
    http1: http1::Builder,
    http2: http2::Builder<TokioExecutor>,
    /// Cancelled when clients are to be told that the service stops.
    pub(super) stopping: CancellationToken,
    /// Cancelled when connections are to end.
    pub(super) closing: CancellationToken,
}

impl<R: Respond> Serving<R> {
    pub(super) fn new(
        responder: R,
        limits: ConnectionLimits,
        metrics: ConnectionMetrics,
        tls: Option<Arc<ServerConfig>>,
        log: &Logger,
    ) -> Self {
        let mut http1 = http1::Builder::new();
        // `Watch` has the time limit.
        http1.header_read_timeout(None).half_close(true);
        http1.max_header_size(MAX_HEAD_BYTES).max_buf_size(MAX_HEAD_BYTES);
        let mut http2 = http2::Builder::new(TokioExecutor::new());
        http2.max_header_list_size(MAX_HEADER_LIST_BYTES).max_concurrent_streams(MAX_STREAMS);
        http2.initial_stream_window_size(WINDOW).initial_connection_window_size(WINDOW);
        Self {
            responder,
            limits,
            metrics,
            log: log.clone(),
            tls: tls.map(watch::Sender::new),
            requests: Arc::new(Semaphore::new(limits.max_requests)),
            http1,
            http2,
            stopping: CancellationToken::new(),
            closing: CancellationToken::new(),
        }
    }

    /// Serves a connection until it ends. HTTP/2 needs TLS, which negotiates it (ALPN, RFC 9113, section 3.2).
    pub(super) async fn serve(self: Arc<Self>, stream: TcpStream, peer: Arc<str>) {
        let activity = Arc::<Activity>::default();
        let counted = activity.clone();
        let stream = InspectWriter::new(stream, move |bytes: &[u8]| counted.wrote(bytes));
        let Some(tls) = &self.tls else { return self.http(stream, false, peer, activity).await };
        let acceptor = TlsAcceptor::from(tls.borrow().clone());
        // In a box, as below: the memory of most connections is that of idle ones.
        match Box::pin(timeout(self.limits.header_timeout, acceptor.accept(stream))).await {
            Ok(Ok(mut stream)) => {
                let tls = stream.get_mut().1;
                tls.set_buffer_limit(Some(MAX_TLS_BYTES));
                let is_http2 = tls.alpn_protocol() == Some(b"h2");
                self.http(stream, is_http2, peer, activity).await;
            }
            Ok(Err(error)) => self.metrics.handshake_failed(&self.log, &peer, &error),
            Err(_) => self.metrics.timed_out(Some(Timeout::Header)),
        }
    }

    async fn http(
        self: &Arc<Self>,
        stream: impl AsyncRead + AsyncWrite + Unpin + Send + 'static,
        is_http2: bool,
        peer: Arc<str>,
        activity: Arc<Activity>,
    ) {
        let io = TokioIo::new(stream);
        let watch = Watch::new(activity.clone(), self.limits, is_http2, Instant::now());
        let service = service_fn(|request| self.respond(request, is_http2, peer.clone(), activity.clone()));
        let result = match is_http2 {
            true => self.run(self.http2.serve_connection(io, service), watch).await,
            false => self.run(self.http1.serve_connection(io, service), watch).await,
        };
        if let Err(error) = result
            && is_refusal(&error)
        {
            let why = error.source().map_or_else(|| error.to_string(), |source| format!("{error}: {source}"));
            self.metrics.malformed(&self.log, &peer, why);
        }
    }

    /// Returns the response to a request.
    ///
    /// # Errors
    /// Over HTTP/2, when there are too many requests: the stream is reset, and its client may send the request again (RFC
    /// 9113, section 8.7).
    fn respond(
        self: &Arc<Self>,
        request: Request<Incoming>,
        is_http2: bool,
        peer: Arc<str>,
        activity: Arc<Activity>,
    ) -> impl Future<Output = Result<Response<Full<Bytes>>, h2::Error>> + Send + use<R> {
        let serving = self.clone();
        let running = activity.request();
        let permit = serving.requests.clone().try_acquire_owned();
        // The head is freed before hyper reads the next request.
        let request = (permit.is_ok() || !is_http2).then_some(request);
        async move {
            let request = request.ok_or(h2::Reason::REFUSED_STREAM)?;
            let permit = match permit {
                Ok(permit) => Some(permit),
                // A connection over HTTP/1.1 has one request, so waiting holds no more than the connection does.
                Err(_) => serving.requests.clone().acquire_owned().await.ok(),
            };
            // hyper ends trailers only at CRLF, and would take a request after trailers that end with LF for more of them.
            let is_chunked = request.body().size_hint().exact().is_none();
            let expects = request.headers().contains_key(EXPECT);
            let request = incoming(request);
            // In a box, so that a connection without a request does not have the memory of one.
            let mut response = Box::pin(serving.responder.respond(request, peer)).await;
            // Such a client may send its body, or not (RFC 9110, section 10.1.1).
            let is_uncertain = expects && response.status().is_client_error();
            if !is_http2 && (is_chunked || is_uncertain || serving.stopping.is_cancelled() || activity.ends())
            {
                response.headers_mut().insert(CONNECTION, HeaderValue::from_static("close"));
            }
            drop(running);
            Ok(outgoing(response, permit, &activity).await)
        }
    }

    /// Runs hyper's part of a connection until it ends or exceeds a limit.
    async fn run<C>(&self, http: C, mut watch: Watch) -> hyper::Result<()>
    where
        C: GracefulConnection<Error = hyper::Error>,
    {
        let mut http = pin!(http);
        let mut period = interval(PERIOD);
        period.set_missed_tick_behavior(MissedTickBehavior::Delay);
        loop {
            // First what is ready: a client is not late because the service is.
            tokio::select! {
                biased;
                result = &mut http => return result,
                () = self.closing.cancelled(), if !watch.activity.ends() => watch.tell(Instant::now()),
                _ = period.tick() => match watch.look(Instant::now()) {
                    Verdict::Keep => continue,
                    Verdict::Tell(limit) => {
                        watch.tell(Instant::now());
                        self.metrics.timed_out(limit);
                    }
                    Verdict::Close(limit) => {
                        self.metrics.timed_out(limit);
                        return Ok(());
                    }
                },
            }
            // Over HTTP/1.1, this would close an idle connection at once, whose next request may be on its way.
            if watch.is_http2 {
                http.as_mut().graceful_shutdown();
            }
        }
    }
}

/// Whether hyper refused what the client sent.
fn is_refusal(error: &hyper::Error) -> bool {
    let http2 = error.source().and_then(|source| source.downcast_ref::<h2::Error>());
    error.is_parse() || http2.is_some_and(|error| error.is_library() && !error.is_io())
}
