//! The error codes of the API, with their statuses and headers.
//!
//! The statuses and the headers of errors in the document follow from this file: the error type and the extractors of
//! an operation declare their codes, and `cargo xtask check` compares the result with the YAML.

use http::StatusCode;
use http::header::{CONNECTION, HeaderName, RETRY_AFTER};

/// The error codes of every operation, whatever its inputs.
pub const COMMON_CODES: &[ErrorCode] =
    &[ErrorCode::Unauthorized, ErrorCode::RateLimited, ErrorCode::Unavailable, ErrorCode::Internal];

/// A value of `Error.code`. Clients must accept new ones.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
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
    /// Only for operations of `cargo xtask scaffold`. None can declare it, so the tests reject it as a status that the
    /// document does not have.
    NotImplemented,
}

impl ErrorCode {
    /// All codes that the document may contain, by status.
    pub const ALL: [Self; 12] = [
        Self::InvalidParameter,
        Self::InvalidBody,
        Self::Unauthorized,
        Self::NotFound,
        Self::MethodNotAllowed,
        Self::RequestTimeout,
        Self::BodyTooLarge,
        Self::UnsupportedMediaType,
        Self::IdempotencyKeyReused,
        Self::RateLimited,
        Self::Internal,
        Self::Unavailable,
    ];

    const fn value_and_status(self) -> (&'static str, StatusCode) {
        match self {
            Self::InvalidParameter => ("invalid_parameter", StatusCode::BAD_REQUEST),
            Self::InvalidBody => ("invalid_body", StatusCode::BAD_REQUEST),
            Self::Unauthorized => ("unauthorized", StatusCode::UNAUTHORIZED),
            Self::NotFound => ("not_found", StatusCode::NOT_FOUND),
            Self::MethodNotAllowed => ("method_not_allowed", StatusCode::METHOD_NOT_ALLOWED),
            Self::RequestTimeout => ("request_timeout", StatusCode::REQUEST_TIMEOUT),
            Self::BodyTooLarge => ("body_too_large", StatusCode::PAYLOAD_TOO_LARGE),
            Self::UnsupportedMediaType => ("unsupported_media_type", StatusCode::UNSUPPORTED_MEDIA_TYPE),
            Self::IdempotencyKeyReused => ("idempotency_key_reused", StatusCode::UNPROCESSABLE_ENTITY),
            Self::RateLimited => ("rate_limited", StatusCode::TOO_MANY_REQUESTS),
            Self::Internal => ("internal", StatusCode::INTERNAL_SERVER_ERROR),
            Self::Unavailable => ("unavailable", StatusCode::SERVICE_UNAVAILABLE),
            Self::NotImplemented => ("not_implemented", StatusCode::NOT_IMPLEMENTED),
        }
    }

    /// Returns the value in JSON.
    pub const fn as_str(self) -> &'static str {
        self.value_and_status().0
    }

    /// Returns the HTTP status.
    pub const fn status(self) -> StatusCode {
        self.value_and_status().1
    }

    /// Returns the code with this value in JSON.
    pub fn from_word(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|code| code.as_str() == word)
    }

    /// Returns the message of a server error, whose cause the client does not get.
    pub(super) const fn server_message(self) -> Option<&'static str> {
        match self {
            Self::Internal => {
                Some("internal error; the log of the service has details under this x-request-id")
            }
            Self::Unavailable => Some("the service is temporarily unavailable; try again in a moment"),
            Self::NotImplemented => Some("this operation is not implemented yet"),
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

    /// Returns the headers of a response with this code, without those that the router adds to every
    /// response.
    pub const fn headers(self) -> &'static [HeaderField] {
        const RETRY: HeaderField =
            HeaderField { name: "Retry-After", schema: HeaderSchema::Integer { minimum: 1 }, required: true };
        match self {
            Self::Unauthorized => const { &[HeaderField::string("WWW-Authenticate")] },
            Self::MethodNotAllowed => const { &[HeaderField::string("Allow")] },
            Self::UnsupportedMediaType => const { &[HeaderField::string("Accept-Post")] },
            Self::RateLimited => {
                const { &[RETRY, HeaderField::string("RateLimit"), HeaderField::string("RateLimit-Policy")] }
            }
            Self::Unavailable => &[RETRY],
            _ => &[],
        }
    }
}

/// A response header as the document describes it (OpenAPI 3.0.3, Header Object).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HeaderField {
    /// The name in its usual spelling; case does not matter.
    pub name: &'static str,
    /// The schema of the value.
    pub schema: HeaderSchema,
    /// Whether every response has it.
    pub required: bool,
}

impl HeaderField {
    /// A required header with any text.
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
        /// The smallest value.
        minimum: i64,
    },
}
