//! Errors as responses.
//!
//! An operation and its extractors fail with errors of their own, which implement [`HttpResponseError`]. `?` turns each
//! into an [`ErrorResponse`], which the router sends and logs.

use std::borrow::Cow;

use dropshot::Body;
use http::Response;
use http::header::{self, HeaderName, HeaderValue};

use super::MAX_BODY_BYTES;
use super::error_code::ErrorCode;
use crate::rate_limit::RateLimitExceeded;
use crate::schemas::Error;
use crate::storage::StoreError;

/// The error type of an operation: its codes, and what each of them means.
///
/// `Display` is the message for the client, which says what to change. Of a server error it is the cause for the log,
/// and the client gets only the message of the code.
#[diagnostic::on_unimplemented(
    message = "`{Self}` does not say which error codes it has",
    label = "the error type of an operation implements `HttpResponseError` of this service",
    note = "write an enum for the operation, as in src/operations/get_pet.rs; `StoreError` alone is one, too"
)]
pub trait HttpResponseError: std::error::Error + Send + 'static {
    /// All codes of [`Self::code`], except those that every operation has. Their statuses are in the document.
    const CODES: &'static [ErrorCode];

    /// Returns the code of this error.
    fn code(&self) -> ErrorCode;

    /// Returns the headers that not every error with this code has in the same way.
    fn headers(&self) -> Vec<(HeaderName, HeaderValue)> {
        Vec::new()
    }
}

impl HttpResponseError for StoreError {
    const CODES: &'static [ErrorCode] = &[ErrorCode::Internal, ErrorCode::Unavailable];

    fn code(&self) -> ErrorCode {
        match self {
            Self::Busy | Self::Unavailable(_) => ErrorCode::Unavailable,
            Self::Broken(_) | Self::Invalid(_) => ErrorCode::Internal,
        }
    }
}

/// An error of the router or of an extractor.
#[derive(Debug, thiserror::Error)]
#[allow(missing_docs)] // The messages say it.
pub enum ApiError {
    /// The message names the parameter or the header, and says what is allowed.
    #[error("{0}")]
    InvalidParameter(String),
    /// The message names the field, and says what is allowed.
    #[error("{0}")]
    InvalidBody(String),
    #[error("send an API key as \"Authorization: Bearer <key>\"")]
    MissingKey,
    #[error("this API key is unknown, expired or revoked")]
    InvalidKey,
    #[error("this path does not exist")]
    UnknownPath,
    #[error("this path does not exist: a path parameter does not have the type that the document says")]
    UnknownVariable,
    #[error("this path allows only {allow}")]
    MethodNotAllowed {
        /// The value of `Allow`.
        allow: String,
    },
    #[error("the only Transfer-Encoding of a request is chunked")]
    TransferEncoding,
    #[error("the body did not arrive in time; send the request again")]
    RequestTimeout,
    #[error("the body must not exceed {MAX_BODY_BYTES} bytes")]
    BodyTooLarge,
    #[error("send the body as \"Content-Type: application/json\", without a Content-Encoding")]
    UnsupportedMediaType,
    #[error("this API key exceeded its rate limit; try again in {} seconds", .0.retry_after)]
    RateLimited(RateLimitExceeded),
    #[error("authentication: {0}")]
    Authentication(StoreError),
    #[error("the request reached its time limit")]
    TimeLimit,
    #[error("the operation panicked")]
    Panic,
    #[error("the response cannot be written: {0}")]
    Response(String),
}

impl HttpResponseError for ApiError {
    const CODES: &'static [ErrorCode] = ErrorCode::ALL;

    fn code(&self) -> ErrorCode {
        match self {
            Self::InvalidParameter(_) => ErrorCode::InvalidParameter,
            Self::InvalidBody(_) | Self::TransferEncoding => ErrorCode::InvalidBody,
            Self::MissingKey | Self::InvalidKey => ErrorCode::Unauthorized,
            Self::UnknownPath | Self::UnknownVariable => ErrorCode::NotFound,
            Self::MethodNotAllowed { .. } => ErrorCode::MethodNotAllowed,
            Self::RequestTimeout => ErrorCode::RequestTimeout,
            Self::BodyTooLarge => ErrorCode::BodyTooLarge,
            Self::UnsupportedMediaType => ErrorCode::UnsupportedMediaType,
            Self::RateLimited(_) => ErrorCode::RateLimited,
            Self::Authentication(error) => error.code(),
            Self::TimeLimit => ErrorCode::Unavailable,
            Self::Panic | Self::Response(_) => ErrorCode::Internal,
        }
    }

    fn headers(&self) -> Vec<(HeaderName, HeaderValue)> {
        let constant = |name, value| vec![(name, HeaderValue::from_static(value))];
        match self {
            Self::MissingKey => constant(header::WWW_AUTHENTICATE, "Bearer realm=\"animal-store\""),
            // RFC 6750, section 3.1.
            Self::InvalidKey => {
                constant(header::WWW_AUTHENTICATE, "Bearer realm=\"animal-store\", error=\"invalid_token\"")
            }
            // The end of the request is uncertain.
            Self::TransferEncoding => constant(header::CONNECTION, "close"),
            Self::MethodNotAllowed { allow } => text(header::ALLOW, allow).into_iter().collect(),
            Self::RateLimited(exceeded) => rate_limit(exceeded),
            _ => Vec::new(),
        }
    }
}

/// Returns the headers of an exceeded rate limit (draft-ietf-httpapi-ratelimit-headers-10, sections 3 and 4).
fn rate_limit(exceeded: &RateLimitExceeded) -> Vec<(HeaderName, HeaderValue)> {
    let RateLimitExceeded { limit, retry_after } = exceeded;
    let policy = format!("\"key\";q={};w={}", limit.requests, limit.period.as_secs());
    let state = format!("\"key\";r=0;t={retry_after}");
    let policy = text(HeaderName::from_static("ratelimit-policy"), &policy);
    let state = text(HeaderName::from_static("ratelimit"), &state);
    let retry = (header::RETRY_AFTER, HeaderValue::from(*retry_after));
    [policy, state, Some(retry)].into_iter().flatten().collect()
}

/// Returns a header with a value that is always valid: names of methods, or digits between constant text.
fn text(name: HeaderName, value: &str) -> Option<(HeaderName, HeaderValue)> {
    HeaderValue::from_str(value).ok().map(|value| (name, value))
}

/// An error as the client and the log get it.
#[derive(Debug)]
pub struct ErrorResponse {
    pub(super) code: ErrorCode,
    /// Why the service failed: one line for operators, which the client does not get.
    pub(super) cause: Option<String>,
    message: Cow<'static, str>,
    headers: Vec<(HeaderName, HeaderValue)>,
}

impl<E: HttpResponseError> From<E> for ErrorResponse {
    fn from(error: E) -> Self {
        let (code, headers, described) = (error.code(), error.headers(), error.to_string());
        let (message, cause) = match code.server_message() {
            Some(message) => (message.into(), Some(described)),
            None => (described.into(), None),
        };
        Self { code, cause, message, headers }
    }
}

impl ErrorResponse {
    /// Returns the response for the client.
    pub(super) fn into_response(self) -> Response<Body> {
        let Self { code, message, headers, .. } = self;
        let error = Error { code: code.as_str().into(), message, status: code.status().as_u16() };
        // Two strings and a number always become JSON.
        let mut response = Response::new(Body::from(serde_json::to_vec(&error).unwrap_or_default()));
        *response.status_mut() = code.status();
        let json = (header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
        let constant = code.constant_header().map(|(name, value)| (name, HeaderValue::from_static(value)));
        response.headers_mut().extend([Some(json), constant].into_iter().flatten().chain(headers));
        response
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_response_to_a_failure_has_its_cause_for_the_log_only() {
        let [full, unknown] = ["its disk is full"; 2].map(|it| StoreError::Unavailable(it.to_owned()));
        let damaged = StoreError::Broken("it is damaged".to_owned());
        for (error, status, cause) in [
            (ErrorResponse::from(full), 503, "the store is unavailable: its disk is full"),
            (
                ApiError::Authentication(unknown).into(),
                503,
                "authentication: the store is unavailable: its disk is full",
            ),
            (StoreError::Busy.into(), 503, "too many writes are waiting"),
            (damaged.into(), 500, "the store failed: it is damaged"),
            (ApiError::TimeLimit.into(), 503, "the request reached its time limit"),
        ] {
            assert_eq!(error.cause.as_deref(), Some(cause));
            assert!(!error.message.contains("disk") && !error.message.contains("damaged"));
            let response = error.into_response();
            assert_eq!(response.status(), status);
            assert_eq!(response.headers().contains_key(header::RETRY_AFTER), status == 503);
        }
    }
}
