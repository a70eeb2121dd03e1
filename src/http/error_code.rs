//! The error codes of the API, with their statuses and headers.
//!
//! The statuses and the headers of errors in the document follow from this file: an operation and its inputs declare their
//! codes, and `cargo xtask check` compares the result with the YAML.

use http::header::{CONNECTION, HeaderName, HeaderValue, RETRY_AFTER};
use http::{Method, StatusCode};
use strum::{IntoStaticStr, VariantArray};

/// The error codes of every operation, whatever its inputs.
pub const COMMON_CODES: &[ErrorCode] =
    &[ErrorCode::Unauthorized, ErrorCode::RateLimited, ErrorCode::Unavailable, ErrorCode::Internal];

/// A value of `Error.code`. Clients must accept new ones.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, IntoStaticStr, VariantArray)]
#[strum(serialize_all = "snake_case")]
#[allow(missing_docs)] // The document explains each.
pub enum ErrorCode {
    InvalidParameter,
    InvalidBody,
    Unauthorized,
    NotFound,
    MethodNotAllowed,
    RequestTimeout,
    BodyTooLarge,
    UnsupportedMediaType,
    IdempotencyKeyReused,
    RateLimited,
    Internal,
    Unavailable,
}

impl ErrorCode {
    /// Returns the value in JSON.
    pub fn as_str(self) -> &'static str {
        self.into()
    }

    /// Returns the HTTP status.
    pub const fn status(self) -> StatusCode {
        match self {
            Self::InvalidParameter | Self::InvalidBody => StatusCode::BAD_REQUEST,
            Self::Unauthorized => StatusCode::UNAUTHORIZED,
            Self::NotFound => StatusCode::NOT_FOUND,
            Self::MethodNotAllowed => StatusCode::METHOD_NOT_ALLOWED,
            Self::RequestTimeout => StatusCode::REQUEST_TIMEOUT,
            Self::BodyTooLarge => StatusCode::PAYLOAD_TOO_LARGE,
            Self::UnsupportedMediaType => StatusCode::UNSUPPORTED_MEDIA_TYPE,
            Self::IdempotencyKeyReused => StatusCode::UNPROCESSABLE_ENTITY,
            Self::RateLimited => StatusCode::TOO_MANY_REQUESTS,
            Self::Internal => StatusCode::INTERNAL_SERVER_ERROR,
            Self::Unavailable => StatusCode::SERVICE_UNAVAILABLE,
        }
    }

    /// Returns the message of a server error, whose cause the client does not get.
    pub(super) const fn server_message(self) -> Option<&'static str> {
        match self {
            Self::Internal => {
                Some("internal error; the log of the service has details under this x-request-id")
            }
            Self::Unavailable => Some("the service is temporarily unavailable; try again in a moment"),
            _ => None,
        }
    }

    /// Returns the header that has the same value in every response with this code to a request with `method`.
    pub(super) fn constant_header(self, method: &Method) -> Option<(HeaderName, HeaderValue)> {
        let (name, value) = match self {
            Self::RequestTimeout => (CONNECTION, "close"),
            Self::UnsupportedMediaType => (accept(method).parse().ok()?, "application/json"),
            Self::Unavailable => (RETRY_AFTER, "1"),
            _ => return None,
        };
        Some((name, HeaderValue::from_static(value)))
    }

    /// Returns the names of the headers of a response with this code to a request with `method`, without those that the
    /// router adds to every response.
    pub fn headers(self, method: &Method) -> Vec<&'static str> {
        match self {
            Self::Unauthorized => vec!["WWW-Authenticate"],
            Self::MethodNotAllowed => vec!["Allow"],
            Self::UnsupportedMediaType => vec![accept(method)],
            Self::RateLimited => vec!["Retry-After", "RateLimit", "RateLimit-Policy"],
            Self::Unavailable => vec!["Retry-After"],
            _ => Vec::new(),
        }
    }
}

/// Returns the header with the media types that a body may have: `Accept-Post` (Linked Data Platform 1.0, section 7.1),
/// `Accept-Patch` (RFC 5789, section 3.1), or `Accept` (RFC 9110, section 12.5.1).
fn accept(method: &Method) -> &'static str {
    match *method {
        Method::POST => "Accept-Post",
        Method::PATCH => "Accept-Patch",
        _ => "Accept",
    }
}
