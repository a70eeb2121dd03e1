//! The files that need no API key: the OpenAPI documents and the pages of their documentation, at the root of the host.
//! `/` itself redirects to the first page.
//!
//! `build.rs` builds and compresses them. Pages that send requests show Swagger UI (Apache-2.0), whose files are among them,
//! so the pages need no other host.

use std::collections::HashMap;

use aws_lc_rs::digest;
use dropshot::Body;
use http::header::{self, HeaderMap, HeaderName, HeaderValue};
use http::{Method, Request, Response, StatusCode};
use hyper::body::Bytes;

use super::error::ApiError;
use crate::{Document, DocumentFile};

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
/// The name of the page for paths without a file.
const MISSING: &str = "missing.html";
/// The paths that redirect to the first page.
const REDIRECTED: [&str; 2] = ["/", "/docs/"];

/// The files by path.
pub(super) struct Published {
    files: HashMap<String, File>,
    /// The page for readers who ask for a path without a file.
    missing: Option<File>,
}

struct File {
    plain: Representation,
    gzip: Option<Representation>,
}

/// The response to a client that does not have the file.
struct Representation {
    headers: HeaderMap,
    content: &'static [u8],
}

impl Published {
    /// Collects the files of a document.
    pub(super) fn new(document: &Document) -> Self {
        let target = |path: &str| match path {
            // Its links are relative to the root.
            FIRST => "/docs".to_owned(),
            path => format!("/{path}"),
        };
        let files = document.files.iter().map(|file| (target(file.path), File::new(file)));
        let mut files: HashMap<_, _> = files.collect();
        Self { missing: files.remove(&target(MISSING)), files }
    }

    /// Returns the response, if the path is that of a file, or one that redirects to the first page. Readers get a page
    /// for other paths, programs an error.
    ///
    /// # Errors
    /// 404 or 405.
    pub(super) fn respond(&self, request: &Request<()>) -> Result<Response<Body>, ApiError> {
        let path = request.uri().path();
        let file = self.files.get(path);
        let reads = matches!(*request.method(), Method::GET | Method::HEAD);
        if file.is_none() && !REDIRECTED.contains(&path) {
            let page = self.missing.as_ref().filter(|_| reads && is_browser(request.headers()));
            let page = page.ok_or_else(ApiError::unknown_path)?;
            return Ok(page.respond(request, StatusCode::NOT_FOUND));
        }
        if !reads {
            return Err(ApiError::method_not_allowed("GET, HEAD"));
        }
        Ok(file.map_or_else(redirect, |file| file.respond(request, StatusCode::OK)))
    }
}

/// Whether a client is a browser, which asks for HTML and not for JSON.
fn is_browser(headers: &HeaderMap) -> bool {
    let accepts = |kind| accepts(headers, &header::ACCEPT, kind);
    accepts("text/html") && !accepts("application/json")
}

/// Returns the media type of a file, by the extension of its name.
fn media_type(name: &str) -> &'static str {
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
    fn new(file: &DocumentFile) -> Self {
        Self {
            plain: Representation::new(file, file.content, None),
            gzip: file.gzip.map(|content| Representation::new(file, content, Some("gzip"))),
        }
    }

    /// Returns the response with this status, or 304 if the client has the file.
    fn respond(&self, request: &Request<()>, status: StatusCode) -> Response<Body> {
        let gzip = self.gzip.as_ref();
        let gzip = gzip.filter(|_| accepts(request.headers(), &header::ACCEPT_ENCODING, "gzip"));
        let Representation { headers, content } = gzip.unwrap_or(&self.plain);
        let mut response = Response::new(Body::from(Bytes::from_static(content)));
        *response.headers_mut() = headers.clone();
        *response.status_mut() = status;
        let etag = headers.get(header::ETAG);
        let is = |condition| etag.is_some_and(|etag| lists(etag, &condition, request.headers()));
        let not_modified = if request.headers().contains_key(header::IF_MATCH) && !is(header::IF_MATCH) {
            Some(StatusCode::PRECONDITION_FAILED)
        } else {
            is(header::IF_NONE_MATCH).then_some(StatusCode::NOT_MODIFIED)
        };
        if let Some(status) = not_modified.filter(|_| etag.is_some()) {
            *response.status_mut() = status;
            response.headers_mut().remove(header::CONTENT_TYPE);
            response.headers_mut().remove(header::CONTENT_ENCODING);
            *response.body_mut() = Body::empty();
        }
        response
    }
}

impl Representation {
    fn new(file: &DocumentFile, content: &'static [u8], coding: Option<&'static str>) -> Self {
        let cache = if file.is_immutable { IMMUTABLE } else { REVALIDATED };
        let is_missing = file.path == MISSING;
        let vary = if is_missing { "accept, accept-encoding" } else { "accept-encoding" };
        let mut headers = HeaderMap::new();
        let mut add = |name, value| headers.insert(name, HeaderValue::from_static(value));
        add(header::CONTENT_TYPE, media_type(file.path));
        add(header::X_CONTENT_TYPE_OPTIONS, "nosniff");
        add(header::CACHE_CONTROL, cache);
        add(header::VARY, vary);
        if file.path.starts_with("openapi") {
            // Pages of other origins may read the documents (Fetch Standard, section 3.2).
            add(header::ACCESS_CONTROL_ALLOW_ORIGIN, "*");
            add(header::ACCESS_CONTROL_EXPOSE_HEADERS, "etag");
        }
        if file.path.ends_with(".html") {
            add(header::CONTENT_SECURITY_POLICY, CONTENT_SECURITY_POLICY);
            add(header::REFERRER_POLICY, "no-referrer");
        }
        if let Some(coding) = coding {
            add(header::CONTENT_ENCODING, coding);
        }
        headers.extend(etag(content).filter(|_| !is_missing).map(|etag| (header::ETAG, etag)));
        Self { headers, content }
    }
}

/// Returns a strong ETag: half of the SHA-256 digest, which is always a header value.
fn etag(content: &[u8]) -> Option<HeaderValue> {
    let hash = digest::digest(&digest::SHA256, content);
    let digits = hash.as_ref().iter().take(16).map(|byte| format!("{byte:02x}"));
    HeaderValue::try_from(format!("\"{}\"", digits.collect::<String>())).ok()
}

/// Whether `condition` has this tag. A weak one counts for `If-None-Match` alone (RFC 9110, section 13.1).
fn lists(etag: &HeaderValue, condition: &HeaderName, request: &HeaderMap) -> bool {
    let values = request.get_all(condition).iter().filter_map(|value| value.to_str().ok());
    let mut tags = values.flat_map(|value| value.split(',')).map(str::trim);
    let weak = if *condition == header::IF_NONE_MATCH { "W/" } else { "" };
    tags.any(|tag| tag == "*" || tag.strip_prefix(weak).unwrap_or(tag) == etag)
}

/// Whether `header`, such as `Accept-Encoding`, lists a value, and not with the weight 0 (RFC 9110, section 12.5). A wildcard
/// lists nothing.
fn accepts(headers: &HeaderMap, header: &HeaderName, value: &str) -> bool {
    let lines = headers.get_all(header).iter().filter_map(|line| line.to_str().ok());
    lines.flat_map(|line| line.split(',')).any(|listed| {
        let mut parts = listed.split(';').map(str::trim);
        let weight = |part: &str| part.to_ascii_lowercase().strip_prefix("q=")?.parse::<f32>().ok();
        parts.next().is_some_and(|name| name.eq_ignore_ascii_case(value))
            && parts.find_map(weight) != Some(0.0)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_is_accepted_if_it_is_listed_with_a_weight_above_0() {
        for (lines, expected) in [
            (&[][..], false),
            (&[""], false),
            (&["br, deflate, gzip, zstd"], true),
            (&["br;q=0.5 , GZIP; q=0.25"], true),
            (&["br", "gzip"], true),
            (&["*"], false),
            (&["*;q=0, gzip"], true),
            (&["br, gzip;Q=0.0"], false),
            (&["gzip;q=nonsense"], true),
            (&["gzip;q=7"], true),
        ] {
            let mut headers = HeaderMap::new();
            for line in lines {
                headers.append(header::ACCEPT_ENCODING, line.parse().unwrap());
            }
            assert_eq!(accepts(&headers, &header::ACCEPT_ENCODING, "gzip"), expected, "{lines:?}");
        }
    }
}
