//! What operations take: path, query parameters, a JSON body. Each reads strictly, refuses in words that
//! name the field, and has the document's view of itself from the dropshot extractor it stands in for.
//!
//! dropshot's own extractors would be too lenient: they ignore unknown parameters, take a body of any or
//! no content type, an array for an object, and what trails behind the JSON.

use async_trait::async_trait;
use dropshot::{
    ApiEndpointBodyContentType, Body, ExclusiveExtractor, ExtensionMode, ExtractorMetadata, RequestContext,
    SharedExtractor, TypedBody,
};
use http::HeaderMap;
use http::header::{CONTENT_ENCODING, CONTENT_LENGTH, CONTENT_TYPE};
use http_body_util::{BodyExt, LengthLimitError, Limited};
use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde::de::value::MapDeserializer;

use crate::http::call::MAX_BODY_BYTES;
use crate::http::field_error::{ParameterError, body_message};
use crate::http::responses::{Code, Refusal};
use crate::service::Service;

/// Something that an operation takes from a request.
#[async_trait]
pub trait Input: Sized + Send {
    /// How reading it can be refused.
    fn codes() -> Vec<Code>;

    /// What the document says of it.
    fn metadata(content_type: ApiEndpointBodyContentType) -> ExtractorMetadata;

    /// Reads it.
    ///
    /// # Errors
    /// A refusal with one of [`Self::codes`].
    async fn read(context: &RequestContext<Service>, body: Body) -> Result<Self, Refusal>;
}

/// An input that needs no more than the head of a request, so that another one can follow.
#[async_trait]
pub trait Parameters: Input {
    /// Reads it.
    ///
    /// # Errors
    /// A refusal with one of [`Input::codes`].
    async fn read_head(context: &RequestContext<Service>) -> Result<Self, Refusal>;
}

/// Nothing.
#[async_trait]
impl Input for () {
    fn codes() -> Vec<Code> {
        Vec::new()
    }

    fn metadata(_: ApiEndpointBodyContentType) -> ExtractorMetadata {
        ExtractorMetadata { extension_mode: ExtensionMode::None, parameters: Vec::new() }
    }

    async fn read(_: &RequestContext<Service>, _: Body) -> Result<Self, Refusal> {
        Ok(())
    }
}

/// One after the other; what the first refuses, the second does not see.
#[async_trait]
impl<P: Parameters, I: Input> Input for (P, I) {
    fn codes() -> Vec<Code> {
        [P::codes(), I::codes()].concat()
    }

    fn metadata(content_type: ApiEndpointBodyContentType) -> ExtractorMetadata {
        let mut metadata = P::metadata(content_type.clone());
        metadata.parameters.extend(I::metadata(content_type).parameters);
        metadata
    }

    async fn read(context: &RequestContext<Service>, body: Body) -> Result<Self, Refusal> {
        let parameters = P::read_head(context).await?;
        Ok((parameters, I::read(context, body).await?))
    }
}

/// The parameters in the path. A value that is not of their type names nothing: 404.
#[derive(Debug)]
pub struct Path<T>(pub T);

#[async_trait]
impl<T: DeserializeOwned + JsonSchema + Send + Sync + 'static> Input for Path<T> {
    fn codes() -> Vec<Code> {
        Vec::from([Code::NotFound])
    }

    fn metadata(content_type: ApiEndpointBodyContentType) -> ExtractorMetadata {
        <dropshot::Path<T> as SharedExtractor>::metadata(content_type)
    }

    async fn read(context: &RequestContext<Service>, _: Body) -> Result<Self, Refusal> {
        Self::read_head(context).await
    }
}

#[async_trait]
impl<T: DeserializeOwned + JsonSchema + Send + Sync + 'static> Parameters for Path<T> {
    async fn read_head(context: &RequestContext<Service>) -> Result<Self, Refusal> {
        match <dropshot::Path<T> as SharedExtractor>::from_request(context).await {
            Ok(path) => Ok(Self(path.into_inner())),
            Err(_) => Err(Refusal::NotFound(
                "nothing lives at this path: a value in it is not of the type that the document says",
            )),
        }
    }
}

/// The query parameters. Unknown and repeated ones are refused.
#[derive(Debug)]
pub struct Query<T>(pub T);

#[async_trait]
impl<T: DeserializeOwned + JsonSchema + Send + Sync + 'static> Input for Query<T> {
    fn codes() -> Vec<Code> {
        Vec::from([Code::InvalidParameter])
    }

    fn metadata(content_type: ApiEndpointBodyContentType) -> ExtractorMetadata {
        <dropshot::Query<T> as SharedExtractor>::metadata(content_type)
    }

    async fn read(context: &RequestContext<Service>, _: Body) -> Result<Self, Refusal> {
        Self::read_head(context).await
    }
}

#[async_trait]
impl<T: DeserializeOwned + JsonSchema + Send + Sync + 'static> Parameters for Query<T> {
    async fn read_head(context: &RequestContext<Service>) -> Result<Self, Refusal> {
        let query = context.request.uri().query().unwrap_or_default();
        let pairs = form_urlencoded::parse(query.as_bytes());
        serde_path_to_error::deserialize(MapDeserializer::<_, ParameterError>::new(pairs)).map(Self).map_err(
            |error| {
                let name = error.path().to_string();
                Refusal::InvalidParameter(error.into_inner().message(&name))
            },
        )
    }
}

/// A JSON object as the body.
#[derive(Debug)]
pub struct Json<T>(pub T);

#[async_trait]
impl<T: DeserializeOwned + JsonSchema + Send + Sync + 'static> Input for Json<T> {
    fn codes() -> Vec<Code> {
        Vec::from([Code::UnsupportedMediaType, Code::BodyTooLarge, Code::RequestTimeout, Code::InvalidBody])
    }

    fn metadata(content_type: ApiEndpointBodyContentType) -> ExtractorMetadata {
        <TypedBody<T> as ExclusiveExtractor>::metadata(content_type)
    }

    async fn read(context: &RequestContext<Service>, body: Body) -> Result<Self, Refusal> {
        let headers = context.request.headers();
        if !is_json(headers) {
            return Err(Refusal::UnsupportedMediaType);
        }
        if declared_length(headers).is_some_and(|bytes| bytes > MAX_BODY_BYTES as u64) {
            return Err(Refusal::BodyTooLarge);
        }
        let bytes = match Limited::new(body, MAX_BODY_BYTES).collect().await {
            Ok(collected) => collected.to_bytes(),
            Err(error) if error.is::<LengthLimitError>() => return Err(Refusal::BodyTooLarge),
            // The connection broke or the chunks made no sense; nobody may be there to read this.
            Err(_) => return Err(Refusal::InvalidBody("the body ended before it was complete".to_owned())),
        };
        parse_object(&bytes).map(Self).map_err(Refusal::InvalidBody)
    }
}

/// Whether the one `Content-Type` is `application/json`, perhaps with a charset, and not compressed.
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
    json && parts.all(charset)
        && headers
            .get_all(CONTENT_ENCODING)
            .iter()
            .all(|coding| coding.as_bytes().eq_ignore_ascii_case(b"identity"))
}

fn declared_length(headers: &HeaderMap) -> Option<u64> {
    headers.get(CONTENT_LENGTH)?.to_str().ok()?.parse().ok()
}

/// Reads exactly one JSON object.
///
/// # Errors
/// What is wrong, for the client: the field and what is allowed, never the value.
fn parse_object<T: DeserializeOwned>(bytes: &[u8]) -> Result<T, String> {
    // serde would also take an array of the fields' values.
    let first = bytes.iter().find(|byte| !b" \t\n\r".contains(byte));
    if !matches!(first, Some(b'{')) {
        return Err("the body must be a JSON object".to_owned());
    }
    if let Ok(value) = serde_json::from_slice(bytes) {
        return Ok(value);
    }
    // Once more, to know where it is wrong.
    let mut json = serde_json::Deserializer::from_slice(bytes);
    let value = serde_path_to_error::deserialize(&mut json)
        .map_err(|error| body_message(&error.path().to_string(), error.inner()))?;
    json.end().map_err(|_| "the body must end with its JSON object".to_owned())?;
    Ok(value)
}
