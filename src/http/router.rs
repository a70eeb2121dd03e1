//! The router: receives every request, checks its path strictly, finds the operation, authenticates the client, applies
//! the rate limit and runs the operation. It also handles 404, 405, HEAD, panics, deprecation headers and the access
//! log.
//!
//! An operation gets an [`AuthenticatedRequest`], which only this file makes, after authentication.

use std::collections::BTreeMap;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;

use dropshot::Body;
use futures::FutureExt;
use http::header::{CONTENT_LENGTH, HeaderName, HeaderValue, LINK};
use http::{Method, Request, Response, StatusCode};
use hyper::body::Body as _;
use prometheus_client::metrics::histogram::Histogram;
use slog::Logger;
use tokio::time::{Instant, timeout_at};
use uuid::Uuid;

use super::access_log::LoggedResponse;
use super::checks::{AuthenticatedRequest, authenticate, check_head};
use super::error::{ApiError, ErrorCode};
use super::operation::{BASE_PATH, Operation};
use super::published::Published;
use crate::service::Service;
use crate::{Deprecation, Document};

const X_REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");

/// Finds the operation for a request and completes its response.
pub struct Router {
    /// The operations by path template, which is below [`BASE_PATH`].
    paths: matchit::Router<Vec<Route>>,
    published: Published,
    log: Logger,
    service: Arc<Service>,
}

/// An operation, with what every response to it has.
struct Route {
    operation: Operation,
    /// The path template, base path included.
    path: String,
    /// The headers of a deprecated operation, and its `operationId`.
    deprecation: Option<(&'static str, Vec<(HeaderName, HeaderValue)>)>,
    success: StatusCode,
    /// The metric of the responses to it with the status of success.
    durations: Histogram,
}

/// Returns the names of the headers that the router adds to every response of an operation.
pub(super) fn response_headers(deprecated: bool) -> &'static [&'static str] {
    if deprecated { &["x-request-id", "Deprecation", "Sunset", "Link"] } else { &["x-request-id"] }
}

impl Router {
    /// Creates the router of these operations. Their dates of deprecation are in `document`.
    ///
    /// # Errors
    /// One line, if an operation that is deprecated in the code has no dates in the document, or two path templates match
    /// the same paths.
    pub fn new(
        operations: Vec<Operation>,
        document: &Document,
        log: &Logger,
        service: Service,
    ) -> Result<Self, String> {
        let mut by_path: BTreeMap<&str, Vec<Route>> = BTreeMap::new();
        for operation in operations {
            let deprecation = operation.description.deprecated.then(|| {
                let id = operation.id();
                let found = document.deprecations.iter().find(|it| it.operation_id == id);
                let found = found.ok_or_else(|| {
                    format!(
                        "operation {id} is deprecated in the code: give it `x-deprecated-since` and `x-sunset`, dates \
                         such as 2026-11-21, and `x-successor`, a path such as /pets, in openapi/animal-store.yaml"
                    )
                })?;
                Ok::<_, String>((found.operation_id, deprecation_headers(found)))
            });
            let path = format!("{BASE_PATH}{}", operation.path);
            let success = operation.description.response.success.unwrap_or_default();
            let durations = service.metrics.response_durations(operation.method(), &path, success);
            let deprecation = deprecation.transpose()?;
            let routes = by_path.entry(operation.path).or_default();
            routes.push(Route { operation, path, deprecation, success, durations });
        }
        let mut paths = matchit::Router::new();
        for (path, routes) in by_path {
            let inserted = paths.insert(path, routes);
            inserted.map_err(|error| format!("the paths of two operations conflict: {error}"))?;
        }
        Ok(Self { paths, published: Published::new(document), log: log.clone(), service: Arc::new(service) })
    }

    /// Returns the response to a request, and logs it.
    pub(crate) async fn respond(&self, request: Request<Body>, peer: Arc<str>) -> Response<Body> {
        let (head, body) = request.into_parts();
        let head = Arc::new(Request::from_parts(head, ()));
        let logged = LoggedResponse::new(Arc::clone(&head), peer);
        let mut exchange = Exchange { router: self, start: Instant::now(), route: None, logged };
        // The panic hook logs the message of a panic where it happens.
        let result = AssertUnwindSafe(self.dispatch(&head, body, &mut exchange)).catch_unwind().await;
        let result =
            result.unwrap_or_else(|_| Err(ApiError::new(ErrorCode::Internal, "the operation panicked")));
        let mut response = result.unwrap_or_else(|error| exchange.logged.error.insert(error).response());
        let Exchange { route, ref mut logged, .. } = exchange;
        logged.status = response.status();
        if let Some((operation_id, headers)) = route.and_then(|route| route.deprecation.as_ref()) {
            response.headers_mut().extend(headers.iter().cloned());
            if let Some(key) = &logged.key {
                self.service.metrics.deprecated_operation_called(operation_id, key.0.clone());
            }
        }
        if head.method() == Method::HEAD {
            strip_body(&mut response);
        }
        // A UUID is always a header value.
        let mut buffer = Uuid::encode_buffer();
        let request_id = HeaderValue::from_str(logged.request_id.hyphenated().encode_lower(&mut buffer));
        response.headers_mut().extend(request_id.map(|id| (X_REQUEST_ID, id)));
        response
    }

    /// Returns the response of the operation or the published file, or an error.
    async fn dispatch<'a>(
        &'a self,
        head: &Arc<Request<()>>,
        body: Body,
        exchange: &mut Exchange<'a>,
    ) -> Result<Response<Body>, ApiError> {
        check_head(head)?;
        let path = head.uri().path().strip_prefix(BASE_PATH).filter(|path| path.starts_with('/'));
        let Some(path) = path else { return self.published.respond(head) };
        let Route { operation, path, .. } = exchange.route.insert(self.route(path, head.method())?);
        exchange.logged.route = Some(path);
        let deadline = exchange.start + self.service.request_timeout;
        let authenticated = timeout_at(deadline, authenticate(&self.service, head.headers())).await;
        let client = authenticated.map_err(|_| ApiError::time_limit())??;
        exchange.logged.key = Some(client.clone());
        if let Some(limiter) = &self.service.rate_limiter {
            let checked = limiter.check(&client);
            checked.map_err(|retry_after| ApiError::rate_limited(limiter.limit, retry_after))?;
        }
        let request = AuthenticatedRequest {
            service: Arc::clone(&self.service),
            client,
            head: Arc::clone(head),
            template: operation.path,
            deadline,
        };
        let result = (operation.handler)(request, body).await;
        if let Err(ApiError { code, .. }) = &result {
            // The document has only the statuses of these.
            debug_assert!(operation.codes.contains(code), "{} does not declare {code:?}", operation.id());
        }
        result
    }

    /// Returns the operation with a path below [`BASE_PATH`] and a method.
    fn route(&self, path: &str, method: &Method) -> Result<&Route, ApiError> {
        let found = self.paths.at(path).map_err(|_| ApiError::unknown_path())?;
        // A dot segment is not a value (RFC 3986, section 3.3).
        if found.params.iter().any(|(_, value)| matches!(value, "." | "..")) {
            return Err(ApiError::unknown_path());
        }
        // The case of a method matters (RFC 9110, section 9.1). HEAD is answered by GET.
        let method = if method == Method::HEAD { &Method::GET } else { method };
        let route = found.value.iter().find(|route| route.operation.method() == method);
        route.ok_or_else(|| {
            let methods = found.value.iter().flat_map(|route| match route.operation.method() {
                &Method::GET => vec!["GET", "HEAD"],
                method => vec![method.as_str()],
            });
            ApiError::method_not_allowed(&methods.collect::<Vec<_>>().join(", "))
        })
    }
}

/// A request and its response, which are counted and logged when this is dropped.
struct Exchange<'a> {
    router: &'a Router,
    start: Instant,
    route: Option<&'a Route>,
    logged: LoggedResponse<'a>,
}

impl Drop for Exchange<'_> {
    fn drop(&mut self) {
        let Self { router, route, logged, .. } = self;
        logged.duration = self.start.elapsed();
        let (method, seconds) = (logged.request.method(), logged.duration.as_secs_f64());
        match route {
            Some(route) if (method, logged.status) == (route.operation.method(), route.success) => {
                route.durations.observe(seconds);
            }
            _ => {
                let (metrics, route) = (&router.service.metrics, logged.route.unwrap_or_default());
                metrics.response_durations(method, route, logged.status).observe(seconds);
            }
        }
        logged.record(&router.log);
    }
}

/// Returns `Deprecation` (RFC 9745), `Sunset` (RFC 8594) and `Link` to the successor (RFC 5829).
fn deprecation_headers(deprecation: &Deprecation) -> Vec<(HeaderName, HeaderValue)> {
    let link = format!("<{BASE_PATH}{}>; rel=\"successor-version\"", deprecation.successor);
    let fields = [
        (HeaderName::from_static("deprecation"), format!("@{}", deprecation.since)),
        (HeaderName::from_static("sunset"), deprecation.sunset.to_owned()),
        (LINK, link),
    ];
    // The build script accepts only dates and visible ASCII.
    fields.into_iter().filter_map(|(name, value)| Some((name, HeaderValue::try_from(value).ok()?))).collect()
}

/// Turns a response to GET into the response to HEAD (RFC 9110, section 9.3.2).
fn strip_body(response: &mut Response<Body>) {
    // A length of zero would be wrong for a response that has no body with GET either (section 8.6).
    let has_body = !matches!(response.status(), StatusCode::NO_CONTENT | StatusCode::NOT_MODIFIED);
    if has_body && let Some(bytes) = response.body().size_hint().exact() {
        response.headers_mut().insert(CONTENT_LENGTH, HeaderValue::from(bytes));
    }
    *response.body_mut() = Body::empty();
}
