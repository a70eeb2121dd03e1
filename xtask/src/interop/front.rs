//! A front for the service, to test clients: a network that fails, and a later version of the API.
//!
//! The first addition is stored, but its response is lost; the second gets a 503. A client that repeats an addition in the
//! documented way adds one animal. Each object in a response has a field that the document does not have, which a later
//! minor version may add.

use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use http::header::{CONNECTION, CONTENT_LENGTH, CONTENT_TYPE, EXPECT, HOST, RETRY_AFTER, TRANSFER_ENCODING};
use http::{HeaderMap, HeaderName, HeaderValue, Method, Request, Response, StatusCode};
use serde_json::{Value, json};
use ureq::Agent;

/// Longer than any request of a client takes.
const TIMEOUT: Duration = Duration::from_secs(60);
/// What the second addition gets.
const UNAVAILABLE: &[u8] = br#"{"code": "unavailable", "message": "try again", "status": 503}"#;

/// A running front. It ends when dropped.
pub(super) struct Front {
    address: SocketAddr,
    shared: Arc<Shared>,
    thread: Option<JoinHandle<()>>,
}

struct Shared {
    /// The URL of the service without a path.
    service: String,
    http: Agent,
    /// The number of additions.
    additions: AtomicUsize,
    is_over: AtomicBool,
}

impl Front {
    /// Starts a front for a service on a free port.
    ///
    /// # Errors
    /// A message, if there is no free port.
    pub(super) fn start(service: &str) -> Result<Self, String> {
        let failed = |error: io::Error| format!("cannot start a front for the service: {error}");
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).map_err(failed)?;
        let address = listener.local_addr().map_err(failed)?;
        let http = Agent::config_builder().timeout_global(Some(TIMEOUT)).http_status_as_error(false).build();
        let shared = Arc::new(Shared {
            service: service.to_owned(),
            http: http.into(),
            additions: AtomicUsize::new(0),
            is_over: AtomicBool::new(false),
        });
        let thread = thread::spawn({
            let shared = Arc::clone(&shared);
            move || shared.accept(&listener)
        });
        Ok(Self { address, shared, thread: Some(thread) })
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

impl Drop for Front {
    fn drop(&mut self) {
        self.shared.is_over.store(true, Ordering::SeqCst);
        // Wakes the thread, which waits for a connection.
        let _ = TcpStream::connect(self.address);
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

impl Shared {
    /// Serves one request of each connection.
    fn accept(self: &Arc<Self>, listener: &TcpListener) {
        for stream in listener.incoming().map_while(Result::ok) {
            if self.is_over.load(Ordering::SeqCst) {
                return;
            }
            let shared = Arc::clone(self);
            // A client whose connection fails reports it, and prints something else than expected.
            thread::spawn(move || shared.serve(&stream));
        }
    }

    fn serve(&self, mut stream: &TcpStream) -> Result<(), String> {
        stream.set_read_timeout(Some(TIMEOUT)).map_err(|error| error.to_string())?;
        let request = read(stream)?;
        let is_addition = request.method() == Method::POST;
        let mut response = self.forward(request)?;
        if is_addition {
            match self.additions.fetch_add(1, Ordering::SeqCst) {
                0 => return Ok(()),
                1 => {
                    *response.status_mut() = StatusCode::SERVICE_UNAVAILABLE;
                    response.headers_mut().insert(RETRY_AFTER, HeaderValue::from_static("1"));
                    *response.body_mut() = UNAVAILABLE.to_vec();
                }
                _ => {}
            }
        }
        stream.write_all(&text(&response)).map_err(|error| error.to_string())
    }

    /// Sends a request to the service. Returns its response, with more fields.
    fn forward(&self, request: Request<Vec<u8>>) -> Result<Response<Vec<u8>>, String> {
        let (mut parts, body) = request.into_parts();
        parts.uri = format!("{}{}", self.service, parts.uri).parse().map_err(|error| format!("{error}"))?;
        let sent = if body.is_empty() {
            self.http.run(Request::from_parts(parts, ()))
        } else {
            self.http.run(Request::from_parts(parts, body))
        };
        let (parts, mut body) = sent.map_err(|error| error.to_string())?.into_parts();
        let body = body.read_to_vec().map_err(|error| error.to_string())?;
        Ok(Response::from_parts(parts, extended(&body)))
    }
}

/// Reads a request with its body.
fn read(stream: &TcpStream) -> Result<Request<Vec<u8>>, String> {
    let mut reader = BufReader::new(stream);
    let mut line = || {
        let mut line = String::new();
        reader.read_line(&mut line).map_err(|error| error.to_string())?;
        Ok::<_, String>(line.trim_end().to_owned())
    };
    let first = line()?;
    let mut words = first.split(' ');
    let mut request = Request::builder().method(words.next().unwrap_or_default());
    request = request.uri(words.next().unwrap_or_default());
    let mut length = 0;
    loop {
        let header = line()?;
        let Some((name, value)) = header.split_once(':') else { break };
        let (name, value) = (name.to_ascii_lowercase(), value.trim());
        if name == CONTENT_LENGTH.as_str() {
            length = value.parse().map_err(|error| format!("{name}: {error}"))?;
        } else if ![HOST, CONNECTION, EXPECT].iter().any(|own| own.as_str() == name) {
            request = request.header(name, value);
        }
    }
    let mut body = Vec::new();
    reader.take(length).read_to_end(&mut body).map_err(|error| error.to_string())?;
    request.body(body).map_err(|error| error.to_string())
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

/// Returns a response as it is sent.
fn text(response: &Response<Vec<u8>>) -> Vec<u8> {
    let mut headers: HeaderMap = response.headers().clone();
    for name in [CONTENT_LENGTH, CONNECTION, TRANSFER_ENCODING] {
        headers.remove(name);
    }
    headers.entry(CONTENT_TYPE).or_insert(HeaderValue::from_static("application/json"));
    let mut text = format!("HTTP/1.1 {}\r\n", response.status()).into_bytes();
    let line = |name: &HeaderName, value: &[u8]| [name.as_str().as_bytes(), b": ", value, b"\r\n"].concat();
    text.extend(headers.iter().flat_map(|(name, value)| line(name, value.as_bytes())));
    text.extend(format!("connection: close\r\ncontent-length: {}\r\n\r\n", response.body().len()).bytes());
    text.extend(response.body());
    text
}
