//! The inputs of operations: what their functions take from a request.
//!
//! dropshot describes them in the document, and they are read here, because dropshot is too lenient: it ignores unknown
//! query parameters and accepts the number `+1`, a body without `Content-Type`, and trailing characters.

use std::future::Future;

use dropshot::ApiEndpointBodyContentType::Json as JsonContent;
use dropshot::{Body, ExclusiveExtractor, ExtractorMetadata, Header, SharedExtractor, TypedBody};
use http::HeaderMap;
use http::header::{CONTENT_ENCODING, CONTENT_TYPE};
use http_body_util::BodyExt;
use hyper::body::Body as _;
use schemars::JsonSchema;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use sfv::{Item, Parser};
use tokio::time::timeout_at;

use super::checks::AuthenticatedRequest;
use super::error::{ApiError, ErrorCode, accepted_types};
use super::parse;
use crate::storage::IdempotencyKey;

/// The maximum size of a request body in bytes.
pub const MAX_BODY_BYTES: usize = 64 * 1024;
const MAX_KEY_CHARACTERS: usize = 64;

/// An argument of an operation, which is read from its request.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be read from a request",
    note = "`Path`, `Query`, `Json` and `Option<IdempotencyKey>` can: src/http/input.rs"
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
        // From the right: the template does not have the base path.
        let segments = request.head.uri().path().rsplit('/');
        let values = request.template.rsplit('/').zip(segments).filter_map(|(name, value)| {
            let name = name.strip_prefix('{')?.strip_suffix('}')?;
            (!value.contains('%')).then_some((name.into(), value.into()))
        });
        parse::parameters(values).map(Self).map_err(|_| {
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
        let values = parse::parameters(form_urlencoded::parse(query.as_bytes()));
        values.map(Self).map_err(|message| ApiError::new(ErrorCode::InvalidParameter, message))
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
            return Err(ApiError::new(ErrorCode::UnsupportedMediaType, message)
                .with(accepted_types(request.head.method()), "application/json"));
        }
        let bytes = timeout_at(request.deadline, bytes_of(body)).await.map_err(|_| {
            let message = "the body did not arrive in time; send the request again";
            ApiError::new(ErrorCode::RequestTimeout, message).with("Connection", "close")
        })??;
        parse::object(&bytes).map(Self).map_err(|message| ApiError::new(ErrorCode::InvalidBody, message))
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
        let frame = frame.map_err(|_| {
            ApiError::new(
                ErrorCode::InvalidBody,
                "the body ended before it was complete, or its chunks are invalid",
            )
        })?;
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

/// The header in the document.
#[derive(Deserialize, JsonSchema)]
struct IdempotencyHeader {
    /// A string (RFC 9651, section 3.3.3) of 1 to [`MAX_KEY_CHARACTERS`] characters without parameters.
    #[schemars(
        with = "String",
        length(min = 3, max = 130),
        regex(pattern = r#"^"([ !#-\[\]-~]|\\["\\]){1,64}"$"#)
    )]
    #[serde(rename = "Idempotency-Key", default)]
    _field: Option<String>,
}

/// The idempotency key of a request; `None` if it has none. One that is invalid or repeated is 400.
impl Input for Option<IdempotencyKey> {
    const CODES: &'static [ErrorCode] = &[ErrorCode::InvalidParameter];

    fn describe() -> ExtractorMetadata {
        <Header<IdempotencyHeader> as SharedExtractor>::metadata(JsonContent)
    }

    async fn read(request: &AuthenticatedRequest, _: &mut Body) -> Result<Self, ApiError> {
        let mut fields = request.head.headers().get_all("idempotency-key").iter();
        let Some(field) = fields.next() else { return Ok(None) };
        if fields.next().is_some() {
            let message = "Idempotency-Key must be given only once";
            return Err(ApiError::new(ErrorCode::InvalidParameter, message));
        }
        let value = field.to_str().ok().and_then(idempotency_key).ok_or_else(|| {
            let expected = format!("1 to {MAX_KEY_CHARACTERS} printable ASCII characters in double quotes");
            ApiError::new(ErrorCode::InvalidParameter, format!("Idempotency-Key must be {expected}"))
        })?;
        Ok(Some(IdempotencyKey { client: request.client.as_str().to_owned(), value }))
    }
}

/// Returns the value of a string (RFC 9651, section 3.3.3) without parameters; `None` for anything else.
pub fn idempotency_key(field: &str) -> Option<String> {
    let item: Item = Parser::new(field).parse().ok()?;
    let string = item.bare_item.as_string().filter(|_| item.params.is_empty())?.as_str();
    (1..=MAX_KEY_CHARACTERS).contains(&string.len()).then(|| string.to_owned())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use regress::Regex;

    use super::*;

    fn pattern() -> Regex {
        let schema = serde_json::to_value(schemars::schema_for!(IdempotencyHeader)).unwrap();
        Regex::new(schema["properties"]["Idempotency-Key"]["pattern"].as_str().unwrap()).unwrap()
    }

    #[test]
    fn a_key_is_a_string_of_1_to_64_characters() {
        let (longest, too_long) = ("x".repeat(64), "x".repeat(65));
        let backslashes = r"\\".repeat(64);
        for (field, expected) in [
            (r#""8e03978e-40d5-43dd-bc93-6894a57f9324""#, Some("8e03978e-40d5-43dd-bc93-6894a57f9324")),
            (r#"" ""#, Some(" ")),
            (r#""a \"b\" \\""#, Some(r#"a "b" \"#)),
            (&format!("\"{longest}\""), Some(&*longest)),
            (&format!("\"{backslashes}\""), Some(&*"\\".repeat(64))),
            (&format!("\"{too_long}\""), None),
            (&format!("\"\\\\{backslashes}\""), None),
            (r#""""#, None),
            (r#""a";p=1"#, None),
            (r#""a", "b""#, None),
            (r#""\a""#, None),
            ("\"\t\"", None),
            ("\"\u{e9}\"", None),
        ] {
            assert_eq!(idempotency_key(field).as_deref(), expected, "{field}");
            assert_eq!(pattern().find(field).is_some(), expected.is_some(), "{field}");
        }
    }

    proptest! {
        #[test]
        fn a_key_is_valid_exactly_if_it_matches_the_pattern(field in r#""?[ -~\\"é]{0,70}"?"#) {
            // HTTP removes the spaces around a value.
            let field = field.trim();
            prop_assert_eq!(idempotency_key(field).is_some(), pattern().find(field).is_some());
        }
    }
}
