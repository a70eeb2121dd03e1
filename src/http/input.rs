//! The inputs of operations: what their functions take from a request.
//!
//! dropshot describes them in the document, and they are read here, because dropshot is too lenient: it ignores unknown
//! query parameters and accepts the number `+1`, a body without `Content-Type`, and trailing characters.

use std::future::Future;

use dropshot::ApiEndpointBodyContentType::Json as JsonContent;
use dropshot::{Body, ExclusiveExtractor, ExtractorMetadata, SharedExtractor, TypedBody};
use http::HeaderMap;
use http::header::{CONTENT_ENCODING, CONTENT_TYPE};
use http_body_util::BodyExt;
use hyper::body::Body as _;
use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde_json::Deserializer;
use tokio::time::timeout_at;

use super::error::ApiError;
use super::error_code::ErrorCode;
use super::message::describe;
use super::request::AuthenticatedRequest;
use super::{BASE_PATH, MAX_BODY_BYTES, parameters};

/// An argument of an operation, which is read from its request.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be read from a request",
    note = "`Path`, `Query` and `Json` of src/http/input.rs can, and `Option<IdempotencyKey>`"
)]
pub trait Input: Sized + Send {
    /// All codes with which [`Self::read`] fails.
    const CODES: &'static [ErrorCode];

    /// Returns the parameters or the body for the document.
    fn describe() -> ExtractorMetadata;

    /// Reads the value.
    ///
    /// # Errors
    /// An error with one of [`Self::CODES`].
    fn read(
        request: &AuthenticatedRequest,
        body: &mut Body,
    ) -> impl Future<Output = Result<Self, ApiError>> + Send;
}

/// The path parameters, as the fields of a struct. A value that is not of its type is 404, as is one with
/// percent-encoding.
pub struct Path<T>(pub T);

impl<T: DeserializeOwned + JsonSchema + Send + Sync + 'static> Input for Path<T> {
    const CODES: &'static [ErrorCode] = &[ErrorCode::NotFound];

    fn describe() -> ExtractorMetadata {
        <dropshot::Path<T> as SharedExtractor>::metadata(JsonContent)
    }

    async fn read(request: &AuthenticatedRequest, _: &mut Body) -> Result<Self, ApiError> {
        let path = request.head.uri().path();
        let segments = path.strip_prefix(BASE_PATH).unwrap_or(path).split('/');
        let values = request.template.split('/').zip(segments).filter_map(|(name, value)| {
            let name = name.strip_prefix('{')?.strip_suffix('}')?;
            (!value.contains('%')).then_some((name.into(), value.into()))
        });
        parameters::read(values).map(Self).map_err(|_| {
            let message =
                "this path does not exist: a path parameter does not have the type that the document says";
            ApiError::new(ErrorCode::NotFound, message)
        })
    }
}

/// The query parameters, as the fields of a struct with `#[serde(deny_unknown_fields)]`. Repeated ones are 400.
pub struct Query<T>(pub T);

impl<T: DeserializeOwned + JsonSchema + Send + Sync + 'static> Input for Query<T> {
    const CODES: &'static [ErrorCode] = &[ErrorCode::InvalidParameter];

    fn describe() -> ExtractorMetadata {
        <dropshot::Query<T> as SharedExtractor>::metadata(JsonContent)
    }

    async fn read(request: &AuthenticatedRequest, _: &mut Body) -> Result<Self, ApiError> {
        let query = request.head.uri().query().unwrap_or_default();
        let values = parameters::read(form_urlencoded::parse(query.as_bytes()));
        values.map(Self).map_err(|(name, message)| {
            let message = describe(("query parameter", "this operation"), &name, &message);
            ApiError::new(ErrorCode::InvalidParameter, message)
        })
    }
}

/// A JSON object in the body, as a struct with `#[serde(deny_unknown_fields)]`.
pub struct Json<T>(pub T);

impl<T: DeserializeOwned + JsonSchema + Send + Sync + 'static> Input for Json<T> {
    const CODES: &'static [ErrorCode] = &[
        ErrorCode::UnsupportedMediaType,
        ErrorCode::BodyTooLarge,
        ErrorCode::RequestTimeout,
        ErrorCode::InvalidBody,
    ];

    fn describe() -> ExtractorMetadata {
        <TypedBody<T> as ExclusiveExtractor>::metadata(JsonContent)
    }

    async fn read(request: &AuthenticatedRequest, body: &mut Body) -> Result<Self, ApiError> {
        if !is_json(request.head.headers()) {
            let message = "send the body as \"Content-Type: application/json\", without a Content-Encoding";
            return Err(ApiError::new(ErrorCode::UnsupportedMediaType, message));
        }
        let bytes = timeout_at(request.deadline, bytes_of(body)).await.map_err(|_| {
            ApiError::new(
                ErrorCode::RequestTimeout,
                "the body did not arrive in time; send the request again",
            )
        })??;
        object(&bytes).map(Self).map_err(|message| ApiError::new(ErrorCode::InvalidBody, message))
    }
}

/// Returns the bytes of a body. Its pieces are copied, because a small one can keep a large buffer of its connection.
async fn bytes_of(body: &mut Body) -> Result<Vec<u8>, ApiError> {
    let too_large =
        || ApiError::new(ErrorCode::BodyTooLarge, format!("the body must not exceed {MAX_BODY_BYTES} bytes"));
    // A `Content-Length` is the lower bound. Reading would ask the client for the body (`100 Continue`).
    let length = usize::try_from(body.size_hint().lower()).ok().filter(|length| *length <= MAX_BODY_BYTES);
    let mut bytes = Vec::with_capacity(length.ok_or_else(too_large)?);
    while let Some(frame) = body.frame().await {
        // The connection was lost, or the chunked encoding is invalid.
        let frame = frame
            .map_err(|_| ApiError::new(ErrorCode::InvalidBody, "the body ended before it was complete"))?;
        let Some(data) = frame.data_ref() else { continue };
        if bytes.len() + data.len() > MAX_BODY_BYTES {
            return Err(too_large());
        }
        bytes.extend_from_slice(data);
    }
    Ok(bytes)
}

/// Returns whether the only `Content-Type` is `application/json`, with or without a charset, and the body is not
/// compressed.
fn is_json(headers: &HeaderMap) -> bool {
    let mut types = headers.get_all(CONTENT_TYPE).iter();
    let (Some(value), None) = (types.next(), types.next()) else { return false };
    let mut parts = value.to_str().unwrap_or_default().split(';').map(str::trim);
    let json = parts.next().is_some_and(|essence| essence.eq_ignore_ascii_case("application/json"));
    // A parameter may be empty (RFC 9110, section 5.6.6).
    let charset = |parameter: &str| {
        let (name, value) = parameter.split_once('=').unwrap_or_default();
        parameter.is_empty() || name.eq_ignore_ascii_case("charset") && !value.is_empty()
    };
    let mut codings = headers.get_all(CONTENT_ENCODING).iter();
    json && parts.all(charset) && codings.all(|coding| coding.as_bytes().eq_ignore_ascii_case(b"identity"))
}

/// Reads a JSON object.
///
/// # Errors
/// The message for the client: the field and what is allowed, never the value.
fn object<T: DeserializeOwned>(bytes: &[u8]) -> Result<T, String> {
    // serde accepts a list of the fields as well.
    if bytes.trim_ascii_start().first() != Some(&b'{') {
        return Err("the body must be a JSON object".to_owned());
    }
    serde_json::from_slice(bytes).map_err(|error| {
        if !error.is_data() {
            return format!("the body is not valid JSON: {error}");
        }
        // Only an invalid body is read with its path.
        let read = serde_path_to_error::deserialize::<_, T>(&mut Deserializer::from_slice(bytes));
        let path = read.err().map(|error| error.path().to_string()).unwrap_or_default();
        let message = error.to_string();
        let (message, _position) = message.rsplit_once(" at line ").unwrap_or((&message, ""));
        describe(("field", "the body"), &path, message)
    })
}

#[cfg(test)]
mod tests {
    use serde::Deserialize;

    use super::*;

    #[derive(Debug, Default, Deserialize, PartialEq)]
    #[serde(deny_unknown_fields, default)]
    struct Toy {
        count: i32,
        parts: Vec<Toy>,
        weight: f64,
        big: u64,
        soft: bool,
    }

    #[test]
    fn the_message_names_the_field_and_does_not_repeat_the_value() {
        assert_eq!(object::<Toy>(br#" {"parts": [{}, {"count": 3}]} "#).unwrap().parts[1].count, 3);
        for (json, expected) in [
            (
                r#"{"count": "ask_1, expected i64"}"#,
                "count must be an integer from -2147483648 to 2147483647",
            ),
            (r#"{"count": 1.0}"#, "count must be an integer from -2147483648 to 2147483647"),
            (r#"{"big": -1}"#, "big must be an integer from 0 to 18446744073709551615"),
            (r#"{"weight": "1"}"#, "weight must be a number"),
            (r#"{"soft": 1}"#, "soft must be true or false"),
            (r#"{"parts": "ask_1"}"#, "parts must be a list"),
            (r#"{"parts": [{}, {"soft": null}]}"#, "parts[1].soft must be true or false"),
            (r#"{"parts": [{}, 1]}"#, "parts[1] must be an object"),
            (
                r#"{"ask_1`, expected ask_2": 1}"#,
                "unknown field; the body takes count, parts, weight, big, soft",
            ),
            (r#"{"count": 1, "count": 1}"#, "count must be given only once"),
            ("[0]", "the body must be a JSON object"),
            ("{", "the body is not valid JSON: EOF while parsing an object at line 1 column 1"),
            ("{} x", "the body is not valid JSON: trailing characters at line 1 column 4"),
        ] {
            assert_eq!(object::<Toy>(json.as_bytes()).unwrap_err(), expected, "{json}");
        }
        let deep = r#"{"parts": ["#.repeat(70) + "{}" + &"]}".repeat(70);
        assert!(object::<Toy>(deep.as_bytes()).unwrap_err().contains("recursion limit exceeded"));
    }
}
