//! The router: receives every request and finds the operation, checks paths strictly, and handles 404, 405,
//! HEAD, panics, deprecation headers, unread bodies and the access log.
//!
//! dropshot has no middleware, has its own format for 404 and 405, accepts `//pets/` and `/%70ets` for
//! `/pets`, and closes the connection when a handler panics. Its router copies each segment of a path. So
//! [`crate::server`] passes each request to [`Router::respond`], which finds the operation and calls its handler.

use std::net::IpAddr;
use std::panic::AssertUnwindSafe;
use std::sync::{Arc, OnceLock};
use std::time::Instant;

use dropshot::{ApiDescription, Body, RequestContext};
use futures::FutureExt;
use futures::future::BoxFuture;
use http::header::{CONTENT_LENGTH, EXPECT, HeaderMap, HeaderName, HeaderValue, LINK};
use http::{Method, Request, Response, StatusCode, Uri};
use hyper::body::{Body as _, Incoming};
use ipnet::IpNet;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::histogram::Histogram;
use quick_cache::sync::Cache;
use uuid::Uuid;

use super::BASE_PATH;
use super::access_log::{AccessLog, LoggedResponse, TraceContext};
use super::call::Routed;
use super::client_address::client_address;
use super::contexts::Contexts;
use super::error::{ApiError, Cause};
use super::error_code::{ErrorCode, HeaderField};
use super::malformed::malformed;
use super::path_template::PathTemplate;
use super::published::Published;
use super::unread_body::UnreadBody;
use crate::document::{Deprecation, Document};
use crate::keys::KeyId;
use crate::service::Service;

const X_REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");
const METHODS: [Method; 8] = [
    Method::GET,
    Method::HEAD,
    Method::POST,
    Method::PUT,
    Method::PATCH,
    Method::DELETE,
    Method::OPTIONS,
    Method::TRACE,
];

/// The maximum number of callers whose metrics are kept for each deprecated operation.
const CALLERS: usize = 1_000;

/// Finds the operation for a request and completes its response.
pub struct Router {
    operations: Vec<Operation>,
    published: Published,
    access_log: AccessLog,
    trusted_proxies: Vec<IpNet>,
    service: Service,
    contexts: Arc<Contexts>,
}

/// What the router knows about an operation.
struct Operation {
    operation_id: String,
    method: Method,
    /// The path template below [`BASE_PATH`].
    template: Arc<PathTemplate>,
    /// The path template, base path included.
    route: String,
    handler: Handler,
    deprecation: Option<Deprecated>,
    /// The metric of successful responses, once there was one. An operation has one status of success.
    successes: OnceLock<Histogram>,
}

/// What the router does for a deprecated operation.
struct Deprecated {
    headers: HeaderMap,
    /// The metrics of recent callers: looking one up in all of them takes four times the instructions.
    calls: Cache<KeyId, Counter>,
}

// The type of dropshot's handlers is public, but its name is not.
type Handler = Box<
    dyn Fn(RequestContext<Service>, Request<Body>) -> BoxFuture<'static, Option<Response<Body>>>
        + Send
        + Sync,
>;

/// An operation that is deprecated in the code has no dates in the document.
#[derive(Debug, thiserror::Error)]
#[error(
    "operation {0} is deprecated in the code: give it `x-deprecated-since` and `x-sunset`, dates such as \
     2026-11-21, and `x-successor`, a path such as /pets, in openapi/animal-store.yaml"
)]
pub struct MissingDeprecation(String);

/// Returns the headers that the router adds to every response of an operation.
pub fn headers(deprecated: bool) -> Vec<HeaderField> {
    let names: &[_] =
        if deprecated { &["x-request-id", "Deprecation", "Sunset", "Link"] } else { &["x-request-id"] };
    names.iter().map(|name| HeaderField::string(name)).collect()
}

impl Router {
    /// Creates the router of the operations in `api`. Their dates of deprecation are in `document`. The proxies
    /// report the addresses of their clients.
    ///
    /// # Errors
    /// [`MissingDeprecation`].
    pub fn new(
        api: ApiDescription<Service>,
        document: &Document,
        access_log: AccessLog,
        trusted_proxies: Vec<IpNet>,
        service: Service,
    ) -> Result<Self, MissingDeprecation> {
        let mut operations = Vec::new();
        for (path, _, endpoint) in api.into_router().endpoints(None) {
            let operation_id = endpoint.operation_id.clone();
            let deprecation = endpoint.deprecated.then(|| {
                let found = document.deprecations.iter().find(|it| it.operation_id == operation_id);
                let headers = found.map(deprecation_headers);
                let headers = headers.ok_or_else(|| MissingDeprecation(operation_id.clone()))?;
                Ok(Deprecated { headers, calls: Cache::new(CALLERS) })
            });
            let handler = Arc::clone(&endpoint.handler);
            let handler: Handler = Box::new(move |context, request| {
                let handler = Arc::clone(&handler);
                async move { handler.handle_request(context, request).await.ok() }.boxed()
            });
            operations.push(Operation {
                operation_id,
                method: endpoint.method.clone(),
                template: Arc::new(PathTemplate::new(&path)),
                route: format!("{BASE_PATH}{path}"),
                handler,
                deprecation: deprecation.transpose()?,
                successes: OnceLock::new(),
            });
        }
        let published = Published::new(document);
        let contexts = Arc::new(Contexts::new(service.clone()));
        Ok(Self { operations, published, access_log, trusted_proxies, service, contexts })
    }

    /// Returns the response to a request, and logs it.
    pub(crate) async fn respond(&self, request: Request<Incoming>, peer: IpAddr) -> Response<Body> {
        let mut exchange = Exchange::new(self, &request, peer);
        let expects_continue = request.headers().contains_key(EXPECT);
        let request = request.map(|body| UnreadBody::guard(Body::wrap(body), expects_continue));
        let mut response = match malformed(&request) {
            Some(error) => error.into_response(),
            None => self.dispatch(request, &mut exchange).await,
        };
        exchange.key = response.extensions_mut().remove::<KeyId>();
        exchange.code = response.extensions_mut().remove::<ErrorCode>();
        exchange.cause = response.extensions_mut().remove::<Cause>();
        exchange.status = response.status();
        if let Some(Operation { operation_id, deprecation: Some(deprecated), .. }) = exchange.operation {
            let headers = deprecated.headers.iter().map(|(name, value)| (name.clone(), value.clone()));
            response.headers_mut().extend(headers);
            if let Some(key) = &exchange.key {
                let calls = deprecated.calls.get(key).unwrap_or_else(|| {
                    let calls = self.service.metrics.deprecated_calls(operation_id, key.as_str());
                    deprecated.calls.insert(key.clone(), calls.clone());
                    calls
                });
                calls.inc();
            }
        }
        if exchange.method == Method::HEAD {
            strip_body(&mut response);
        }
        // A UUID is always a header value.
        let mut buffer = Uuid::encode_buffer();
        let request_id = HeaderValue::from_str(exchange.request_id.hyphenated().encode_lower(&mut buffer));
        response.headers_mut().extend(request_id.map(|id| (X_REQUEST_ID, id)));
        response
    }

    /// Returns the response of the operation or the published file, or an error.
    async fn dispatch<'a>(
        &'a self,
        mut request: Request<Body>,
        exchange: &mut Exchange<'a>,
    ) -> Response<Body> {
        // Copies references, not the text.
        let uri = exchange.uri.clone();
        let Some(path) = uri.path().strip_prefix(BASE_PATH).filter(|path| path.starts_with('/')) else {
            let file = self.published.respond(&exchange.method, uri.path(), request.headers());
            return file.unwrap_or_else(|| ApiError::NotFound("this path does not exist").into_response());
        };
        let Some(operation) = self.find(&exchange.method, path) else {
            return self.no_operation(path).into_response();
        };
        exchange.operation = Some(operation);
        let Ok(context) = self.contexts.take().await else {
            return ApiError::Unavailable.into_response();
        };
        let routed = Routed {
            client: exchange.client,
            contexts: Arc::clone(&self.contexts),
            template: Arc::clone(&operation.template),
        };
        request.extensions_mut().insert(routed);
        // The panic hook logs a panic where it happens. Extracting a `Call` and returning an `OperationResponse`
        // never fail.
        let response = AssertUnwindSafe((operation.handler)(context, request)).catch_unwind().await;
        response.ok().flatten().unwrap_or_else(|| ApiError::Internal.into_response())
    }

    /// Returns the operation for a method, whose case matters (RFC 9110, section 9.1), and a path below
    /// [`BASE_PATH`]. HEAD is answered by GET.
    fn find(&self, method: &Method, path: &str) -> Option<&Operation> {
        let method = if method == Method::HEAD { &Method::GET } else { method };
        self.operations.iter().find(|it| it.method == *method && it.template.matches(path))
    }

    /// Returns 405 if the path has an operation for another method, else 404.
    fn no_operation(&self, path: &str) -> ApiError {
        let allowed: Vec<_> =
            METHODS.iter().filter(|method| self.find(method, path).is_some()).map(Method::as_str).collect();
        if allowed.is_empty() {
            ApiError::NotFound("this path does not exist")
        } else {
            ApiError::MethodNotAllowed { allow: allowed.join(", ") }
        }
    }
}

/// The status of a request whose client went away before the response. It is never sent, and has no name in
/// HTTP; the access logs of nginx made it known.
const CLIENT_CLOSED_REQUEST: u16 = 499;

/// A request and its response, which are logged when this is dropped.
struct Exchange<'a> {
    router: &'a Router,
    start: Instant,
    method: Method,
    uri: Uri,
    client: IpAddr,
    request_id: Uuid,
    trace: Option<TraceContext>,
    operation: Option<&'a Operation>,
    status: StatusCode,
    code: Option<ErrorCode>,
    cause: Option<Cause>,
    key: Option<KeyId>,
}

impl<'a> Exchange<'a> {
    fn new(router: &'a Router, request: &Request<Incoming>, peer: IpAddr) -> Self {
        Self {
            router,
            start: Instant::now(),
            method: request.method().clone(),
            uri: request.uri().clone(),
            client: client_address(peer, request.headers(), &router.trusted_proxies),
            request_id: Uuid::new_v4(),
            trace: TraceContext::of(request.headers()),
            operation: None,
            // Until there is a response.
            status: StatusCode::from_u16(CLIENT_CLOSED_REQUEST).unwrap_or_default(),
            code: None,
            cause: None,
            key: None,
        }
    }
}

impl Drop for Exchange<'_> {
    fn drop(&mut self) {
        let duration = self.start.elapsed();
        let route = self.operation.map(|operation| &*operation.route);
        let durations = || {
            let metrics = &self.router.service.metrics;
            metrics.response_durations(&self.method, route.unwrap_or_default(), self.status)
        };
        let is_success = self.status.is_success() && self.method != Method::HEAD;
        match self.operation.filter(|_| is_success) {
            Some(operation) => operation.successes.get_or_init(durations).observe(duration.as_secs_f64()),
            None => durations().observe(duration.as_secs_f64()),
        }
        let mut buffer = Uuid::encode_buffer();
        let logged = LoggedResponse {
            method: &self.method,
            path: self.uri.path(),
            route,
            status: self.status,
            code: self.code,
            cause: self.cause.as_ref(),
            duration,
            client: self.client,
            key: self.key.as_ref(),
            request_id: self.request_id.hyphenated().encode_lower(&mut buffer),
            trace: self.trace.as_ref(),
        };
        self.router.access_log.record(&logged);
    }
}

/// Returns `Deprecation` (RFC 9745), `Sunset` (RFC 8594) and `Link` to the successor (RFC 5829).
fn deprecation_headers(deprecation: &Deprecation) -> HeaderMap {
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
