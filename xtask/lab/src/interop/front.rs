//! A front for the service, to test clients: a network that fails, and a later version of the API.
//!
//! The first addition is stored, but its response is lost; the second gets a 503. A client that repeats an addition in the
//! documented way adds one animal. Each object in a response of the API has a field that the document does not have,
//! which a later minor version may add. Instead of a released document, it returns the working one.

use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use http::header::{CONNECTION, CONTENT_LENGTH, CONTENT_TYPE, EXPECT, HOST, RETRY_AFTER, TRANSFER_ENCODING};
use http::{HeaderMap, HeaderValue, Method, Request, Response, StatusCode};
use http_body_util::{BodyExt, Full};
use hyper::body::{Bytes, Incoming};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use serde_json::{Value, json};
use tokio::net::TcpListener;
use tokio::runtime::{Builder, Runtime};
use ureq::Agent;

/// Longer than any request of a client takes.
const TIMEOUT: Duration = Duration::from_secs(360);
/// What the second addition gets.
const UNAVAILABLE: &[u8] = br#"{"code": "unavailable", "message": "try again", "status": 503}"#;
/// The headers of one connection, which are not forwarded.
const OWN: [http::HeaderName; 5] = [HOST, CONNECTION, EXPECT, CONTENT_LENGTH, TRANSFER_ENCODING];

type Failure = Box<dyn std::error::Error + Send + Sync>;

/// A running front. It ends when dropped.
pub(super) struct Front {
    address: SocketAddr,
    shared: Arc<Shared>,
    /// Serves until it is dropped.
    _runtime: Runtime,
}

struct Shared {
    /// The URL of the service without a path.
    service: String,
    http: Agent,
    /// The number of additions.
    additions: AtomicUsize,
}

impl Front {
    /// Starts a front for a service on a free port.
    ///
    /// # Errors
    /// A message, if there is no free port.
    pub(super) fn start(service: &str) -> Result<Self, String> {
        let failed = |error: io::Error| format!("cannot start a front for the service: {error}");
        let runtime = Builder::new_multi_thread().worker_threads(1).enable_all().build().map_err(failed)?;
        let listener = runtime.block_on(TcpListener::bind((Ipv4Addr::LOCALHOST, 0))).map_err(failed)?;
        let address = listener.local_addr().map_err(failed)?;
        let http = Agent::config_builder().timeout_global(Some(TIMEOUT)).http_status_as_error(false).build();
        let (service, additions) = (service.to_owned(), AtomicUsize::new(0));
        let shared = Arc::new(Shared { service, http: http.into(), additions });
        let served = shared.clone();
        runtime.spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let shared = served.clone();
                let respond = service_fn(move |request| shared.clone().respond(request));
                // A client whose connection fails reports it, and prints something else than expected.
                tokio::spawn(http1::Builder::new().serve_connection(TokioIo::new(stream), respond));
            }
        });
        Ok(Self { address, shared, _runtime: runtime })
    }

    /// The URL without a path.
    pub(super) fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// Whether both failures were injected and the addition was sent again after them.
    pub(super) fn has_failed(&self) -> bool {
        self.shared.additions.load(Ordering::SeqCst) > 2
    }
}

impl Shared {
    /// Responds to a request. An error closes the connection without a response.
    async fn respond(self: Arc<Self>, request: Request<Incoming>) -> Result<Response<Full<Bytes>>, Failure> {
        let is_addition = request.method() == Method::POST;
        let (parts, body) = request.into_parts();
        let request = Request::from_parts(parts, body.collect().await?.to_bytes());
        let shared = self.clone();
        let mut response = tokio::task::spawn_blocking(move || shared.forward(request)).await??;
        if is_addition {
            match self.additions.fetch_add(1, Ordering::SeqCst) {
                0 => return Err("the response is lost".into()),
                1 => {
                    *response.status_mut() = StatusCode::SERVICE_UNAVAILABLE;
                    response.headers_mut().insert(RETRY_AFTER, HeaderValue::from_static("1"));
                    *response.body_mut() = UNAVAILABLE.into();
                }
                _ => {}
            }
        }
        Ok(response.map(Full::new))
    }

    /// Sends a request to the service. Returns its response, with more fields.
    fn forward(&self, request: Request<Bytes>) -> Result<Response<Bytes>, Failure> {
        let (mut parts, body) = request.into_parts();
        let path = parts.uri.to_string();
        let is_api = path.starts_with("/v1/");
        let released = path.strip_prefix("/openapi/").and_then(|file| file.rsplit_once('.'));
        let path = released.map_or(path.clone(), |(_, format)| format!("/openapi.{format}"));
        parts.uri = format!("{}{path}", self.service).parse()?;
        without_own(&mut parts.headers);
        let sent = if body.is_empty() {
            self.http.run(Request::from_parts(parts, ()))
        } else {
            self.http.run(Request::from_parts(parts, body.to_vec()))
        };
        let (mut parts, mut body) = sent?.into_parts();
        let body = body.read_to_vec()?;
        without_own(&mut parts.headers);
        parts.headers.entry(CONTENT_TYPE).or_insert(HeaderValue::from_static("application/json"));
        Ok(Response::from_parts(parts, if is_api { extended(&body) } else { body }.into()))
    }
}

fn without_own(headers: &mut HeaderMap) {
    OWN.iter().for_each(|name| drop(headers.remove(name)));
}

/// Adds a field to each object of a response.
fn extended(body: &[u8]) -> Vec<u8> {
    let Ok(mut value) = serde_json::from_slice::<Value>(body) else { return body.to_vec() };
    let objects = match &mut value {
        Value::Array(items) => items.as_mut_slice(),
        object => std::slice::from_mut(object),
    };
    for object in objects.iter_mut().filter_map(Value::as_object_mut) {
        object.insert("addedLater".to_owned(), json!({ "fields": ["unknown"] }));
    }
    value.to_string().into_bytes()
}
