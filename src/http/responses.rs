//! What can go wrong, and how each of it looks over HTTP.
//!
//! [`Refusal::parts`] is the one place that turns a refusal into a status, a code, a message and headers.
//! [`Code`] is what the document sees of it: an operation declares the codes of its parts, and the check
//! compares the statuses and headers that follow from them with the YAML. There is no second list.

use std::borrow::Cow;

use dropshot::{ApiEndpointResponse, Body, HttpError, HttpResponse};
use http::header::{self, HeaderMap, HeaderName, HeaderValue};
use http::{Response, StatusCode};

use crate::http::call::MAX_BODY_BYTES;
use crate::keys::KeyId;
use crate::rate_limit::RateLimit;
use crate::schemas::Error;
use crate::storage::StoreError;

/// What an operation answers with. The outer `Result` is dropshot's and always `Ok`: its errors would
/// lose their headers.
pub type Answer<T> = Result<Reply<T>, Error>;

/// Success as `T`, or a refusal with its headers, and who asked.
#[derive(Debug)]
pub struct Reply<T> {
    pub(crate) outcome: Result<T, Refusal>,
    /// The key that the call was made with, if it was good. Goes into the access log.
    pub(crate) key: Option<KeyId>,
}

impl<T: HttpResponse> HttpResponse for Reply<T> {
    fn to_result(self) -> Result<Response<Body>, HttpError> {
        let mut response = match self.outcome {
            Ok(done) => done.to_result()?,
            Err(refusal) => refusal.into_response(),
        };
        if let Some(key) = self.key {
            response.extensions_mut().insert(key);
        }
        Ok(response)
    }

    fn response_metadata() -> ApiEndpointResponse {
        T::response_metadata()
    }

    fn status_code(&self) -> StatusCode {
        match &self.outcome {
            Ok(done) => done.status_code(),
            Err(refusal) => refusal.code().status(),
        }
    }
}

/// The values of `Error.code`. A stable, open set.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[allow(missing_docs)] // Their words say it; the document explains them.
pub enum Code {
    InvalidParameter,
    InvalidBody,
    Unauthorized,
    NotFound,
    MethodNotAllowed,
    RequestTimeout,
    BodyTooLarge,
    UnsupportedMediaType,
    RateLimited,
    Internal,
    Unavailable,
    /// Scaffolding: see [`Refusal::NotImplemented`].
    NotImplemented,
}

impl Code {
    /// All codes that the document may have, by status.
    pub const ALL: [Self; 11] = [
        Self::InvalidParameter,
        Self::InvalidBody,
        Self::Unauthorized,
        Self::NotFound,
        Self::MethodNotAllowed,
        Self::RequestTimeout,
        Self::BodyTooLarge,
        Self::UnsupportedMediaType,
        Self::RateLimited,
        Self::Internal,
        Self::Unavailable,
    ];

    /// The word on the wire.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::InvalidParameter => "invalid_parameter",
            Self::InvalidBody => "invalid_body",
            Self::Unauthorized => "unauthorized",
            Self::NotFound => "not_found",
            Self::MethodNotAllowed => "method_not_allowed",
            Self::RequestTimeout => "request_timeout",
            Self::BodyTooLarge => "body_too_large",
            Self::UnsupportedMediaType => "unsupported_media_type",
            Self::RateLimited => "rate_limited",
            Self::Internal => "internal",
            Self::Unavailable => "unavailable",
            Self::NotImplemented => "not_implemented",
        }
    }

    /// The code with this word, if there is one.
    pub fn from_word(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|code| code.as_str() == word)
    }

    /// The HTTP status that goes with it.
    pub const fn status(self) -> StatusCode {
        match self {
            Self::InvalidParameter | Self::InvalidBody => StatusCode::BAD_REQUEST,
            Self::Unauthorized => StatusCode::UNAUTHORIZED,
            Self::NotFound => StatusCode::NOT_FOUND,
            Self::MethodNotAllowed => StatusCode::METHOD_NOT_ALLOWED,
            Self::RequestTimeout => StatusCode::REQUEST_TIMEOUT,
            Self::BodyTooLarge => StatusCode::PAYLOAD_TOO_LARGE,
            Self::UnsupportedMediaType => StatusCode::UNSUPPORTED_MEDIA_TYPE,
            Self::RateLimited => StatusCode::TOO_MANY_REQUESTS,
            Self::Internal => StatusCode::INTERNAL_SERVER_ERROR,
            Self::Unavailable => StatusCode::SERVICE_UNAVAILABLE,
            Self::NotImplemented => StatusCode::NOT_IMPLEMENTED,
        }
    }

    /// The headers that always come with it, beside those that the edge puts on everything.
    pub const fn headers(self) -> &'static [HeaderField] {
        const RETRY_AFTER: HeaderField =
            HeaderField { name: "Retry-After", schema: HeaderSchema::Integer { minimum: 1 }, required: true };
        match self {
            Self::Unauthorized => const { &[HeaderField::string("WWW-Authenticate")] },
            Self::MethodNotAllowed => const { &[HeaderField::string("Allow")] },
            Self::UnsupportedMediaType => const { &[HeaderField::string("Accept-Post")] },
            Self::RateLimited => {
                const { &[RETRY_AFTER, HeaderField::string("RateLimit"), HeaderField::string("RateLimit-Policy")] }
            }
            Self::Unavailable => &[RETRY_AFTER],
            Self::InvalidParameter
            | Self::InvalidBody
            | Self::NotFound
            | Self::RequestTimeout
            | Self::BodyTooLarge
            | Self::Internal
            | Self::NotImplemented => &[],
        }
    }
}

/// A response header as the document describes it (OpenAPI 3.0.3, Header Object).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HeaderField {
    /// As it is usually written; case does not matter.
    pub name: &'static str,
    /// What its value is.
    pub schema: HeaderSchema,
    /// Whether it is there always.
    pub required: bool,
}

impl HeaderField {
    /// A header that is always there, with any text.
    pub const fn string(name: &'static str) -> Self {
        Self { name, schema: HeaderSchema::String, required: true }
    }
}

/// The schema of a header's value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HeaderSchema {
    /// Any text.
    String,
    /// A decimal integer.
    Integer {
        /// The least it can be.
        minimum: i64,
    },
}

/// A request that is not done as asked, and why.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// A query parameter is not allowed; says which and what is.
    InvalidParameter(String),
    /// The body is not allowed; says which field and what is.
    InvalidBody(String),
    /// No key, or (`given`) one that is not good.
    Unauthorized {
        /// Whether a bearer key was sent at all (RFC 6750, section 3.1).
        given: bool,
    },
    /// Nothing is there.
    NotFound(&'static str),
    /// The path is there, the method is not.
    MethodNotAllowed {
        /// The value of `Allow`.
        allow: String,
    },
    /// The body did not come in time.
    RequestTimeout,
    /// The body is larger than [`MAX_BODY_BYTES`].
    BodyTooLarge,
    /// The body is not declared as JSON.
    UnsupportedMediaType,
    /// The key has used up its requests.
    RateLimited {
        /// The limit.
        limit: RateLimit,
        /// Seconds until there is one again, at least 1.
        retry_after: u64,
    },
    /// A mistake of ours.
    Internal,
    /// Not just now.
    Unavailable,
    /// There is no behaviour yet: what `cargo xtask scaffold` writes answers this, and nothing else may.
    /// No operation can declare it, so no document has it, and the tests' recorder refuses it like any
    /// status that the document does not allow.
    NotImplemented,
}

/// What a refusal is over HTTP.
struct Parts {
    code: Code,
    message: Cow<'static, str>,
    headers: HeaderMap,
}

/// draft-ietf-httpapi-ratelimit-headers-10, sections 3 and 4.
const RATE_LIMIT: HeaderName = HeaderName::from_static("ratelimit");
const RATE_LIMIT_POLICY: HeaderName = HeaderName::from_static("ratelimit-policy");

impl Refusal {
    /// The word that programs see.
    pub fn code(&self) -> Code {
        match self {
            Self::InvalidParameter(_) => Code::InvalidParameter,
            Self::InvalidBody(_) => Code::InvalidBody,
            Self::Unauthorized { .. } => Code::Unauthorized,
            Self::NotFound(_) => Code::NotFound,
            Self::MethodNotAllowed { .. } => Code::MethodNotAllowed,
            Self::RequestTimeout => Code::RequestTimeout,
            Self::BodyTooLarge => Code::BodyTooLarge,
            Self::UnsupportedMediaType => Code::UnsupportedMediaType,
            Self::RateLimited { .. } => Code::RateLimited,
            Self::Internal => Code::Internal,
            Self::Unavailable => Code::Unavailable,
            Self::NotImplemented => Code::NotImplemented,
        }
    }

    fn parts(self) -> Parts {
        let code = self.code();
        let mut headers = HeaderMap::new();
        let mut header = |name: HeaderName, value: &'static str| {
            headers.insert(name, HeaderValue::from_static(value));
        };
        let message: Cow<'static, str> = match self {
            Self::InvalidParameter(message) | Self::InvalidBody(message) => message.into(),
            Self::NotFound(message) => message.into(),
            Self::Unauthorized { given: false } => {
                header(header::WWW_AUTHENTICATE, "Bearer realm=\"animal-store\"");
                "send an API key as \"Authorization: Bearer <key>\"".into()
            }
            Self::Unauthorized { given: true } => {
                let challenge = "Bearer realm=\"animal-store\", error=\"invalid_token\"";
                header(header::WWW_AUTHENTICATE, challenge);
                "this API key is unknown, expired or revoked".into()
            }
            Self::MethodNotAllowed { allow } => {
                let message = format!("this path takes {allow} only");
                // Made of the names of methods, so it is one.
                headers.extend(HeaderValue::try_from(allow).map(|allow| (header::ALLOW, allow)));
                message.into()
            }
            Self::RequestTimeout => {
                header(header::CONNECTION, "close");
                "the body did not arrive in time; send it again".into()
            }
            Self::BodyTooLarge => format!("a body may have at most {MAX_BODY_BYTES} bytes").into(),
            Self::UnsupportedMediaType => {
                header(HeaderName::from_static("accept-post"), "application/json");
                "send the body as \"Content-Type: application/json\", without a Content-Encoding".into()
            }
            Self::RateLimited { limit, retry_after } => {
                let (quota, window) = (limit.requests, limit.period.as_secs());
                let policy = format!("\"key\";q={quota};w={window}");
                let state = format!("\"key\";r=0;t={retry_after}");
                // Numbers between fixed words are always a header value.
                headers.extend(HeaderValue::try_from(policy).map(|it| (RATE_LIMIT_POLICY, it)));
                headers.extend(HeaderValue::try_from(state).map(|it| (RATE_LIMIT, it)));
                headers.insert(header::RETRY_AFTER, HeaderValue::from(retry_after));
                format!("this key has used up its requests; try again in {retry_after} seconds").into()
            }
            Self::Internal => "the service made a mistake; its log tells more under this x-request-id".into(),
            Self::Unavailable => {
                headers.insert(header::RETRY_AFTER, HeaderValue::from(1));
                "the store cannot answer just now; try again in a moment".into()
            }
            Self::NotImplemented => "this operation is not implemented yet".into(),
        };
        Parts { code, message, headers }
    }

    /// The whole answer.
    pub fn into_response(self) -> Response<Body> {
        let Parts { code, message, headers } = self.parts();
        let status = code.status();
        let body = Error { code: code.as_str().into(), message, status: status.as_u16() };
        // Two strings and a number always become JSON.
        let body = serde_json::to_vec(&body).unwrap_or_default();
        let mut response = Response::new(Body::from(body));
        *response.status_mut() = status;
        *response.headers_mut() = headers;
        let json = HeaderValue::from_static("application/json");
        response.headers_mut().insert(header::CONTENT_TYPE, json);
        response
    }
}

/// The codes that a part of an operation can answer with.
pub trait Refuses {
    /// Which, in any order.
    const CODES: &'static [Code];
}

impl Refuses for StoreError {
    const CODES: &'static [Code] = &[Code::Internal, Code::Unavailable];
}

impl From<StoreError> for Refusal {
    fn from(error: StoreError) -> Self {
        match error {
            StoreError::Busy | StoreError::Unavailable(_) => Self::Unavailable,
            StoreError::Broken(_) => Self::Internal,
        }
    }
}

/// Why one thing could not be fetched.
#[derive(Debug)]
pub enum Missing {
    /// It is not there; says what.
    NotFound(&'static str),
    /// The store could not tell.
    Store(StoreError),
}

impl Refuses for Missing {
    const CODES: &'static [Code] = &[Code::NotFound, Code::Internal, Code::Unavailable];
}

impl From<StoreError> for Missing {
    fn from(error: StoreError) -> Self {
        Self::Store(error)
    }
}

impl From<Missing> for Refusal {
    fn from(missing: Missing) -> Self {
        match missing {
            Missing::NotFound(message) => Self::NotFound(message),
            Missing::Store(error) => error.into(),
        }
    }
}
