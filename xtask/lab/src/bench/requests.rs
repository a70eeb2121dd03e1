//! The measured requests. Sends an exact number of them over 64 connections that are open already, so that their cost
//! can be divided by their number.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use http::header::{AUTHORIZATION, CONTENT_TYPE, HOST};
use http::{Method, StatusCode};
use http_body_util::{BodyExt, Full};
use hyper::body::Bytes;
use hyper::client::conn::http1::{self, SendRequest};
use hyper_util::rt::TokioIo;
use tokio::net::TcpStream;
use tokio::runtime::{Builder, Runtime};
use tokio::task::JoinSet;

use super::server::Server;

pub(super) const CONNECTIONS: u32 = 64;
/// The animal that is added.
pub(super) const BODY: &str = r#"{"name":"Bruno","categoryId":7,"status":"available"}"#;

/// A request that is repeated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Request {
    /// GET of the root of a server without logic.
    Hello,
    /// GET of an animal, each time another one.
    Get,
    /// GET of the first page.
    List,
    /// POST of a new animal.
    Add,
    /// POST of a new animal with a new idempotency key.
    AddOnce,
}

/// The requests to the service.
pub(super) const OPERATIONS: [(&str, Request); 4] = [
    ("get by id", Request::Get),
    ("list of 20", Request::List),
    ("durable add", Request::Add),
    ("durable add with a key", Request::AddOnce),
];

type Connection = SendRequest<Full<Bytes>>;

/// Open connections to a server.
pub(super) struct Clients {
    runtime: Runtime,
    idle: Vec<Connection>,
    key: Arc<str>,
    /// The number of animals at the start.
    animals: u64,
    /// The number of the next request.
    next: u64,
}

impl Clients {
    pub(super) fn connect(server: &Server, animals: u64) -> Result<Self, String> {
        let runtime = Builder::new_current_thread().enable_all().build();
        let runtime = runtime.map_err(|error| format!("cannot start the tokio runtime: {error}"))?;
        let address = server.url.trim_start_matches("http://");
        let connect = async || {
            let stream = TcpStream::connect(address).await.map_err(|error| error.to_string())?;
            stream.set_nodelay(true).map_err(|error| error.to_string())?;
            let handshake = http1::handshake(TokioIo::new(stream)).await;
            let (sender, connection) = handshake.map_err(|error| error.to_string())?;
            // How the connection ended is known from the next request.
            tokio::spawn(connection);
            Ok::<_, String>(sender)
        };
        let connected = (0..CONNECTIONS).map(|_| runtime.block_on(connect()));
        let idle = connected.collect::<Result<_, _>>().map_err(|error| format!("{address}: {error}"))?;
        let key = server.key.as_deref().unwrap_or_default().into();
        Ok(Self { runtime, idle, key, animals, next: 0 })
    }

    /// Sends a number of requests, as fast as they are answered.
    pub(super) fn send(&mut self, request: Request, count: u64) -> Result<(), String> {
        let (next, end) = (Arc::new(AtomicU64::new(self.next)), self.next + count);
        self.next = end;
        let (idle, animals) = (std::mem::take(&mut self.idle), self.animals);
        self.idle = self.runtime.block_on(async {
            let mut tasks = JoinSet::new();
            for mut connection in idle {
                let (next, key) = (Arc::clone(&next), Arc::clone(&self.key));
                tasks.spawn(async move {
                    loop {
                        let number = next.fetch_add(1, Ordering::Relaxed);
                        if number >= end {
                            return Ok(connection);
                        }
                        let message = request.message(&key, number, animals);
                        let message = message.map_err(|error| error.to_string())?;
                        let status = send(&mut connection, message).await;
                        let status = status.map_err(|error| format!("{request:?}: {error}"))?;
                        if !status.is_success() {
                            return Err(format!("{request:?}: {status}"));
                        }
                    }
                });
            }
            tasks.join_all().await.into_iter().collect::<Result<_, String>>()
        })?;
        Ok(())
    }
}

impl Request {
    /// Returns the message with this number, to a server with this many animals.
    fn message(self, key: &str, number: u64, animals: u64) -> http::Result<http::Request<Full<Bytes>>> {
        let target = match self {
            Self::Hello => "/".to_owned(),
            // A prime, so that the identifiers are spread over all animals.
            Self::Get => format!("/v1/pets/{}", number.wrapping_mul(7_919) % animals + 1),
            Self::List | Self::Add | Self::AddOnce => "/v1/pets".to_owned(),
        };
        let message = http::Request::builder().uri(target);
        let message = message.header(AUTHORIZATION, format!("Bearer {key}")).header(HOST, "animals");
        if !matches!(self, Self::Add | Self::AddOnce) {
            return message.body(Full::default());
        }
        let message = message.method(Method::POST).header(CONTENT_TYPE, "application/json");
        let message = match self {
            Self::AddOnce => message.header("idempotency-key", format!("\"bench {number:032}\"")),
            _ => message,
        };
        message.body(Full::from(BODY))
    }
}

/// Sends a request and reads the whole response. Returns its status.
async fn send(connection: &mut Connection, message: http::Request<Full<Bytes>>) -> hyper::Result<StatusCode> {
    connection.ready().await?;
    let response = connection.send_request(message).await?;
    let status = response.status();
    response.into_body().collect().await?;
    Ok(status)
}
