//! What anybody may fetch without a key, at the root of the host: the OpenAPI document and a page to read
//! it and try it on.
//!
//! The page's viewer is Swagger UI (Apache-2.0), from a crate that carries its files; they are part of the
//! program, so the page needs no other host.

use std::collections::HashMap;

use dropshot::Body;
use http::header::{self, HeaderMap, HeaderName, HeaderValue};
use http::{Method, Response, StatusCode};
use hyper::body::Bytes;
use sha2::{Digest, Sha256};
use swagger_ui_redist::SwaggerUi;

use crate::document::Document;
use crate::http::responses::Refusal;

/// Scripts, styles and requests of this host only, nothing inline, and nothing may frame the page (Content
/// Security Policy Level 3). The viewer's own icons are `data:` images.
const CONTENT_SECURITY_POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; \
     img-src 'self' data:; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/// May be kept, but must be asked about: a new version of the program can bring a new content.
const REVALIDATED: &str = "no-cache";
/// What is released never changes (RFC 8246), so it may be kept for a year, which is as long as there is.
const IMMUTABLE: &str = "public, max-age=31536000, immutable";

/// Files by their path.
pub(crate) struct Published(HashMap<String, File>);

struct File {
    content: Bytes,
    headers: HeaderMap,
    etag: String,
}

impl Published {
    /// The document, as written and as JSON, those of released versions, and the page.
    pub(crate) fn new(document: &Document) -> Self {
        let mut files = HashMap::new();
        let mut add =
            |path: &str, kind: &'static str, content: Bytes, extra: &[(HeaderName, &'static str)]| {
                files.insert(path.to_owned(), File::new(kind, content, extra));
            };
        let text = |text: &'static str| Bytes::from_static(text.as_bytes());
        // Tools on other origins may read the document (Fetch, section 3.2).
        let shared = |cached| {
            [
                (header::ACCESS_CONTROL_ALLOW_ORIGIN, "*"),
                (header::ACCESS_CONTROL_EXPOSE_HEADERS, "etag"),
                (header::CACHE_CONTROL, cached),
            ]
        };
        let (yaml, json) = ("application/yaml", "application/json");
        add("/openapi.yaml", yaml, document.yaml(), &shared(REVALIDATED));
        add("/openapi.json", json, document.json(), &shared(REVALIDATED));
        for (name, content) in document.released() {
            let kind = if name.ends_with(".json") { json } else { yaml };
            add(&format!("/openapi/{name}"), kind, text(content), &shared(IMMUTABLE));
        }
        let page = [
            (header::CONTENT_SECURITY_POLICY, CONTENT_SECURITY_POLICY),
            (header::REFERRER_POLICY, "no-referrer"),
        ];
        add("/docs", "text/html; charset=utf-8", text(include_str!("docs/index.html")), &page);
        add("/docs/page.css", "text/css; charset=utf-8", text(include_str!("docs/page.css")), &[]);
        add("/docs/page.js", "text/javascript; charset=utf-8", text(include_str!("docs/page.js")), &[]);
        for (file, content) in SwaggerUi::static_files() {
            let name = file.file_name();
            let kind = match name.rsplit_once('.') {
                Some((_, "js")) => "text/javascript; charset=utf-8",
                Some((_, "css")) => "text/css; charset=utf-8",
                Some((_, "png")) => "image/png",
                _ => "application/octet-stream",
            };
            add(&format!("/docs/{name}"), kind, Bytes::from_static(content), &[]);
        }
        Self(files)
    }

    /// The answer, if something is published at `path`.
    pub(crate) fn answer(&self, method: &Method, path: &str, headers: &HeaderMap) -> Option<Response<Body>> {
        let file = self.0.get(path)?;
        Some(match *method {
            Method::GET | Method::HEAD => file.answer(headers),
            _ => Refusal::MethodNotAllowed { allow: "GET, HEAD".to_owned() }.into_response(),
        })
    }
}

impl File {
    fn new(kind: &'static str, content: Bytes, extra: &[(HeaderName, &'static str)]) -> Self {
        let hash = Sha256::digest(&content);
        let etag =
            format!("\"{}\"", hash.iter().take(16).map(|byte| format!("{byte:02x}")).collect::<String>());
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

    fn answer(&self, request: &HeaderMap) -> Response<Body> {
        let known = is_known(&self.etag, request);
        let body = if known { Body::empty() } else { Body::from(self.content.clone()) };
        let mut response = Response::new(body);
        *response.headers_mut() = self.headers.clone();
        if known {
            *response.status_mut() = StatusCode::NOT_MODIFIED;
            response.headers_mut().remove(header::CONTENT_TYPE);
        }
        response
    }
}

/// Whether the client has what `etag` stands for (RFC 9110, section 13.1.2).
fn is_known(etag: &str, request: &HeaderMap) -> bool {
    let values = request.get_all(header::IF_NONE_MATCH).iter().filter_map(|value| value.to_str().ok());
    let mut tags = values.flat_map(|value| value.split(',')).map(str::trim);
    tags.any(|tag| tag == "*" || tag.strip_prefix("W/").unwrap_or(tag) == etag)
}
