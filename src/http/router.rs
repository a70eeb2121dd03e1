//! Everything around an operation: the base path, strict paths, 404 and 405, HEAD, panics, the headers
//! that every answer of a deprecated operation has, and bodies that nobody read.
//!
//! dropshot has no middleware, answers unknown paths and wrong methods in a format of its own, takes
//! `//pets/` and `/%70ets` for `/pets`, and drops the connection when a handler panics. So its server has
//! one route for everything, [`Edge::answer`], and the operations are a second router behind it. That
//! costs about a quarter more instructions than routing once, and buys one place where all of this is
//! true of every request. Rejected: a proxy in front of dropshot (a hop and a copy for each request), and
//! an own accept loop (dropshot's request context cannot be made outside its server).
//!
//! Beyond reach are the answers that hyper gives to what is no HTTP, and dropshot's own to undecodable
//! percent-encoding, dot segments and methods that are in no standard.

use std::borrow::Cow;
use std::collections::HashMap;
use std::panic::AssertUnwindSafe;
use std::time::Instant;

use async_trait::async_trait;
use dropshot::{
    ApiDescription, ApiDescriptionRegisterError, ApiEndpoint, ApiEndpointBodyContentType,
    ApiEndpointVersions, Body, ExtractorMetadata, HttpError, RawRequest, RequestContext,
    RequestEndpointMetadata, ServerContext, SharedExtractor,
};
use futures::FutureExt;
use futures::future::BoxFuture;
use http::header::{CONNECTION, CONTENT_LENGTH, EXPECT, HeaderMap, HeaderValue};
use http::{Method, Request, Response, StatusCode, Version};
use hyper::body::Body as _;
use schemars::JsonSchema;
use serde::Deserialize;

use crate::document::{Document, DocumentError};
use crate::http::access_log::{self, Answered};
use crate::http::published::Published;
use crate::http::responses::{HeaderField, Refusal};
use crate::http::unread_body::Leftover;
use crate::keys::KeyId;
use crate::operations::BASE_PATH;
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

/// The operations behind the one route, and what surrounds them.
pub struct Edge {
    route: Box<Route>,
    operations: HashMap<String, Surroundings>,
    published: Published,
}

/// What the edge knows of an operation.
struct Surroundings {
    operation_id: String,
    /// The path template, base path included.
    route: String,
    /// What every answer carries if it is deprecated.
    deprecated: Option<HeaderMap>,
}

// dropshot's router and its result are public, but have no public names.
type Route = dyn Fn(&Method, &str) -> Option<Found> + Send + Sync;
type Run = Box<
    dyn FnOnce(RequestContext<Service>, Request<Body>) -> BoxFuture<'static, Option<Response<Body>>> + Send,
>;

struct Found {
    endpoint: RequestEndpointMetadata,
    run: Run,
}

/// The headers that the edge puts on every answer of an operation. `x-request-id` comes from dropshot.
pub fn headers(deprecated: bool) -> Vec<HeaderField> {
    let names: &[_] =
        if deprecated { &["x-request-id", "Deprecation", "Sunset", "Link"] } else { &["x-request-id"] };
    names.iter().map(|name| HeaderField::string(name)).collect()
}

impl Edge {
    /// The edge around the operations of `api`, with the dates of deprecation from `document`.
    ///
    /// # Errors
    /// When the document has no usable dates for a deprecated operation.
    pub fn new(api: ApiDescription<Service>, document: &Document) -> Result<Self, DocumentError> {
        let router = api.into_router();
        let mut operations = HashMap::new();
        for (path, _, endpoint) in router.endpoints(None) {
            let id = &endpoint.operation_id;
            let headers = endpoint.deprecated.then(|| document.deprecation_headers(id)).transpose()?;
            let route = format!("{BASE_PATH}{path}");
            let operation_id = id.clone();
            operations.insert(id.clone(), Surroundings { operation_id, route, deprecated: headers });
        }
        let route = move |method: &Method, path: &str| {
            let found = router.lookup_route(method, path.into(), None).ok()?;
            let handler = found.handler;
            let run: Run = Box::new(|context, request| {
                // A `Reply` is never an error to dropshot, and a `Call` never fails to be extracted.
                async move { handler.handle_request(context, request).await.ok() }.boxed()
            });
            Some(Found { endpoint: found.endpoint, run })
        };
        Ok(Self { route: Box::new(route), operations, published: Published::new(document) })
    }

    async fn answer(&self, mut context: RequestContext<Service>, request: Request<Body>) -> Response<Body> {
        let start = Instant::now();
        let service = context.context().clone();
        let _under_way = service.begin();
        let request_id = context.request_id.clone();
        let asked = request.method().clone();
        let method = if asked == Method::HEAD { &Method::GET } else { &asked };
        let has_connection_header = request.version() < Version::HTTP_2;
        let traceparent = access_log::traceparent(request.headers()).map(str::to_owned);
        let mut surroundings = None;
        let mut response = match relative_path(request.uri().path()) {
            None => self
                .published
                .answer(&asked, request.uri().path(), request.headers())
                .unwrap_or_else(|| Refusal::NotFound("nothing lives at this path").into_response()),
            Some(path) => match (self.route)(method, &path) {
                None => self.refuse(&path).into_response(),
                Some(found) => {
                    surroundings = self.operations.get(&found.endpoint.operation_id);
                    context.endpoint = found.endpoint;
                    run(context, request, found.run).await
                }
            },
        };
        let key = response.extensions_mut().remove::<KeyId>();
        if let Some(Surroundings { operation_id, deprecated: Some(headers), .. }) = surroundings {
            response.headers_mut().extend(headers.iter().map(|(name, value)| (name.clone(), value.clone())));
            if let Some(key) = &key {
                service.metrics().deprecated_call(operation_id, key);
            }
        }
        if asked == Method::HEAD {
            strip_body(&mut response);
        }
        if service.stopping() && has_connection_header {
            response.headers_mut().insert(CONNECTION, HeaderValue::from_static("close"));
        }
        let answered = Answered {
            request_id: &request_id,
            method: &asked,
            route: surroundings.map(|surroundings| &*surroundings.route),
            key: key.as_ref(),
            traceparent: traceparent.as_deref(),
            status: response.status(),
            took: start.elapsed(),
        };
        service.access_log().record(service.metrics(), &answered);
        response
    }

    /// Why there is no operation: 405 if another method has one at this path, else 404.
    fn refuse(&self, path: &str) -> Refusal {
        let has =
            |method: &Method| (self.route)(if method == Method::HEAD { &Method::GET } else { method }, path);
        let allowed: Vec<_> =
            METHODS.iter().filter(|method| has(method).is_some()).map(Method::as_str).collect();
        if allowed.is_empty() {
            Refusal::NotFound("nothing lives at this path")
        } else {
            Refusal::MethodNotAllowed { allow: allowed.join(", ") }
        }
    }
}

// Not an async function: that would be as large as what it is given, and moved with it.
fn run(
    context: RequestContext<Service>,
    request: Request<Body>,
    run: Run,
) -> impl Future<Output = Response<Body>> + Send {
    let expects_continue = request.headers().contains_key(EXPECT);
    let request = request.map(|body| Leftover::guard(body, expects_continue));
    // A panic is logged where it happens, by the hook of the program.
    let running = AssertUnwindSafe(run(context, request)).catch_unwind();
    running.map(|done| done.ok().flatten().unwrap_or_else(|| Refusal::Internal.into_response()))
}

/// The path below [`BASE_PATH`], as the inner router must see it, if it is one that could exist.
///
/// The router decodes percent-encoding; encoding the `%` once more makes it compare what was sent.
fn relative_path(path: &str) -> Option<Cow<'_, str>> {
    let path = path.strip_prefix(BASE_PATH)?;
    let strict = path.starts_with('/') && !path.ends_with('/') && !path.contains("//");
    strict.then(|| if path.contains('%') { path.replace('%', "%25").into() } else { path.into() })
}

/// Makes of an answer to GET the answer to HEAD (RFC 9110, section 9.3.2).
fn strip_body(response: &mut Response<Body>) {
    // A length of zero would be wrong for a response that has no body with GET either (section 8.6).
    let has_body = !matches!(response.status(), StatusCode::NO_CONTENT | StatusCode::NOT_MODIFIED);
    if has_body && let Some(bytes) = response.body().size_hint().exact() {
        response.headers_mut().insert(CONTENT_LENGTH, HeaderValue::from(bytes));
    }
    *response.body_mut() = Body::empty();
}

/// The API that dropshot serves: each method of every path goes to [`Edge::answer`].
///
/// # Errors
/// When the routes clash, which they do not.
pub fn api() -> Result<ApiDescription<Service>, ApiDescriptionRegisterError> {
    let mut api = ApiDescription::new();
    for method in METHODS {
        let name = format!("edge_{method}");
        let every_version = ApiEndpointVersions::All;
        let route =
            ApiEndpoint::new(name, everything, method, "application/json", "/{path:.*}", every_version);
        api.register(route.visible(false))?;
    }
    Ok(api)
}

async fn everything(
    context: RequestContext<Service>,
    _: AnyPath,
    request: RawRequest,
) -> Result<Response<Body>, HttpError> {
    let service = context.context().clone();
    Ok(service.edge().answer(context, request.into_inner()).await)
}

/// dropshot wants the wildcard consumed; reading it would cost a tenth of a request for nothing.
struct AnyPath;

#[derive(Deserialize, JsonSchema)]
struct Wildcard {
    #[allow(dead_code)] // Named for dropshot, never read.
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
