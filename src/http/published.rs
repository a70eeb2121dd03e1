//! The files that need no API key: the OpenAPI documents and the pages of their documentation, at the root of the host.
//! `/` itself redirects to the first page.
//!
//! `build.rs` builds and compresses them. Pages that send requests show Swagger UI (Apache-2.0), whose files are among them,
//! so the pages need no other host.

use std::collections::HashMap;

use aws_lc_rs::digest;
use dropshot::Body;
use http::header::{self, HeaderMap, HeaderName, HeaderValue};
use http::{Method, Response, StatusCode};
use hyper::body::Bytes;

use super::error::ApiError;
use super::negotiation::encoding_weight;
use crate::document::{self, Document};

/// Allows scripts, styles and requests of this host only, nothing inline and no frames (Content Security
/// Policy Level 3). The icons of Swagger UI are `data:` images.
const CONTENT_SECURITY_POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; \
     img-src 'self' data:; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/// Clients revalidate before use: a new version of the program may have new content.
const REVALIDATED: &str = "no-cache";
/// A released document never changes (RFC 8246). One year is the longest `max-age` in use.
const IMMUTABLE: &str = "public, max-age=31536000, immutable";

/// The name of the first page, which is served at `/docs`.
const FIRST: &str = "index.html";

/// The files by path.
pub(super) struct Published(HashMap<String, File>);

struct File {
    headers: HeaderMap,
    identity: Representation,
    /// The smallest first.
    compressed: Vec<Representation>,
}

struct Representation {
    coding: &'static str,
    content: Bytes,
    etag: String,
}

impl Published {
    /// Collects the files of a document.
    pub(super) fn new(document: &Document) -> Self {
        let target = |path: &str| match path {
            // Its links are relative to the root.
            FIRST => "/docs".to_owned(),
            path => format!("/{path}"),
        };
        Self(document.files.iter().map(|file| (target(file.path), File::new(file))).collect())
    }

    /// Returns the response for `path`, if it is the path of a file or `/`.
    ///
    /// # Errors
    /// [`ApiError::UnknownPath`] or [`ApiError::MethodNotAllowed`].
    pub(super) fn respond(
        &self,
        method: &Method,
        path: &str,
        headers: &HeaderMap,
    ) -> Result<Response<Body>, ApiError> {
        let file = self.0.get(path);
        if file.is_none() && path != "/" {
            return Err(ApiError::UnknownPath);
        }
        match *method {
            Method::GET | Method::HEAD => Ok(file.map_or_else(redirect, |file| file.respond(headers))),
            _ => Err(ApiError::MethodNotAllowed { allow: "GET, HEAD".to_owned() }),
        }
    }
}

/// Returns the headers of a file besides those of its representations.
fn headers(file: &document::File) -> Vec<(HeaderName, &'static str)> {
    let mut headers = vec![
        (header::CONTENT_TYPE, kind(file.path)),
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (header::CACHE_CONTROL, if file.is_immutable { IMMUTABLE } else { REVALIDATED }),
        (header::VARY, "accept-encoding"),
    ];
    if file.path.starts_with("openapi") {
        // Pages of other origins may read the documents (Fetch Standard, section 3.2).
        headers.push((header::ACCESS_CONTROL_ALLOW_ORIGIN, "*"));
        headers.push((header::ACCESS_CONTROL_EXPOSE_HEADERS, "etag"));
    }
    if file.path.ends_with(".html") {
        headers.push((header::CONTENT_SECURITY_POLICY, CONTENT_SECURITY_POLICY));
        headers.push((header::REFERRER_POLICY, "no-referrer"));
    }
    headers
}

/// Returns the media type of a file, by the extension of its name.
fn kind(name: &str) -> &'static str {
    match name.rsplit_once('.') {
        Some((_, "yaml")) => "application/yaml",
        Some((_, "json")) => "application/json",
        Some((_, "html")) => "text/html; charset=utf-8",
        Some((_, "js")) => "text/javascript; charset=utf-8",
        Some((_, "css")) => "text/css; charset=utf-8",
        Some((_, "atom")) => "application/atom+xml; charset=utf-8",
        Some((_, "png")) => "image/png",
        // Example programs and checksums, to be read in a browser.
        _ => "text/plain; charset=utf-8",
    }
}

/// Redirects to the page. 303, because browsers keep a 308 for ever, and another release may have something
/// else at `/` (RFC 9110, section 15.4).
fn redirect() -> Response<Body> {
    let mut response = Response::new(Body::empty());
    *response.status_mut() = StatusCode::SEE_OTHER;
    response.headers_mut().insert(header::LOCATION, HeaderValue::from_static("/docs"));
    response
}

impl File {
    fn new(file: &document::File) -> Self {
        let named = headers(file).into_iter();
        let headers = named.map(|(name, value)| (name, HeaderValue::from_static(value))).collect();
        let compressed = [("br", file.brotli), ("gzip", file.gzip)].into_iter();
        let compressed =
            compressed.filter_map(|(coding, content)| Some(Representation::new(coding, content?)));
        let identity = Representation::new("identity", file.content);
        Self { headers, identity, compressed: compressed.collect() }
    }

    /// Returns the representation that the client prefers, and the smallest of several. A client that accepts none gets
    /// the file as it is.
    fn chosen(&self, request: &HeaderMap) -> &Representation {
        let weight = |it: &Representation| encoding_weight(request, it.coding);
        let least = weight(&self.identity).max(1);
        let best = self.compressed.iter().rev().max_by_key(|it| weight(it));
        best.filter(|it| weight(it) >= least).unwrap_or(&self.identity)
    }

    fn respond(&self, request: &HeaderMap) -> Response<Body> {
        let chosen = self.chosen(request);
        let not_modified = matches_etag(&chosen.etag, request);
        let body = if not_modified { Body::empty() } else { Body::from(chosen.content.clone()) };
        let mut response = Response::new(body);
        let headers = response.headers_mut();
        headers.clone_from(&self.headers);
        // Hexadecimal digits in quotes are always a header value.
        headers.extend(HeaderValue::try_from(&chosen.etag).map(|etag| (header::ETAG, etag)));
        if not_modified {
            headers.remove(header::CONTENT_TYPE);
            *response.status_mut() = StatusCode::NOT_MODIFIED;
        } else if chosen.coding != "identity" {
            headers.insert(header::CONTENT_ENCODING, HeaderValue::from_static(chosen.coding));
        }
        response
    }
}

impl Representation {
    fn new(coding: &'static str, content: &'static [u8]) -> Self {
        let hash = digest::digest(&digest::SHA256, content);
        let digits = hash.as_ref().iter().take(16).map(|byte| format!("{byte:02x}"));
        let etag = format!("\"{}\"", digits.collect::<String>());
        Self { coding, content: Bytes::from_static(content), etag }
    }
}

/// Whether `If-None-Match` has this tag (RFC 9110, section 13.1.2).
fn matches_etag(etag: &str, request: &HeaderMap) -> bool {
    let values = request.get_all(header::IF_NONE_MATCH).iter().filter_map(|value| value.to_str().ok());
    let mut tags = values.flat_map(|value| value.split(',')).map(str::trim);
    tags.any(|tag| tag == "*" || tag.strip_prefix("W/").unwrap_or(tag) == etag)
}
