//! What may be answered beside the contract: the document itself and the page to read it on.

use http::header::{
    ACCESS_CONTROL_ALLOW_ORIGIN, ACCESS_CONTROL_EXPOSE_HEADERS, ALLOW, CACHE_CONTROL,
    CONTENT_SECURITY_POLICY, CONTENT_TYPE, ETAG, HeaderName, LOCATION, REFERRER_POLICY,
    X_CONTENT_TYPE_OPTIONS,
};

use super::contract::UNDECLARED;
use super::wire::{RequestLine, Response};

const REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");

/// What a file may carry beside what every answer may.
const HEADERS: [HeaderName; 8] = [
    REQUEST_ID,
    ETAG,
    CACHE_CONTROL,
    X_CONTENT_TYPE_OPTIONS,
    ACCESS_CONTROL_ALLOW_ORIGIN,
    ACCESS_CONTROL_EXPOSE_HEADERS,
    CONTENT_SECURITY_POLICY,
    REFERRER_POLICY,
];

/// Whether files are published at a path, or may be.
pub fn is(path: &str) -> bool {
    ["/", "/openapi.yaml", "/openapi.json", "/docs"].contains(&path)
        || ["/docs/", "/openapi/"].iter().any(|directory| path.starts_with(directory))
}

/// Judges the answer to a request for a file that is there.
pub fn judge(request: &RequestLine, response: &Response) -> Vec<String> {
    let mut violations = Vec::new();
    let mut demand = |met: bool, what: &str| {
        if !met {
            violations.push(what.to_owned());
        }
    };
    let once = |name: &HeaderName| response.headers.get_all(name).iter().count() == 1;
    demand(once(&REQUEST_ID), "x-request-id must be there once");
    let known: &[HeaderName] = match (&*request.method, response.status) {
        ("GET" | "HEAD", status) if request.path() == "/" => {
            let location = response.header("location");
            demand((status, location) == (302, Some("/docs")), "/ redirects to the page");
            demand(response.body.is_empty(), "a redirect has no body");
            &[REQUEST_ID, LOCATION]
        }
        ("GET" | "HEAD", 200) => {
            demand(once(&CONTENT_TYPE) && once(&ETAG), "a file has a content-type and an etag");
            demand((request.method == "HEAD") == response.body.is_empty(), "only GET has a body");
            &HEADERS
        }
        ("GET" | "HEAD", 304) => {
            demand(once(&ETAG), "a file that is known has an etag");
            &HEADERS
        }
        ("GET" | "HEAD", status) => {
            demand(false, &format!("a file is answered 200 or 304, not {status}"));
            &HEADERS
        }
        (_, status) => {
            demand(status == 405 && once(&ALLOW), "a file cannot be changed");
            &[REQUEST_ID, ALLOW]
        }
    };
    for name in response.headers.keys() {
        demand(
            UNDECLARED.contains(name) || known.contains(name),
            &format!("the header {name} is not expected"),
        );
    }
    violations
}
