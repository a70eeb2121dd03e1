//! Serves one connection with hyper: TLS handshake, HTTP/1 or HTTP/2, requests, end.

use std::convert::Infallible;
use std::future::Future;
use std::net::SocketAddr;
use std::pin::pin;
use std::sync::Arc;

use dropshot::Body;
use http::header::{CONNECTION, HeaderValue};
use http::{Request, Response, Version};
use hyper::body::Incoming;
use hyper::service::service_fn;
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use hyper_util::server::conn::auto;
use rustls::ServerConfig;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;
use tokio_rustls::TlsAcceptor;

use super::connection::{Connection, Ending};
use super::connections::{Connections, Registered};
use super::monitored::Monitored;
use super::response_body::ResponseBody;

/// The maximum size of a request's head over HTTP/1, and of the buffer for each direction.
const MAX_HEAD_BYTES: usize = 32 * 1024;
/// The maximum size of the headers of a request over HTTP/2 (RFC 9113, section 6.5.2).
const MAX_HEADER_LIST_BYTES: u32 = 16 * 1024;
/// The maximum number of requests at the same time on a connection over HTTP/2.
const MAX_STREAMS: u32 = 100;
/// The maximum sizes of request bodies that wait to be read, of a request and of a connection over HTTP/2.
const STREAM_WINDOW: u32 = 64 * 1024;
const CONNECTION_WINDOW: u32 = 256 * 1024;

/// Responds to the requests of a listener.
pub(super) trait Handler: Send + Sync + 'static {
    /// Returns the response to a request from `peer`.
    fn respond(
        &self,
        request: Request<Incoming>,
        peer: SocketAddr,
    ) -> impl Future<Output = Response<Body>> + Send;
}

/// Returns hyper's part of a listener, which all its connections share.
pub(super) fn protocols() -> auto::Builder<TokioExecutor> {
    let mut protocols = auto::Builder::new(TokioExecutor::new());
    // `Connection` has the time limit.
    protocols.http1().timer(TokioTimer::new()).header_read_timeout(None).max_buf_size(MAX_HEAD_BYTES);
    protocols
        .http2()
        .timer(TokioTimer::new())
        .max_header_list_size(MAX_HEADER_LIST_BYTES)
        .max_concurrent_streams(MAX_STREAMS)
        .initial_stream_window_size(STREAM_WINDOW)
        .initial_connection_window_size(CONNECTION_WINDOW);
    protocols
}

/// What the connections of a listener share.
pub(super) struct Shared<H> {
    pub(super) handler: H,
    pub(super) connections: Arc<Connections>,
    pub(super) protocols: auto::Builder<TokioExecutor>,
}

/// Serves a connection until it ends.
pub(super) async fn serve<H: Handler>(
    shared: Arc<Shared<H>>,
    stream: TcpStream,
    peer: SocketAddr,
    tls: Option<Arc<ServerConfig>>,
    registered: Registered,
) {
    let connection = registered.connection.clone();
    // A client that sends nothing costs no buffers.
    tokio::select! {
        readable = stream.readable() => if readable.is_err() { return },
        _ = connection.ending(None) => return,
    }
    // In boxes: the memory of most connections is that of idle ones, which need the largest of these futures.
    match tls {
        None => Box::pin(serve_http(shared, stream, peer, connection)).await,
        Some(config) => {
            let handshake = Box::pin(TlsAcceptor::from(config).accept(stream));
            let stream = tokio::select! {
                stream = handshake => stream,
                _ = connection.ending(None) => return,
            };
            match stream {
                Ok(stream) => {
                    connection.handshake_complete();
                    Box::pin(serve_http(shared, stream, peer, connection)).await;
                }
                Err(_) => shared.connections.metrics().handshake_failed(),
            }
        }
    }
}

async fn serve_http<H: Handler, S: AsyncRead + AsyncWrite + Unpin + Send + 'static>(
    shared: Arc<Shared<H>>,
    stream: S,
    peer: SocketAddr,
    connection: Arc<Connection>,
) {
    let respond = service_fn(|request: Request<Incoming>| {
        let (shared, connection) = (shared.clone(), connection.clone());
        async move {
            let version = request.version();
            let _in_progress = connection.begin_request(version).await;
            let mut response = shared.handler.respond(request, peer).await;
            if version < Version::HTTP_2 && shared.connections.is_shutting_down() {
                response.headers_mut().insert(CONNECTION, HeaderValue::from_static("close"));
            }
            Ok::<_, Infallible>(response.map(|body| ResponseBody::new(body, &connection)))
        }
    });
    let io = TokioIo::new(Monitored::new(stream, connection.clone()));
    let mut http = pin!(shared.protocols.serve_connection(io, respond));
    let mut ending = None;
    loop {
        tokio::select! {
            // Errors are those of the client: it is gone, or does not speak HTTP.
            _ = http.as_mut() => return,
            next = connection.ending(ending) => match next {
                Ending::Finish => {
                    http.as_mut().graceful_shutdown();
                    ending = Some(next);
                }
                Ending::Abort => return,
            },
        }
    }
}
