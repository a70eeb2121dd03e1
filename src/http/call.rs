//! A call of an operation: authentication, rate limit, inputs, then the operation itself.
//!
//! dropshot runs the extractors of a handler concurrently and turns the failure of each into a 400. This
//! service must authenticate first, and must reject an invalid key without waiting for the body. So a handler
//! has one extractor, [`Call`], which only stores the body, and [`Call::handle`] runs the steps in order.
//!
//! dropshot's own extractors are also too lenient: they ignore unknown query parameters, accept a body
//! without `Content-Type`, an array instead of an object, and trailing characters. [`Path`], [`Query`] and
//! [`Json`] replace them, and take their metadata for the document from them.
//!
//! dropshot's document has no place for security and error statuses. `Call` declares both in a header
//! parameter named `Authorization`, which OpenAPI tools must ignore (3.0.3, Parameter Object), and from which
//! `cargo xtask check` reads them. The check fails for an operation without a `Call`.

use std::future::Future;
use std::marker::PhantomData;
use std::net::IpAddr;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::task::Poll;

use async_trait::async_trait;
use dropshot::{
    ApiEndpointBodyContentType, Body, ExclusiveExtractor, ExtensionMode, ExtractorMetadata, Header,
    HttpError, RequestContext, ServerContext, SharedExtractor, TypedBody,
};
use futures::future::BoxFuture;
use futures::{FutureExt, poll};
use http::HeaderMap;
use http::header::{CONTENT_ENCODING, CONTENT_TYPE};
use http::request::Parts;
use http_body_util::{BodyExt, LengthLimitError, Limited};
use hyper::body::Body as _;
use schemars::JsonSchema;
use schemars::r#gen::SchemaGenerator;
use schemars::schema::{InstanceType, ObjectValidation, Schema, SchemaObject};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde::de::value::{Error as ParameterError, MapDeserializer};
use tokio::time::{Instant, timeout_at};

use super::authentication::authenticate;
use super::contexts::Contexts;
use super::error::{ApiError, HandlerResult, OperationResponse};
use super::error_code::{ErrorCode, ErrorCodes};
use super::input_error::{BODY, QUERY, describe};
use super::path_template::PathTemplate;
use super::{BASE_PATH, MAX_BODY_BYTES};
use crate::keys::KeyId;
use crate::service::Service;

/// The error codes of every operation, whatever its inputs.
pub const COMMON_CODES: &[ErrorCode] =
    &[ErrorCode::Unauthorized, ErrorCode::RateLimited, ErrorCode::Unavailable, ErrorCode::Internal];

/// A call with the input `I` of an operation that fails with `E`.
pub struct Call<I, E> {
    request: Parts,
    body: Body,
    types: PhantomData<fn() -> (I, E)>,
}

/// What the router adds to a request.
#[derive(Clone)]
pub(super) struct Routed {
    pub(super) client: IpAddr,
    /// Where the context of the request returns to.
    pub(super) contexts: Arc<Contexts>,
    /// The path template of the operation, below the base path.
    pub(super) template: Arc<PathTemplate>,
}

impl<I: Input + 'static, E: ErrorCodes + Into<ApiError> + Send + 'static> Call<I, E> {
    /// Authenticates the client, applies the rate limit, reads the input and runs the operation. All of
    /// it must end within the request timeout.
    ///
    /// The future is in a box, because dropshot moves the future that contains it several times.
    pub fn handle<T, F, R>(
        self,
        context: RequestContext<Service>,
        operation: F,
    ) -> BoxFuture<'static, HandlerResult<T>>
    where
        T: Send + 'static,
        F: FnOnce(Service, I) -> R + Send + 'static,
        R: Future<Output = Result<T, E>> + Send + 'static,
    {
        let run = async move {
            let service = context.context().clone();
            let deadline = Instant::now() + service.request_timeout;
            let Self { mut request, body, .. } = self;
            // The router calls every handler.
            let Some(Routed { client, contexts, template }) = request.extensions.remove() else {
                return Ok(OperationResponse { result: Err(ApiError::Internal), key: None });
            };
            let _context = scopeguard::guard(context, |context| contexts.give_back(context));
            let mut caller = None;
            let result = async {
                let authenticated =
                    by(deadline, pin!(authenticate(&service, client, &request.headers))).await;
                let key = caller.insert(authenticated.ok_or(ApiError::Unavailable)??);
                if let Some(limiter) = &service.rate_limiter {
                    limiter.check(key).map_err(ApiError::RateLimited)?;
                }
                let received = Received { request: &request, template: &template, client: key };
                let input = by(deadline, pin!(I::read(&received, body))).await;
                let input = input.ok_or(ApiError::RequestTimeout)??;
                let output = by(deadline, pin!(operation(service, input))).await;
                output.ok_or(ApiError::Unavailable)?.map_err(Into::into)
            }
            .await;
            Ok(OperationResponse { result, key: caller })
        };
        run.boxed()
    }
}

/// Returns the output of `future`, or `None` at `deadline`. Most futures are ready at once and need no timer.
async fn by<R: Future>(deadline: Instant, mut future: Pin<&mut R>) -> Option<R::Output> {
    match poll!(&mut future) {
        Poll::Ready(output) => Some(output),
        Poll::Pending => timeout_at(deadline, future).await.ok(),
    }
}

#[async_trait]
impl<I: Input + 'static, E: ErrorCodes + 'static> ExclusiveExtractor for Call<I, E> {
    async fn from_request<Context: ServerContext>(
        _: &RequestContext<Context>,
        request: http::Request<Body>,
    ) -> Result<Self, HttpError> {
        let (request, body) = request.into_parts();
        Ok(Self { request, body, types: PhantomData })
    }

    fn metadata(content_type: ApiEndpointBodyContentType) -> ExtractorMetadata {
        let mut metadata = I::metadata(content_type.clone());
        let declared = <Header<Declared<I, E>> as SharedExtractor>::metadata(content_type);
        metadata.parameters.extend(declared.parameters);
        metadata
    }
}

/// The header parameter that declares the error codes.
#[derive(Deserialize)]
#[serde(bound = "")]
struct Declared<I, E>(PhantomData<fn() -> (I, E)>);

impl<I: Input, E: ErrorCodes> JsonSchema for Declared<I, E> {
    fn schema_name() -> String {
        "Declared".to_owned()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        let mut codes: Vec<ErrorCode> = [COMMON_CODES, &I::codes(), E::CODES].concat();
        codes.sort_unstable();
        codes.dedup();
        let codes = codes.iter().map(|code| code.as_str()).collect::<Vec<_>>();
        let mut authorization =
            SchemaObject { instance_type: Some(InstanceType::String.into()), ..Default::default() };
        authorization.extensions.insert("x-codes".to_owned(), codes.into());
        let mut object = ObjectValidation::default();
        object.required.insert("Authorization".to_owned());
        object.properties.insert("Authorization".to_owned(), authorization.into());
        Schema::Object(SchemaObject {
            instance_type: Some(InstanceType::Object.into()),
            object: Some(Box::new(object)),
            ..Default::default()
        })
    }
}

/// An authenticated request without its body.
pub struct Received<'a> {
    /// The head of the request.
    pub request: &'a Parts,
    /// The path template of the operation.
    pub template: &'a PathTemplate,
    /// The API key of the client.
    pub client: &'a KeyId,
}

/// An input of an operation.
pub trait Input: Sized + Send {
    /// Returns the error codes with which reading can fail.
    fn codes() -> Vec<ErrorCode>;

    /// Returns the description for the document.
    fn metadata(content_type: ApiEndpointBodyContentType) -> ExtractorMetadata;

    /// Reads the input from a request.
    ///
    /// # Errors
    /// An error with one of [`Self::codes`].
    fn read(received: &Received<'_>, body: Body) -> impl Future<Output = Result<Self, ApiError>> + Send;
}

/// An input from the head of a request, so that another input can follow.
pub trait Parameters: Sized + Send {
    /// Returns the error codes with which reading can fail.
    fn codes() -> Vec<ErrorCode>;

    /// Returns the description for the document.
    fn metadata(content_type: ApiEndpointBodyContentType) -> ExtractorMetadata;

    /// Reads the input from a request.
    ///
    /// # Errors
    /// An error with one of [`Self::codes`].
    fn read(received: &Received<'_>) -> Result<Self, ApiError>;
}

impl<P: Parameters> Input for P {
    fn codes() -> Vec<ErrorCode> {
        <P as Parameters>::codes()
    }

    fn metadata(content_type: ApiEndpointBodyContentType) -> ExtractorMetadata {
        <P as Parameters>::metadata(content_type)
    }

    async fn read(received: &Received<'_>, _: Body) -> Result<Self, ApiError> {
        <P as Parameters>::read(received)
    }
}

impl Input for () {
    fn codes() -> Vec<ErrorCode> {
        Vec::new()
    }

    fn metadata(_: ApiEndpointBodyContentType) -> ExtractorMetadata {
        ExtractorMetadata { extension_mode: ExtensionMode::None, parameters: Vec::new() }
    }

    async fn read(_: &Received<'_>, _: Body) -> Result<Self, ApiError> {
        Ok(())
    }
}

impl<P: Parameters, I: Input> Input for (P, I) {
    fn codes() -> Vec<ErrorCode> {
        [P::codes(), I::codes()].concat()
    }

    fn metadata(content_type: ApiEndpointBodyContentType) -> ExtractorMetadata {
        let mut metadata = P::metadata(content_type.clone());
        metadata.parameters.extend(I::metadata(content_type).parameters);
        metadata
    }

    async fn read(received: &Received<'_>, body: Body) -> Result<Self, ApiError> {
        let parameters = P::read(received)?;
        Ok((parameters, I::read(received, body).await?))
    }
}

/// The path parameters. A value that is not of its type is 404.
#[derive(Debug)]
pub struct Path<T>(pub T);

impl<T: DeserializeOwned + JsonSchema + Send + Sync + 'static> Parameters for Path<T> {
    fn codes() -> Vec<ErrorCode> {
        Vec::from([ErrorCode::NotFound])
    }

    fn metadata(content_type: ApiEndpointBodyContentType) -> ExtractorMetadata {
        <dropshot::Path<T> as SharedExtractor>::metadata(content_type)
    }

    fn read(received: &Received<'_>) -> Result<Self, ApiError> {
        let path = received.request.uri.path();
        let parameters = received.template.parameters(path.strip_prefix(BASE_PATH).unwrap_or(path));
        let message =
            "this path does not exist: a path parameter does not have the type that the document says";
        T::deserialize(MapDeserializer::<_, ParameterError>::new(parameters))
            .map(Self)
            .map_err(|_| ApiError::NotFound(message))
    }
}

/// The query parameters. Unknown and repeated parameters are 400.
#[derive(Debug)]
pub struct Query<T>(pub T);

impl<T: DeserializeOwned + JsonSchema + Send + Sync + 'static> Parameters for Query<T> {
    fn codes() -> Vec<ErrorCode> {
        Vec::from([ErrorCode::InvalidParameter])
    }

    fn metadata(content_type: ApiEndpointBodyContentType) -> ExtractorMetadata {
        <dropshot::Query<T> as SharedExtractor>::metadata(content_type)
    }

    fn read(received: &Received<'_>) -> Result<Self, ApiError> {
        let query = received.request.uri.query().unwrap_or_default();
        let pairs = form_urlencoded::parse(query.as_bytes());
        let value = serde_path_to_error::deserialize(MapDeserializer::<_, ParameterError>::new(pairs));
        value.map(Self).map_err(|error| {
            let (name, message) = (error.path().to_string(), error.inner().to_string());
            ApiError::InvalidParameter(describe(&QUERY, &name, &message))
        })
    }
}

/// A JSON object in the body.
#[derive(Debug)]
pub struct Json<T>(pub T);

impl<T: DeserializeOwned + JsonSchema + Send + Sync + 'static> Input for Json<T> {
    fn codes() -> Vec<ErrorCode> {
        Vec::from([
            ErrorCode::UnsupportedMediaType,
            ErrorCode::BodyTooLarge,
            ErrorCode::RequestTimeout,
            ErrorCode::InvalidBody,
        ])
    }

    fn metadata(content_type: ApiEndpointBodyContentType) -> ExtractorMetadata {
        <TypedBody<T> as ExclusiveExtractor>::metadata(content_type)
    }

    async fn read(received: &Received<'_>, body: Body) -> Result<Self, ApiError> {
        if !is_json(&received.request.headers) {
            return Err(ApiError::UnsupportedMediaType);
        }
        // A `Content-Length` is the lower bound. Reading would ask the client for the body (`100 Continue`).
        if body.size_hint().lower() > MAX_BODY_BYTES as u64 {
            return Err(ApiError::BodyTooLarge);
        }
        let bytes = match Limited::new(body, MAX_BODY_BYTES).collect().await {
            Ok(collected) => collected.to_bytes(),
            Err(error) if error.is::<LengthLimitError>() => return Err(ApiError::BodyTooLarge),
            // The connection was lost, or the chunked encoding is invalid.
            Err(_) => return Err(ApiError::InvalidBody("the body ended before it was complete".to_owned())),
        };
        // serde would also accept an array of the values of the fields.
        if bytes.trim_ascii_start().first() != Some(&b'{') {
            return Err(ApiError::InvalidBody("the body must be a JSON object".to_owned()));
        }
        let object = serde_json::from_slice(&bytes);
        object.map(Self).map_err(|_| ApiError::InvalidBody(body_error::<T>(&bytes)))
    }
}

/// Whether the only `Content-Type` is `application/json`, with or without a charset, and the body is not
/// compressed.
fn is_json(headers: &HeaderMap) -> bool {
    let mut types = headers.get_all(CONTENT_TYPE).iter();
    let (Some(value), None) = (types.next(), types.next()) else { return false };
    let Ok(value) = value.to_str() else { return false };
    let mut parts = value.split(';').map(str::trim);
    let json = parts.next().is_some_and(|essence| essence.eq_ignore_ascii_case("application/json"));
    let charset = |parameter: &str| {
        parameter
            .split_once('=')
            .is_some_and(|(name, value)| name.eq_ignore_ascii_case("charset") && !value.is_empty())
    };
    let mut codings = headers.get_all(CONTENT_ENCODING).iter();
    json && parts.all(charset) && codings.all(|coding| coding.as_bytes().eq_ignore_ascii_case(b"identity"))
}

/// Parses JSON again to describe its error. The first pass does not track the path, which would slow it down.
fn body_error<T: DeserializeOwned>(bytes: &[u8]) -> String {
    let mut json = serde_json::Deserializer::from_slice(bytes);
    match serde_path_to_error::deserialize::<_, T>(&mut json) {
        Ok(_) => "the body must end after its JSON object".to_owned(),
        Err(error) => {
            let (path, error) = (error.path().to_string(), error.into_inner());
            let message = error.to_string();
            if !error.is_data() {
                return format!("the body is not valid JSON: {message}");
            }
            let (message, _position) = message.rsplit_once(" at line ").unwrap_or((&message, ""));
            describe(&BODY, &path, message)
        }
    }
}
