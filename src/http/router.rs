//! The router: receives every request and finds the operation, checks paths strictly, and handles 404, 405,
//! HEAD, panics, deprecation headers, unread bodies and the access log.
//!
//! dropshot has no middleware, has its own format for 404 and 405, accepts `//pets/` and `/%70ets` for
//! `/pets`, and closes the connection when a handler panics. So its server has one route for all paths, which
//! calls [`Router::respond`], and the operations are in a second router behind it. This costs about a quarter
//! more instructions than one router. Rejected: a proxy in front of dropshot (one more hop and copy for each
//! request), and an accept loop of our own (only dropshot's server can create its request context).
//!
//! Two kinds of responses do not come from here: those of hyper to invalid HTTP, and those of dropshot to
//! undecodable percent-encoding, dot segments and non-standard methods.

use std::borrow::Cow;
use std::collections::HashMap;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::Instant;

use async_trait::async_trait;
use dropshot::{
    ApiDescription, ApiDescriptionRegisterError, ApiEndpoint, ApiEndpointBodyContentType,
    ApiEndpointVersions, Body, ExtractorMetadata, HttpError, RawRequest, RequestContext,
    RequestEndpointMetadata, ServerContext, SharedExtractor,
};
use futures::FutureExt;
use futures::future::BoxFuture;
use http::header::{CONNECTION, CONTENT_LENGTH, EXPECT, HeaderMap, HeaderName, HeaderValue, LINK};
use http::{Method, Request, Response, StatusCode, Version};
use hyper::body::Body as _;
use schemars::JsonSchema;
use serde::Deserialize;

use super::BASE_PATH;
use super::access_log::{AccessLog, LoggedResponse, TraceContext};
use super::error::{ApiError, Cause};
use super::error_code::{ErrorCode, HeaderField};
use super::in_flight::InFlight;
use super::published::Published;
use super::unread_body::UnreadBody;
use crate::document::{Deprecation, Document};
use crate::keys::KeyId;
use crate::service::Service;

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

/// Finds the operation for a request and completes its response.
pub struct Router {
    lookup: Box<Lookup>,
    operations: HashMap<String, Operation>,
    published: Published,
    access_log: AccessLog,
    in_flight: Arc<InFlight>,
}

/// What the router knows about an operation.
struct Operation {
    operation_id: String,
    /// The path template, base path included.
    route: String,
    /// The headers of a deprecated operation.
    deprecation: Option<HeaderMap>,
}

// dropshot's router and the result of its lookup are public, but their names are not.
type Lookup = dyn Fn(&Method, &str) -> Option<Match> + Send + Sync;
type Handler =
    Box<dyn FnOnce(RequestContext<Service>, Request<Body>) -> BoxFuture<'static, Response<Body>> + Send>;

struct Match {
    endpoint: RequestEndpointMetadata,
    handler: Handler,
}

/// An operation that is deprecated in the code has no dates in the document.
#[derive(Debug, thiserror::Error)]
#[error(
    "operation {0} is deprecated in the code: give it `x-deprecated-since` and `x-sunset`, dates such as \
     2026-11-21, and `x-successor`, a path such as /pets, in openapi/animal-store.yaml"
)]
pub struct MissingDeprecation(String);

/// Returns the headers that the router adds to every response of an operation. dropshot adds `x-request-id`.
pub fn headers(deprecated: bool) -> Vec<HeaderField> {
    let names: &[_] =
        if deprecated { &["x-request-id", "Deprecation", "Sunset", "Link"] } else { &["x-request-id"] };
    names.iter().map(|name| HeaderField::string(name)).collect()
}

impl Router {
    /// Creates the router of the operations in `api`. Their dates of deprecation are in `document`.
    ///
    /// # Errors
    /// [`MissingDeprecation`].
    pub fn new(
        api: ApiDescription<Service>,
        document: &Document,
        access_log: AccessLog,
        in_flight: Arc<InFlight>,
    ) -> Result<Self, MissingDeprecation> {
        let router = api.into_router();
        let mut operations = HashMap::new();
        for (path, _, endpoint) in router.endpoints(None) {
            let operation_id = endpoint.operation_id.clone();
            let deprecation = endpoint.deprecated.then(|| {
                let found = document.deprecations.iter().find(|it| it.operation_id == operation_id);
                found.map(deprecation_headers).ok_or(MissingDeprecation(operation_id.clone()))
            });
            let route = format!("{BASE_PATH}{path}");
            let operation = Operation {
                operation_id: operation_id.clone(),
                route,
                deprecation: deprecation.transpose()?,
            };
            operations.insert(operation_id, operation);
        }
        let lookup = move |method: &Method, path: &str| {
            let found = router.lookup_route(method, path.into(), None).ok()?;
            let operation = found.handler;
            let handler: Handler = Box::new(|context, request| {
                let expects_continue = request.headers().contains_key(EXPECT);
                let request = request.map(|body| UnreadBody::guard(body, expects_continue));
                let response = async move { operation.handle_request(context, request).await.ok() };
                // The panic hook logs a panic where it happens. Extracting a `Call` and returning an
                // `OperationResponse` never fail.
                let response = AssertUnwindSafe(response).catch_unwind().map(|done| done.ok().flatten());
                response.map(|done| done.unwrap_or_else(|| ApiError::Internal.into_response())).boxed()
            });
            Some(Match { endpoint: found.endpoint, handler })
        };
        let published = Published::new(document);
        Ok(Self { lookup: Box::new(lookup), operations, published, access_log, in_flight })
    }

    async fn respond(&self, mut context: RequestContext<Service>, request: Request<Body>) -> Response<Body> {
        let start = Instant::now();
        let _in_flight = self.in_flight.begin();
        let service = context.context().clone();
        let request_id = context.request_id.clone();
        let sent_method = request.method().clone();
        let method = if sent_method == Method::HEAD { &Method::GET } else { &sent_method };
        let has_connection_header = request.version() < Version::HTTP_2;
        let trace = TraceContext::of(request.headers());
        // Copies references, not the text.
        let uri = request.uri().clone();
        let client = context.request.remote_addr().ip();
        let mut operation = None;
        let mut response = match relative_path(uri.path()) {
            None => self
                .published
                .respond(&sent_method, uri.path(), request.headers())
                .unwrap_or_else(|| ApiError::NotFound("this path does not exist").into_response()),
            Some(path) => match (self.lookup)(method, &path) {
                None => self.no_operation(&path).into_response(),
                Some(found) => {
                    operation = self.operations.get(&found.endpoint.operation_id);
                    context.endpoint = found.endpoint;
                    (found.handler)(context, request).await
                }
            },
        };
        let key = response.extensions_mut().remove::<KeyId>();
        let code = response.extensions_mut().remove::<ErrorCode>();
        let cause = response.extensions_mut().remove::<Cause>();
        if let Some(Operation { operation_id, deprecation: Some(headers), .. }) = operation {
            response.headers_mut().extend(headers.iter().map(|(name, value)| (name.clone(), value.clone())));
            if let Some(key) = &key {
                service.metrics.deprecated_call(operation_id, key.as_str());
            }
        }
        if sent_method == Method::HEAD {
            strip_body(&mut response);
        }
        if has_connection_header && self.in_flight.is_shutting_down() {
            response.headers_mut().insert(CONNECTION, HeaderValue::from_static("close"));
        }
        let logged = LoggedResponse {
            method: &sent_method,
            path: uri.path(),
            route: operation.map(|operation| &*operation.route),
            status: response.status(),
            code,
            cause: cause.as_ref(),
            duration: start.elapsed(),
            client,
            key: key.as_ref(),
            request_id: &request_id,
            trace: trace.as_ref(),
        };
        self.access_log.record(&service.metrics, &logged);
        response
    }

    /// Returns 405 if the path has an operation for another method, else 404.
    fn no_operation(&self, path: &str) -> ApiError {
        let exists =
            |method: &Method| (self.lookup)(if method == Method::HEAD { &Method::GET } else { method }, path);
        let allowed: Vec<_> =
            METHODS.iter().filter(|method| exists(method).is_some()).map(Method::as_str).collect();
        if allowed.is_empty() {
            ApiError::NotFound("this path does not exist")
        } else {
            ApiError::MethodNotAllowed { allow: allowed.join(", ") }
        }
    }
}

/// Returns the path below [`BASE_PATH`] for the second router; `None` if no operation can have it.
///
/// The router decodes percent-encoding. With each `%` encoded again, it compares the path as it was sent.
fn relative_path(path: &str) -> Option<Cow<'_, str>> {
    let path = path.strip_prefix(BASE_PATH)?;
    let strict = path.starts_with('/') && !path.ends_with('/') && !path.contains("//");
    strict.then(|| if path.contains('%') { path.replace('%', "%25").into() } else { path.into() })
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

/// Returns the API that dropshot serves: each method of every path calls [`Router::respond`].
///
/// # Errors
/// When dropshot rejects a route, which a test would find.
pub fn catch_all(router: Router) -> Result<ApiDescription<Service>, ApiDescriptionRegisterError> {
    let router = Arc::new(router);
    let mut api = ApiDescription::new();
    for method in METHODS {
        let router = router.clone();
        let respond = move |context: RequestContext<Service>, _: AnyPath, request: RawRequest| {
            let router = router.clone();
            async move { Ok::<_, HttpError>(router.respond(context, request.into_inner()).await) }
        };
        let (name, versions) = (format!("catch_all_{method}"), ApiEndpointVersions::All);
        let route = ApiEndpoint::new(name, respond, method, "application/json", "/{path:.*}", versions);
        api.register(route.visible(false))?;
    }
    Ok(api)
}

/// Declares the wildcard of the path, as dropshot requires, without reading it. Reading costs a tenth of a
/// request.
struct AnyPath;

#[derive(Deserialize, JsonSchema)]
struct Wildcard {
    #[allow(dead_code)] // Only dropshot reads the name.
    path: Vec<String>,
}

#[async_trait]
impl SharedExtractor for AnyPath {
    async fn from_request<Context: ServerContext>(_: &RequestContext<Context>) -> Result<Self, HttpError> {
        Ok(Self)
    }

    fn metadata(content_type: ApiEndpointBodyContentType) -> ExtractorMetadata {
        <dropshot::Path<Wildcard> as SharedExtractor>::metadata(content_type)
    }
}
