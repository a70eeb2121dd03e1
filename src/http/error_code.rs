//! The error codes of the API, with their statuses and headers.
//!
//! The statuses and the headers of errors in the document follow from this file: the error type and the extractors of
//! an operation declare their codes, and `cargo xtask check` compares the result with the YAML.

use http::StatusCode;
use http::header::{CONNECTION, HeaderName, RETRY_AFTER};
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
    /// All codes, by status.
    pub const ALL: &'static [Self] = Self::VARIANTS;

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

    /// Returns the header that has the same value in every response with this code.
    pub(super) const fn constant_header(self) -> Option<(HeaderName, &'static str)> {
        match self {
            Self::RequestTimeout => Some((CONNECTION, "close")),
            Self::UnsupportedMediaType => Some((HeaderName::from_static("accept-post"), "application/json")),
            Self::Unavailable => Some((RETRY_AFTER, "1")),
            _ => None,
        }
    }

    /// Returns the names of the headers of a response with this code, without those that the router adds to every
    /// response.
    pub const fn headers(self) -> &'static [&'static str] {
        match self {
            Self::Unauthorized => &["WWW-Authenticate"],
            Self::MethodNotAllowed => &["Allow"],
            Self::UnsupportedMediaType => &["Accept-Post"],
            Self::RateLimited => &["Retry-After", "RateLimit", "RateLimit-Policy"],
            Self::Unavailable => &["Retry-After"],
            _ => &[],
        }
    }
}
