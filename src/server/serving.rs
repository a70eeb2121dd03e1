//! Serves one connection with hyper: TLS handshake, HTTP/1 or HTTP/2, requests, end.

use std::convert::Infallible;
use std::net::IpAddr;
use std::sync::Arc;

use http::Request;
use http::header::{CONNECTION, HeaderValue};
use hyper::body::Incoming;
use hyper::server::conn::{http1, http2};
use hyper::service::service_fn;
use hyper_util::rt::{TokioExecutor, TokioIo};
use hyper_util::server::graceful::GracefulConnection;
use rustls::ServerConfig;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::sync::watch;
use tokio_rustls::TlsAcceptor;
use tokio_rustls::server::TlsStream;

use super::connection::{Connection, Ending};
use super::connections::{Connections, Registered};
use super::first_request::{Protocol, first_request};
use super::in_turn::InTurn;
use super::memory;
use super::monitored::Monitored;
use super::request_body::RequestBody;
use super::response_body::tie;
use super::socket::Socket;
use crate::http::router::{Responded, Router};
use crate::telemetry::connections::ConnectionMetrics;

/// The maximum size of a request's head over HTTP/1, and of the buffer for each direction.
const MAX_HEAD_BYTES: usize = 32 * 1024;
/// The maximum size of the headers of a request over HTTP/2 (RFC 9113, section 6.5.2).
const MAX_HEADER_LIST_BYTES: u32 = 16 * 1024;
/// The maximum number of requests at the same time on a connection over HTTP/2.
const MAX_STREAMS: u32 = 100;
/// The maximum sizes of request bodies that wait to be read, of a request and of a connection over HTTP/2.
const STREAM_WINDOW: u32 = 64 * 1024;
const CONNECTION_WINDOW: u32 = 256 * 1024;

/// What serves the connections of a listener.
pub(super) struct Serving {
    router: Router,
    pub(super) connections: Arc<Connections>,
    /// The certificate of new connections; `None` without TLS.
    pub(super) tls: Option<watch::Sender<Arc<ServerConfig>>>,
    http1: http1::Builder,
    http2: http2::Builder<TokioExecutor>,
}

impl Serving {
    pub(super) fn new(router: Router, connections: Arc<Connections>, tls: Option<ServerConfig>) -> Self {
        let mut http1 = http1::Builder::new();
        // `Connection` has the time limit.
        http1.header_read_timeout(None).max_buf_size(MAX_HEAD_BYTES);
        let mut http2 = http2::Builder::new(TokioExecutor::new());
        http2
            .max_header_list_size(MAX_HEADER_LIST_BYTES)
            .max_concurrent_streams(MAX_STREAMS)
            .initial_stream_window_size(STREAM_WINDOW)
            .initial_connection_window_size(CONNECTION_WINDOW);
        let tls = tls.map(|config| watch::Sender::new(Arc::new(config)));
        Self { router, connections, tls, http1, http2 }
    }
}

/// Serves a connection until it ends.
pub(super) async fn serve(serving: Arc<Serving>, socket: Socket, peer: IpAddr, registered: Registered) {
    let connection = registered.connection.clone();
    if let Some(tls) = &serving.tls {
        let config = tls.borrow().clone();
        // In a box, as below: the memory of most connections is that of idle ones.
        let handshake = Box::pin(handshake(config, socket, &connection, serving.connections.metrics()));
        if let Some(stream) = handshake.await {
            let http2 = stream.get_ref().1.alpn_protocol() == Some(b"h2");
            let protocol = if http2 { Protocol::Http2 } else { Protocol::Http1 };
            serve_http(serving, stream, protocol, peer, connection).await;
        }
        return;
    }
    let protocol = tokio::select! {
        biased;
        protocol = first_request(socket.stream()) => protocol,
        _ = connection.ending(None) => return,
    };
    if let Ok(protocol) = protocol {
        serve_http(serving, socket, protocol, peer, connection).await;
    }
}

/// Returns `None` when the client fails in the handshake, or the connection ends before.
async fn handshake(
    config: Arc<ServerConfig>,
    socket: Socket,
    connection: &Connection,
    metrics: &ConnectionMetrics,
) -> Option<Box<TlsStream<Socket>>> {
    let accepted = async {
        // rustls allocates its buffers after the client's first byte.
        socket.stream().peek(&mut [0]).await?;
        TlsAcceptor::from(config).accept(socket).await
    };
    let accepted = tokio::select! {
        biased;
        accepted = accepted => accepted,
        _ = connection.ending(None) => return None,
    };
    if accepted.is_err() {
        metrics.handshakes_failed.inc();
    }
    let stream = Box::new(accepted.ok()?);
    connection.handshake_complete();
    Some(stream)
}

async fn serve_http(
    serving: Arc<Serving>,
    stream: impl AsyncRead + AsyncWrite + Unpin + Send + 'static,
    protocol: Protocol,
    peer: IpAddr,
    connection: Arc<Connection>,
) {
    let io = TokioIo::new(Monitored::new(stream, protocol, connection.clone()));
    let respond = service_fn(|request: Request<Incoming>| {
        let (serving, connection) = (serving.clone(), connection.clone());
        // Before hyper reads the next request.
        let mut open_request = connection.open_request(memory::REQUEST + memory::headers(request.headers()));
        let request = RequestBody::charge(request, |bytes| connection.hold(bytes));
        async move {
            open_request.begin(request.method().is_safe()).await;
            // In a box, so that a connection without a request does not have the memory of one.
            let respond = Box::pin(serving.router.respond(request, peer));
            let Responded { mut response, has_key } = respond.await;
            if has_key {
                connection.set_has_key();
            }
            if protocol == Protocol::Http1 && serving.connections.is_shutting_down() {
                response.headers_mut().insert(CONNECTION, HeaderValue::from_static("close"));
            }
            Ok::<_, Infallible>(tie(response, open_request).await)
        }
    });
    connection.set_protocol(protocol);
    match protocol {
        Protocol::Http1 => run(serving.http1.serve_connection(io, respond), &connection).await,
        Protocol::Http2 => run(serving.http2.serve_connection(io, respond), &connection).await,
    }
}

/// Runs hyper's part of a connection until it ends.
async fn run(http: impl GracefulConnection, connection: &Arc<Connection>) {
    let mut http = InTurn::new(connection.clone(), http);
    let mut ending = None;
    loop {
        tokio::select! {
            biased;
            // Errors are those of the client: it is gone, or does not speak HTTP.
            _ = &mut http => return,
            next = connection.ending(ending) => match next {
                Ending::Finish => {
                    http.work.as_mut().graceful_shutdown();
                    ending = Some(next);
                }
                Ending::Abort => return,
            },
        }
    }
}
