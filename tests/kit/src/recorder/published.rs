//! The responses that are allowed outside the API: the published documents and the documentation page.

use http::header::{
    ACCESS_CONTROL_ALLOW_ORIGIN, ACCESS_CONTROL_EXPOSE_HEADERS, ALLOW, CACHE_CONTROL, CONTENT_ENCODING,
    CONTENT_SECURITY_POLICY, CONTENT_TYPE, ETAG, HeaderName, LOCATION, REFERRER_POLICY, VARY,
    X_CONTENT_TYPE_OPTIONS,
};

use super::contract::UNDECLARED;
use super::wire::{RequestLine, Response};

const REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");

/// The headers that a published file may have besides those of every response.
const HEADERS: [HeaderName; 10] = [
    REQUEST_ID,
    ETAG,
    CACHE_CONTROL,
    X_CONTENT_TYPE_OPTIONS,
    ACCESS_CONTROL_ALLOW_ORIGIN,
    ACCESS_CONTROL_EXPOSE_HEADERS,
    CONTENT_SECURITY_POLICY,
    REFERRER_POLICY,
    VARY,
    CONTENT_ENCODING,
];

/// Whether a path belongs to published files.
pub(super) fn is(path: &str) -> bool {
    ["/", "/openapi.yaml", "/openapi.json", "/docs"].contains(&path)
        || ["/docs/", "/openapi/"].iter().any(|directory| path.starts_with(directory))
}

/// Checks the response to a request for a file that exists.
pub(super) fn check(request: &RequestLine, response: &Response) -> Vec<String> {
    let mut violations = Vec::new();
    let mut require = |met: bool, what: &str| {
        if !met {
            violations.push(what.to_owned());
        }
    };
    let once = |name: &HeaderName| response.headers.get_all(name).iter().count() == 1;
    require(once(&REQUEST_ID), "x-request-id must be present once");
    let known: &[HeaderName] = match (&*request.method, response.status) {
        ("GET" | "HEAD", status) if ["/", "/docs/"].contains(&request.path()) => {
            let location = response.header("location");
            require((status, location) == (303, Some("/docs")), "/ and /docs/ must redirect to /docs");
            require(response.body.is_empty(), "a redirect must not have a body");
            &[REQUEST_ID, LOCATION]
        }
        ("GET" | "HEAD", 200) => {
            require(once(&CONTENT_TYPE) && once(&ETAG), "a file must have a content-type and an etag");
            require(
                (request.method == "HEAD") == response.body.is_empty(),
                "GET must have a body, HEAD must not",
            );
            &HEADERS
        }
        ("GET" | "HEAD", 304 | 412) => {
            require(once(&ETAG), "a 304 or 412 must have an etag");
            &HEADERS
        }
        ("GET" | "HEAD", 404) => {
            let policy = response.header("content-security-policy");
            require(policy.is_some() && !once(&ETAG), "the page for other paths is not one to keep");
            &HEADERS
        }
        ("GET" | "HEAD", status) => {
            require(false, &format!("the status of a file must be 200, 304 or 412, not {status}"));
            &HEADERS
        }
        (_, status) => {
            require(status == 405 && once(&ALLOW), "other methods must get 405 with Allow");
            &[REQUEST_ID, ALLOW]
        }
    };
    for name in response.headers.keys() {
        require(
            UNDECLARED.contains(name) || known.contains(name),
            &format!("the header {name} is not expected"),
        );
    }
    violations
}
