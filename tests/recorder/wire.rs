//! HTTP/1.1 messages out of a stream of bytes (RFC 9112).
//!
//! A watcher cannot ask for more bytes, so the readers here are fed what came and say what is complete.

use http::{HeaderMap, HeaderName, HeaderValue};
use serde_json::Value;

/// The bytes are no HTTP/1.1.
#[derive(Debug)]
pub struct Malformed(pub String);

/// What a request asks for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RequestLine {
    pub method: String,
    pub target: String,
}

impl RequestLine {
    /// The path of the target, without scheme, authority and query (RFC 9112, section 3.2).
    pub fn path(&self) -> &str {
        let target = self.target.split(['?', '#']).next().unwrap_or_default();
        match target.split_once("://") {
            Some((_, rest)) => rest.find('/').map_or("/", |slash| &rest[slash..]),
            None if target.is_empty() => "/",
            None => target,
        }
    }
}

/// A complete answer.
#[derive(Clone, Debug)]
pub struct Response {
    pub status: u16,
    pub headers: HeaderMap,
    pub body: Vec<u8>,
}

impl Response {
    /// The value of a header that is there at most once.
    pub fn header(&self, name: &str) -> Option<&str> {
        let mut values = self.headers.get_all(name).iter();
        let value = values.next()?;
        assert!(values.next().is_none(), "{name} is there twice: {self:?}");
        Some(value.to_str().expect("a header is text"))
    }

    /// The body, which must be JSON.
    pub fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap_or_else(|error| panic!("{error} in {}", self.text()))
    }

    /// The body, which must be text.
    pub fn text(&self) -> &str {
        std::str::from_utf8(&self.body).expect("the body is text")
    }

    /// The body, which must be JSON, of an answer with this status.
    #[track_caller]
    pub fn expect(&self, status: u16) -> Value {
        assert_eq!(self.status, status, "{}", String::from_utf8_lossy(&self.body));
        self.json()
    }

    /// The message of an `Error` with this status and code.
    #[track_caller]
    pub fn refused(&self, status: u16, code: &str) -> String {
        let error = self.expect(status);
        assert_eq!(error["code"], code, "{error}");
        assert_eq!(error["status"], status, "{error}");
        error["message"].as_str().expect("an Error has a message").to_owned()
    }

    /// Whether `text` is anywhere in it.
    pub fn contains(&self, text: &str) -> bool {
        let holds = |bytes: &[u8]| bytes.windows(text.len()).any(|window| window == text.as_bytes());
        holds(&self.body) || self.headers.values().any(|value| holds(value.as_bytes()))
    }
}

/// How the end of a body is known (RFC 9112, section 6.3).
#[derive(Debug)]
enum Framing {
    Length(usize),
    ChunkSize,
    Chunk(usize),
    Trailers,
    UntilEnd,
}

impl Framing {
    fn of(headers: &HeaderMap, otherwise: Self) -> Result<Self, Malformed> {
        if let Some(coding) = headers.get("transfer-encoding") {
            return match coding.as_bytes() {
                b"chunked" => Ok(Self::ChunkSize),
                _ => Err(Malformed("a transfer coding other than chunked".to_owned())),
            };
        }
        let mut lengths = headers.get_all("content-length").iter();
        let Some(length) = lengths.next() else { return Ok(otherwise) };
        let length = length.to_str().ok().and_then(|length| length.parse().ok());
        match (length, lengths.next()) {
            (Some(length), None) => Ok(Self::Length(length)),
            _ => Err(Malformed("a content-length that is not one number".to_owned())),
        }
    }

    /// Moves what belongs to the body out of `buffer`; true when that was all of it.
    fn take(&mut self, buffer: &mut Vec<u8>, body: &mut Vec<u8>) -> Result<bool, Malformed> {
        loop {
            match self {
                Self::UntilEnd => {
                    body.append(buffer);
                    return Ok(false);
                }
                Self::Length(left) => {
                    let here = buffer.len().min(*left);
                    body.extend(buffer.drain(..here));
                    *left -= here;
                    return Ok(*left == 0);
                }
                Self::ChunkSize => match httparse::parse_chunk_size(buffer) {
                    Ok(httparse::Status::Complete((line, size))) => {
                        buffer.drain(..line);
                        *self = if size == 0 { Self::Trailers } else { Self::Chunk(size as usize) };
                    }
                    Ok(httparse::Status::Partial) => return Ok(false),
                    Err(error) => return Err(Malformed(error.to_string())),
                },
                Self::Chunk(size) => {
                    if buffer.len() < *size + 2 {
                        return Ok(false);
                    }
                    body.extend(buffer.drain(..*size));
                    if !buffer.drain(..2).eq(*b"\r\n") {
                        return Err(Malformed("a chunk without its end".to_owned()));
                    }
                    *self = Self::ChunkSize;
                }
                Self::Trailers => {
                    let Some(end) = buffer.windows(2).position(|window| window == b"\r\n") else {
                        return Ok(false);
                    };
                    buffer.drain(..end + 2);
                    if end == 0 {
                        return Ok(true);
                    }
                }
            }
        }
    }
}

/// Reads what a client sends. Of requests, it keeps the first line only.
#[derive(Default)]
pub struct Requests {
    buffer: Vec<u8>,
    body: Option<Framing>,
    malformed: bool,
}

impl Requests {
    /// The requests whose head is complete with `bytes`; none from where they are no HTTP.
    pub fn feed(&mut self, bytes: &[u8]) -> Vec<RequestLine> {
        let mut found = Vec::new();
        if !self.malformed {
            self.buffer.extend(bytes);
            self.malformed = self.read(&mut found).is_err();
        }
        found
    }

    fn read(&mut self, found: &mut Vec<RequestLine>) -> Result<(), Malformed> {
        loop {
            if let Some(framing) = &mut self.body {
                if !framing.take(&mut self.buffer, &mut Vec::new())? {
                    return Ok(());
                }
                self.body = None;
            }
            let mut headers = [httparse::EMPTY_HEADER; 128];
            let mut request = httparse::Request::new(&mut headers);
            let parsed = request.parse(&self.buffer).map_err(|error| Malformed(error.to_string()))?;
            let httparse::Status::Complete(head) = parsed else { return Ok(()) };
            let headers = header_map(request.headers)?;
            let line = RequestLine {
                method: request.method.unwrap_or_default().to_owned(),
                target: request.path.unwrap_or_default().to_owned(),
            };
            self.body = Some(Framing::of(&headers, Framing::Length(0))?);
            self.buffer.drain(..head);
            found.push(line);
        }
    }
}

/// Reads what a server sends.
#[derive(Default)]
pub struct Responses {
    buffer: Vec<u8>,
    open: Option<(Response, Framing)>,
}

impl Responses {
    /// The answers that are complete with `bytes`. `to_head` tells, for the next one that is not
    /// informational, whether it answers a HEAD and so has no body.
    pub fn feed(
        &mut self,
        bytes: &[u8],
        mut to_head: impl FnMut() -> bool,
    ) -> Result<Vec<Response>, Malformed> {
        self.buffer.extend(bytes);
        let mut found = Vec::new();
        loop {
            if let Some((mut response, mut framing)) = self.open.take() {
                if !framing.take(&mut self.buffer, &mut response.body)? {
                    self.open = Some((response, framing));
                    return Ok(found);
                }
                found.push(response);
            }
            let mut headers = [httparse::EMPTY_HEADER; 128];
            let mut response = httparse::Response::new(&mut headers);
            let parsed = response.parse(&self.buffer).map_err(|error| Malformed(error.to_string()))?;
            let httparse::Status::Complete(head) = parsed else { return Ok(found) };
            let headers = header_map(response.headers)?;
            let status = response.code.unwrap_or_default();
            let bodiless = status < 200 || status == 204 || status == 304 || to_head();
            let framing =
                if bodiless { Framing::Length(0) } else { Framing::of(&headers, Framing::UntilEnd)? };
            self.buffer.drain(..head);
            self.open = Some((Response { status, headers, body: Vec::new() }, framing));
        }
    }

    /// Whether the head of an answer is there and its body is not complete.
    pub fn amid_answer(&self) -> bool {
        self.open.is_some()
    }

    /// The answer that the end of the connection completes, if there is one.
    pub fn end(&mut self) -> Result<Option<Response>, Malformed> {
        match self.open.take() {
            Some((response, Framing::UntilEnd)) => Ok(Some(response)),
            None if self.buffer.is_empty() => Ok(None),
            _ => Err(Malformed("the connection ended amid an answer".to_owned())),
        }
    }
}

fn header_map(headers: &[httparse::Header<'_>]) -> Result<HeaderMap, Malformed> {
    let mut map = HeaderMap::new();
    for header in headers {
        let name = HeaderName::try_from(header.name).map_err(|error| Malformed(error.to_string()))?;
        let value = HeaderValue::from_bytes(header.value).map_err(|error| Malformed(error.to_string()))?;
        map.append(name, value);
    }
    Ok(map)
}
