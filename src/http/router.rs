//! The router: receives every request, checks its path strictly, finds the operation, authenticates the client, applies
//! the rate limit and runs the operation. It also handles 404, 405, HEAD, panics, deprecation headers and the access
//! log.
//!
//! An operation gets a [`RequestContext`], which only this file makes, after authentication.

use std::collections::BTreeMap;
use std::net::IpAddr;
use std::panic::AssertUnwindSafe;
use std::pin::pin;
use std::sync::Arc;

use dropshot::Body;
use futures::FutureExt;
use http::header::{CONTENT_LENGTH, HeaderName, HeaderValue, LINK};
use http::uri::Scheme;
use http::{Method, Request, Response, StatusCode};
use hyper::body::Body as _;
use prometheus_client::metrics::histogram::Histogram;
use slog::{Logger, o};
use tokio::time::Instant;
use uuid::Uuid;

use super::BASE_PATH;
use super::access_log::{AccessLog, LoggedResponse};
use super::authentication::authenticate;
use super::endpoint::{ApiDescription, Handler};
use super::error::{ApiError, ErrorResponse};
use super::malformed::malformed;
use super::published::Published;
use super::request_context::{RequestContext, RequestEndpointMetadata, by};
use crate::document::{Deprecation, Document};
use crate::service::Service;

const X_REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");

/// Finds the operation for a request and completes its response.
pub struct Router {
    /// The operations by path template, which is below [`BASE_PATH`].
    paths: matchit::Router<Vec<Operation>>,
    published: Published,
    access_log: AccessLog,
    service: Arc<Service>,
}

/// What the router knows about an operation.
struct Operation {
    method: Method,
    endpoint: Arc<RequestEndpointMetadata>,
    handler: Handler<Service>,
    deprecation: Option<Deprecated>,
    success: StatusCode,
    /// The metric of the responses to it with the status of success.
    durations: Histogram,
}

/// What the router does for a deprecated operation.
struct Deprecated {
    operation_id: &'static str,
    headers: Vec<(HeaderName, HeaderValue)>,
}

/// The operations cannot be served.
#[derive(Debug, thiserror::Error)]
pub enum RouterError {
    /// An operation that is deprecated in the code has no dates in the document.
    #[error(
        "operation {0} is deprecated in the code: give it `x-deprecated-since` and `x-sunset`, dates such as \
         2026-11-21, and `x-successor`, a path such as /pets, in openapi/animal-store.yaml"
    )]
    MissingDeprecation(String),
    /// Two path templates match the same paths.
    #[error("the paths of two operations conflict: {0}")]
    Path(#[from] matchit::InsertError),
}

/// Returns the names of the headers that the router adds to every response of an operation.
pub fn headers(deprecated: bool) -> &'static [&'static str] {
    if deprecated { &["x-request-id", "Deprecation", "Sunset", "Link"] } else { &["x-request-id"] }
}

impl Router {
    /// Creates the router of the operations in `api`. Their dates of deprecation are in `document`. `scheme` is that of
    /// the listener.
    ///
    /// # Errors
    /// [`RouterError`].
    pub fn new(
        api: ApiDescription<Service>,
        document: &Document,
        scheme: &Scheme,
        access_log: AccessLog,
        service: Service,
        log: &Logger,
    ) -> Result<Self, RouterError> {
        let mut by_path: BTreeMap<String, Vec<Operation>> = BTreeMap::new();
        for registered in api.operations {
            let operation_id = registered.operation_id;
            let deprecation = registered.deprecated.then(|| {
                let found = document.deprecations.iter().find(|it| it.operation_id == operation_id);
                let found = found.ok_or_else(|| RouterError::MissingDeprecation(operation_id.clone()))?;
                let headers = deprecation_headers(found);
                Ok::<_, RouterError>(Deprecated { operation_id: found.operation_id, headers })
            });
            let log = log.new(o!("operation" => operation_id.clone()));
            let (method, success) = (registered.method, registered.success);
            let route = format!("{BASE_PATH}{}", registered.path);
            let operation = Operation {
                durations: service.metrics.response_durations(&method, &route, success),
                method,
                success,
                deprecation: deprecation.transpose()?,
                handler: registered.handler,
                endpoint: Arc::new(RequestEndpointMetadata { operation_id, route, log }),
            };
            by_path.entry(registered.path).or_default().push(operation);
        }
        let mut paths = matchit::Router::new();
        for (path, operations) in by_path {
            paths.insert(path, operations)?;
        }
        let published = Published::new(document, scheme);
        Ok(Self { paths, published, access_log, service: Arc::new(service) })
    }

    /// Returns the response to a request, and logs it.
    pub(crate) async fn respond(&self, request: Request<Body>, peer: IpAddr) -> Response<Body> {
        let (head, body) = request.into_parts();
        let logged = LoggedResponse::new(Arc::new(Request::from_parts(head, ())), peer);
        let mut exchange = Exchange { router: self, start: Instant::now(), operation: None, logged };
        // The panic hook logs the message of a panic where it happens.
        let result = AssertUnwindSafe(self.dispatch(body, &mut exchange)).catch_unwind().await;
        let mut response =
            result.unwrap_or_else(|_| Err(ApiError::Panic.into())).unwrap_or_else(|mut error| {
                exchange.logged.code = Some(error.code);
                exchange.logged.cause = error.cause.take();
                error.into_response()
            });
        let Exchange { operation, ref mut logged, .. } = exchange;
        logged.status = response.status();
        if let Some(Operation { deprecation: Some(deprecated), .. }) = operation {
            response.headers_mut().extend(deprecated.headers.iter().cloned());
            if let Some(key) = &logged.key {
                self.service.metrics.deprecated_operation_called(deprecated.operation_id, key.0.clone());
            }
        }
        if logged.request.method() == Method::HEAD {
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
        body: Body,
        exchange: &mut Exchange<'a>,
    ) -> Result<Response<Body>, ErrorResponse> {
        let request = Arc::clone(&exchange.logged.request);
        malformed(&request)?;
        let (method, path) = (request.method(), request.uri().path());
        let Some(path) = path.strip_prefix(BASE_PATH).filter(|path| path.starts_with('/')) else {
            return Ok(self.published.respond(&request)?);
        };
        let found = self.paths.at(path).map_err(|_| ApiError::UnknownPath)?;
        // A dot segment is not a value (RFC 3986, section 3.3).
        if found.params.iter().any(|(_, value)| matches!(value, "." | "..")) {
            Err(ApiError::UnknownPath)?;
        }
        // The case of a method matters (RFC 9110, section 9.1). HEAD is answered by GET.
        let method = if method == Method::HEAD { &Method::GET } else { method };
        let operation = found.value.iter().find(|it| it.method == *method);
        let operation = operation.ok_or_else(|| method_not_allowed(found.value))?;
        (exchange.operation, exchange.logged.route) = (Some(operation), Some(&*operation.endpoint.route));
        let deadline = exchange.start + self.service.request_timeout;
        let authenticated = authenticate(&self.service, request.headers());
        let authenticated = by(deadline, pin!(authenticated)).await;
        let client = authenticated.ok_or(ApiError::TimeLimit)??;
        exchange.logged.key = Some(client.clone());
        if let Some(limiter) = &self.service.rate_limiter {
            limiter.check(&client).map_err(ApiError::RateLimited)?;
        }
        let context = RequestContext {
            endpoint: Arc::clone(&operation.endpoint),
            request_id: exchange.logged.request_id,
            request,
            client,
            server: Arc::clone(&self.service),
            deadline,
        };
        (operation.handler)(context, body).await
    }
}

/// Returns the error for a path whose operations have other methods.
fn method_not_allowed(operations: &[Operation]) -> ApiError {
    let methods = operations.iter().flat_map(|it| match it.method {
        Method::GET => vec!["GET", "HEAD"],
        _ => vec![it.method.as_str()],
    });
    ApiError::MethodNotAllowed { allow: methods.collect::<Vec<_>>().join(", ") }
}

/// A request and its response, which are counted and logged when this is dropped.
struct Exchange<'a> {
    router: &'a Router,
    start: Instant,
    operation: Option<&'a Operation>,
    logged: LoggedResponse<'a>,
}

impl Drop for Exchange<'_> {
    fn drop(&mut self) {
        let Self { router, operation, logged, .. } = self;
        logged.duration = self.start.elapsed();
        let (method, seconds) = (logged.request.method(), logged.duration.as_secs_f64());
        match operation {
            Some(operation) if (method, logged.status) == (&operation.method, operation.success) => {
                operation.durations.observe(seconds);
            }
            _ => {
                let (metrics, route) = (&router.service.metrics, logged.route.unwrap_or_default());
                metrics.response_durations(method, route, logged.status).observe(seconds);
            }
        }
        router.access_log.record(logged);
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
