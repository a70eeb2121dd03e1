//! The files that need no API key: the OpenAPI documents and the pages of their documentation, at the root of the host.
//! `/` itself redirects to the first page.
//!
//! `build.rs` builds the pages. Those that send requests show Swagger UI (Apache-2.0). A crate embeds its files into the
//! program, so the pages need no other host.

use std::collections::HashMap;

use aws_lc_rs::digest;
use dropshot::Body;
use http::header::{self, HeaderMap, HeaderName, HeaderValue};
use http::{Method, Response, StatusCode};
use hyper::body::Bytes;
use swagger_ui_redist::SwaggerUi;

use super::error::ApiError;
use crate::document::Document;

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
    content: Bytes,
    headers: HeaderMap,
    etag: String,
}

impl Published {
    /// Collects the document in YAML and JSON, the released documents, and the pages.
    pub(super) fn new(document: &Document) -> Self {
        let mut files = HashMap::new();
        let mut add =
            |path: &str, kind: &'static str, content: Bytes, extra: &[(HeaderName, &'static str)]| {
                files.insert(path.to_owned(), File::new(kind, content, extra));
            };
        let text = |text: &'static str| Bytes::from_static(text.as_bytes());
        // Pages of other origins may read the document (Fetch Standard, section 3.2).
        let shared = |cached| {
            [
                (header::ACCESS_CONTROL_ALLOW_ORIGIN, "*"),
                (header::ACCESS_CONTROL_EXPOSE_HEADERS, "etag"),
                (header::CACHE_CONTROL, cached),
            ]
        };
        let (yaml, json) = ("application/yaml", "application/json");
        add("/openapi.yaml", yaml, text(document.yaml), &shared(REVALIDATED));
        add("/openapi.json", json, text(document.json), &shared(REVALIDATED));
        for (name, content) in document.released.iter().copied() {
            let (kind, cached) = match name.rsplit_once('.') {
                Some((_, "json")) => (json, IMMUTABLE),
                Some((_, "yaml")) => (yaml, IMMUTABLE),
                // The list of checksums grows with each release.
                _ => ("text/plain; charset=utf-8", REVALIDATED),
            };
            add(&format!("/openapi/{name}"), kind, text(content), &shared(cached));
        }
        let page = [
            (header::CONTENT_SECURITY_POLICY, CONTENT_SECURITY_POLICY),
            (header::REFERRER_POLICY, "no-referrer"),
        ];
        for (path, content) in document.pages.iter().copied() {
            let headers = if path.ends_with(".html") { &page[..] } else { &[] };
            // The links of the first page are relative to the root.
            let target = if path == FIRST { "/docs".to_owned() } else { format!("/{path}") };
            add(&target, kind(path), text(content), headers);
        }
        for (file, content) in SwaggerUi::static_files() {
            let name = file.file_name();
            add(&format!("/docs/{name}"), kind(name), Bytes::from_static(content), &[]);
        }
        Self(files)
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

/// Returns the media type of a page or a file of the viewer, by the extension of its name.
fn kind(name: &str) -> &'static str {
    match name.rsplit_once('.') {
        Some((_, "html")) => "text/html; charset=utf-8",
        Some((_, "js")) => "text/javascript; charset=utf-8",
        Some((_, "css")) => "text/css; charset=utf-8",
        Some((_, "atom")) => "application/atom+xml; charset=utf-8",
        Some((_, "png")) => "image/png",
        // Example programs, to be read in a browser.
        Some((_, "go" | "py" | "rs" | "ts")) => "text/plain; charset=utf-8",
        _ => "application/octet-stream",
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
    fn new(kind: &'static str, content: Bytes, extra: &[(HeaderName, &'static str)]) -> Self {
        let hash = digest::digest(&digest::SHA256, &content);
        let etag = format!(
            "\"{}\"",
            hash.as_ref().iter().take(16).map(|byte| format!("{byte:02x}")).collect::<String>()
        );
        let fixed = [
            (header::CONTENT_TYPE, kind),
            (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
            (header::CACHE_CONTROL, REVALIDATED),
        ];
        let mut headers = HeaderMap::new();
        for (name, value) in fixed.iter().chain(extra) {
            headers.insert(name, HeaderValue::from_static(value));
        }
        // Hexadecimal digits in quotes are always a header value.
        headers.extend(HeaderValue::try_from(&etag).map(|etag| (header::ETAG, etag)));
        Self { content, headers, etag }
    }

    fn respond(&self, request: &HeaderMap) -> Response<Body> {
        let not_modified = matches_etag(&self.etag, request);
        let body = if not_modified { Body::empty() } else { Body::from(self.content.clone()) };
        let mut response = Response::new(body);
        *response.headers_mut() = self.headers.clone();
        if not_modified {
            *response.status_mut() = StatusCode::NOT_MODIFIED;
            response.headers_mut().remove(header::CONTENT_TYPE);
        }
        response
    }
}

/// Whether `If-None-Match` has this tag (RFC 9110, section 13.1.2).
fn matches_etag(etag: &str, request: &HeaderMap) -> bool {
    let values = request.get_all(header::IF_NONE_MATCH).iter().filter_map(|value| value.to_str().ok());
    let mut tags = values.flat_map(|value| value.split(',')).map(str::trim);
    tags.any(|tag| tag == "*" || tag.strip_prefix("W/").unwrap_or(tag) == etag)
}
