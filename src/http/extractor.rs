//! The extractors: what operations take from a request.
//!
//! dropshot's [`Path`], [`Query`], [`Header`] and [`TypedBody`] describe themselves, but are read here, because
//! dropshot is too lenient: it accepts a body without `Content-Type`, an array instead of an object, and trailing
//! characters.

use std::future::Future;

use dropshot::{Body, Header, Path, Query, ServerContext, TypedBody};
use http::HeaderMap;
use http::header::{CONTENT_ENCODING, CONTENT_TYPE};
use http_body_util::BodyExt;
use hyper::body::Body as _;
use schemars::JsonSchema;
use serde::de::DeserializeOwned;

use super::error::ApiError;
use super::error_code::ErrorCode;
use super::input_error::describe;
use super::parameters::Parameters;
use super::request_context::RequestContext;
use super::{MAX_BODY_BYTES, json};

/// What an operation takes from the head of a request.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be taken from the head of a request",
    note = "`Path`, `Query` and `Header` of src/http/dropshot.rs can, and `Option<IdempotencyKey>`"
)]
pub trait SharedExtractor: Sized + Send {
    /// The extractor of dropshot that describes the value in the document.
    type Described: dropshot::SharedExtractor;
    /// All codes with which [`Self::from_request`] fails.
    const CODES: &'static [ErrorCode];

    /// Reads the value.
    ///
    /// # Errors
    /// An error with one of [`Self::CODES`].
    fn from_request<C: ServerContext>(context: &RequestContext<C>) -> Result<Self, ApiError>;
}

/// What an operation takes from the body of a request. Only its last argument can be one.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be taken from a request",
    note = "`TypedBody` can be taken from the body, and what implements `SharedExtractor` from the head"
)]
pub trait ExclusiveExtractor: Sized + Send {
    /// The extractor of dropshot that describes the value in the document.
    type Described: dropshot::ExclusiveExtractor;
    /// All codes with which [`Self::from_request`] fails.
    const CODES: &'static [ErrorCode];

    /// Reads the value.
    ///
    /// # Errors
    /// An error with one of [`Self::CODES`].
    fn from_request<C: ServerContext>(
        context: &RequestContext<C>,
        body: Body,
    ) -> impl Future<Output = Result<Self, ApiError>> + Send;
}

impl<S: SharedExtractor> ExclusiveExtractor for S {
    type Described = S::Described;
    const CODES: &'static [ErrorCode] = <S as SharedExtractor>::CODES;

    async fn from_request<C: ServerContext>(context: &RequestContext<C>, _: Body) -> Result<Self, ApiError> {
        <S as SharedExtractor>::from_request(context)
    }
}

/// The path parameters. A value that is not of its type is 404.
impl<T: DeserializeOwned + JsonSchema + Send + Sync + 'static> SharedExtractor for Path<T> {
    type Described = Self;
    const CODES: &'static [ErrorCode] = &[ErrorCode::NotFound];

    fn from_request<C: ServerContext>(context: &RequestContext<C>) -> Result<Self, ApiError> {
        let (template, path) = (&*context.endpoint.route, context.request.uri().path());
        let values = T::deserialize(Parameters::Path { template, path });
        values.map(Self::from).map_err(|_| ApiError::UnknownVariable)
    }
}

/// The query parameters. Unknown and repeated parameters are 400.
impl<T: DeserializeOwned + JsonSchema + Send + Sync + 'static> SharedExtractor for Query<T> {
    type Described = Self;
    const CODES: &'static [ErrorCode] = &[ErrorCode::InvalidParameter];

    fn from_request<C: ServerContext>(context: &RequestContext<C>) -> Result<Self, ApiError> {
        let query = context.request.uri().query().unwrap_or_default();
        parameters::<T>(Parameters::Query(query)).map(Self::from)
    }
}

/// The headers that are fields of a struct. Repeated ones are 400.
impl<T: DeserializeOwned + JsonSchema + Send + Sync + 'static> SharedExtractor for Header<T> {
    type Described = Self;
    const CODES: &'static [ErrorCode] = &[ErrorCode::InvalidParameter];

    fn from_request<C: ServerContext>(context: &RequestContext<C>) -> Result<Self, ApiError> {
        parameters::<T>(Parameters::Header(context.request.headers())).map(Self::from)
    }
}

/// Reads the fields of a struct from the query or the headers.
pub(super) fn parameters<T: DeserializeOwned>(of: Parameters<'_>) -> Result<T, ApiError> {
    serde_path_to_error::deserialize(of).map_err(|error| {
        let (name, message) = (error.path().to_string(), error.inner().to_string());
        ApiError::InvalidParameter(describe(("query parameter", "this operation"), &name, &message))
    })
}

/// A JSON object in the body.
impl<T: DeserializeOwned + JsonSchema + Send + Sync + 'static> ExclusiveExtractor for TypedBody<T> {
    type Described = Self;
    const CODES: &'static [ErrorCode] = &[
        ErrorCode::UnsupportedMediaType,
        ErrorCode::BodyTooLarge,
        ErrorCode::RequestTimeout,
        ErrorCode::InvalidBody,
    ];

    async fn from_request<C: ServerContext>(
        context: &RequestContext<C>,
        body: Body,
    ) -> Result<Self, ApiError> {
        if !is_json(context.request.headers()) {
            return Err(ApiError::UnsupportedMediaType);
        }
        let bytes = read(body).await?;
        json::object::<T>(&bytes).map(Self::from).map_err(ApiError::InvalidBody)
    }
}

/// Reads a body. Its pieces are copied, because a small one can keep a large buffer of its connection.
async fn read(mut body: Body) -> Result<Vec<u8>, ApiError> {
    // A `Content-Length` is the lower bound. Reading would ask the client for the body (`100 Continue`).
    let length = body.size_hint().lower();
    let length = usize::try_from(length).ok().filter(|length| *length <= MAX_BODY_BYTES);
    let mut bytes = Vec::with_capacity(length.ok_or(ApiError::BodyTooLarge)?);
    while let Some(frame) = body.frame().await {
        // The connection was lost, or the chunked encoding is invalid.
        let frame =
            frame.map_err(|_| ApiError::InvalidBody("the body ended before it was complete".to_owned()))?;
        let Some(data) = frame.data_ref() else { continue };
        if bytes.len() + data.len() > MAX_BODY_BYTES {
            return Err(ApiError::BodyTooLarge);
        }
        bytes.extend_from_slice(data);
    }
    Ok(bytes)
}

/// Whether the only `Content-Type` is `application/json`, with or without a charset, and the body is not
/// compressed.
fn is_json(headers: &HeaderMap) -> bool {
    let mut types = headers.get_all(CONTENT_TYPE).iter();
    let (Some(value), None) = (types.next(), types.next()) else { return false };
    let Ok(value) = value.to_str() else { return false };
    let mut parts = value.split(';').map(str::trim);
    let json = parts.next().is_some_and(|essence| essence.eq_ignore_ascii_case("application/json"));
    // A parameter may be empty (RFC 9110, section 5.6.6).
    let charset = |parameter: &str| {
        let (name, value) = parameter.split_once('=').unwrap_or_default();
        parameter.is_empty() || name.eq_ignore_ascii_case("charset") && !value.is_empty()
    };
    let mut codings = headers.get_all(CONTENT_ENCODING).iter();
    json && parts.all(charset) && codings.all(|coding| coding.as_bytes().eq_ignore_ascii_case(b"identity"))
}
