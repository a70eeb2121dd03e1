//! Parses HTTP/1.1 messages from a stream of bytes (RFC 9112).
//!
//! The parsers are incremental: they are fed with bytes as they arrive and return the complete messages.

use http::header::CONTENT_LENGTH;
use http::uri::Authority;
use http::{HeaderMap, HeaderName, HeaderValue, Uri};
use serde_json::Value;

/// The bytes are not valid HTTP/1.1.
#[derive(Debug)]
pub struct Malformed(pub String);

/// The method and target of a request.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RequestLine {
    /// The method, as the client sent it.
    pub method: String,
    /// The target, as the client sent it.
    pub target: String,
    /// Whether the service refuses the head with 400 before it looks at method and path: for its target, its `Host` or its
    /// transfer codings. hyper accepts such a head.
    pub is_malformed: bool,
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

/// A complete response.
#[derive(Clone, Debug)]
pub struct Response {
    /// The status code.
    pub status: u16,
    /// The header fields.
    pub headers: HeaderMap,
    /// The body without its framing.
    pub body: Vec<u8>,
}

impl Response {
    /// Returns the value of a header. Panics if it occurs more than once.
    pub fn header(&self, name: &str) -> Option<&str> {
        let mut values = self.headers.get_all(name).iter();
        let value = values.next()?;
        assert!(values.next().is_none(), "{name} occurs twice: {self:?}");
        Some(value.to_str().expect("a header is text"))
    }

    /// Parses the body as JSON.
    pub fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap_or_else(|error| panic!("{error} in {}", self.text()))
    }

    /// Returns the body as text.
    pub fn text(&self) -> &str {
        std::str::from_utf8(&self.body).expect("the body is text")
    }

    /// Checks the status. Returns the body as JSON.
    #[track_caller]
    pub fn expect(&self, status: u16) -> Value {
        assert_eq!(self.status, status, "{}", String::from_utf8_lossy(&self.body));
        self.json()
    }

    /// Checks that the response is an `Error` with this status and code. Returns its message.
    #[track_caller]
    pub fn expect_error(&self, status: u16, code: &str) -> String {
        let error = self.expect(status);
        assert_eq!(error["code"], code, "{error}");
        assert_eq!(error["status"], status, "{error}");
        error["message"].as_str().expect("an Error has a message").to_owned()
    }

    /// Whether `text` occurs in a header or in the body.
    pub fn contains(&self, text: &str) -> bool {
        let has_text = |bytes: &[u8]| bytes.windows(text.len()).any(|window| window == text.as_bytes());
        has_text(&self.body) || self.headers.values().any(|value| has_text(value.as_bytes()))
    }
}

/// How the end of a body is determined (RFC 9112, section 6.3).
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
            return match coding.as_bytes().eq_ignore_ascii_case(b"chunked") {
                true => Ok(Self::ChunkSize),
                false => Err(Malformed("a transfer coding other than chunked".to_owned())),
            };
        }
        let mut lengths = headers.get_all("content-length").iter();
        let Some(length) = lengths.next() else { return Ok(otherwise) };
        let digits = length.to_str().ok().filter(|length| length.bytes().all(|byte| byte.is_ascii_digit()));
        let length = digits.and_then(|digits| digits.parse().ok());
        match (length, lengths.next()) {
            (Some(length), None) => Ok(Self::Length(length)),
            _ => Err(Malformed("a content-length that is not one number".to_owned())),
        }
    }

    /// Moves the bytes of the body from `buffer` to `body`. Returns whether the body is complete.
    fn take(&mut self, buffer: &mut Vec<u8>, body: &mut Vec<u8>) -> Result<bool, Malformed> {
        loop {
            match self {
                Self::UntilEnd => {
                    body.append(buffer);
                    return Ok(false);
                }
                Self::Length(left) => {
                    let count = buffer.len().min(*left);
                    body.extend(buffer.drain(..count));
                    *left -= count;
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
                    if buffer.len() < size.saturating_add(2) {
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

/// Parses the requests of a client. Keeps only their request lines.
#[derive(Default)]
pub struct Requests {
    buffer: Vec<u8>,
    body: Option<Framing>,
    malformed: bool,
}

impl Requests {
    /// Returns the requests whose head is complete with `bytes`; none after malformed bytes.
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
            let target = request.path.unwrap_or_default().to_owned();
            let uri = Uri::try_from(&target).map_err(|error| Malformed(error.to_string()))?;
            let line = RequestLine {
                method: request.method.unwrap_or_default().to_owned(),
                target,
                is_malformed: !is_valid(&uri, &headers, request.version == Some(1)),
            };
            // hyper reads the lengths before the first transfer coding, and then no more.
            let is_before =
                |header: &&httparse::Header<'_>| !header.name.eq_ignore_ascii_case("transfer-encoding");
            let before: Vec<_> = request.headers.iter().take_while(is_before).copied().collect();
            Framing::of(&one_length(&header_map(&before)?), Framing::Length(0))?;
            let framing = Framing::of(&one_length(&headers), Framing::Length(0));
            // The service itself answers a request with codings before `chunked`. hyper refuses other malformed framing.
            let codings = headers.get_all("transfer-encoding").iter().next_back();
            let last = codings.and_then(|codings| codings.to_str().ok()?.rsplit(',').next());
            let is_chunked = last.is_some_and(|last| last.trim().eq_ignore_ascii_case("chunked"));
            if codings.is_some() && (!is_chunked || request.version == Some(0)) {
                return Err(Malformed("a transfer coding that hyper refuses".to_owned()));
            }
            if framing.is_ok() || is_chunked {
                found.push(line);
            }
            self.body = Some(framing?);
            self.buffer.drain(..head);
        }
    }
}

/// Replaces equal lengths by one, as hyper does (RFC 9112, section 6.3).
fn one_length(headers: &HeaderMap) -> HeaderMap {
    let mut headers = headers.clone();
    let mut lengths: Vec<HeaderValue> = headers.get_all(CONTENT_LENGTH).iter().cloned().collect();
    lengths.dedup();
    if let [length] = &lengths[..] {
        headers.insert(CONTENT_LENGTH, length.clone());
    }
    headers
}

/// Whether a request has a target of HTTP without user information, one valid `Host`, which only HTTP/1.0 may omit, and no
/// transfer coding but `chunked`.
fn is_valid(uri: &Uri, headers: &HeaderMap, is_http_1_1: bool) -> bool {
    let has_no_user = |authority: &Authority| !authority.as_str().contains('@');
    let is_http = uri.scheme_str().is_none_or(|scheme| ["http", "https"].contains(&scheme));
    // RFC 3986, section 3.2.3: digits, or nothing.
    let has_port = |authority: &Authority| {
        let host = authority.as_str();
        let after = host.rfind(']').map_or(host, |end| &host[end..]);
        let port = after.split_once(':').map_or("", |(_, port)| port);
        port.chars().all(|digit| digit.is_ascii_digit()) && (port.is_empty() || port.parse::<u16>().is_ok())
    };
    let hosts: Vec<_> = headers.get_all("host").iter().collect();
    let has_host = match &hosts[..] {
        [] => !is_http_1_1,
        [host] => {
            Authority::try_from(host.as_bytes()).is_ok_and(|host| has_no_user(&host) && has_port(&host))
        }
        _ => false,
    };
    let codings: Vec<_> = headers.get_all("transfer-encoding").iter().collect();
    let is_chunked = match &codings[..] {
        [] => true,
        [coding] => coding.as_bytes().eq_ignore_ascii_case(b"chunked"),
        _ => false,
    };
    is_http && uri.authority().is_none_or(has_no_user) && has_host && is_chunked
}

/// Parses the responses of a server.
#[derive(Default)]
pub struct Responses {
    buffer: Vec<u8>,
    open: Option<(Response, Framing)>,
}

impl Responses {
    /// Returns the responses that are complete with `bytes`. `to_head` returns, for the next response that is not
    /// informational, whether it belongs to a HEAD request and has no body.
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

    /// Whether a response has begun and is not complete.
    pub fn is_partial(&self) -> bool {
        self.open.is_some()
    }

    /// Returns the response that the end of the connection completes, if there is one.
    pub fn end(&mut self) -> Result<Option<Response>, Malformed> {
        match self.open.take() {
            Some((response, Framing::UntilEnd)) => Ok(Some(response)),
            None if self.buffer.is_empty() => Ok(None),
            _ => Err(Malformed("the connection ended within a response".to_owned())),
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
