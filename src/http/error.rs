//! The errors of the API: their codes, and the response to a request that failed.
//!
//! The statuses and the headers of errors in the document follow from this file: an operation and its inputs declare their
//! codes, and `cargo xtask check` compares the result with the YAML.

use std::borrow::Cow;

use dropshot::Body;
use http::header::{CONTENT_TYPE, HeaderName, HeaderValue, RETRY_AFTER};
use http::{Method, Response, StatusCode};
use strum::IntoStaticStr;

use crate::schemas::Error;
use crate::service::RateLimit;
use crate::storage::StoreError;

/// The error codes of every operation, whatever its inputs.
pub(super) const COMMON_CODES: &[ErrorCode] =
    &[ErrorCode::Unauthorized, ErrorCode::RateLimited, ErrorCode::Unavailable, ErrorCode::Internal];

/// A value of `Error.code`. Clients must accept new ones.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, IntoStaticStr)]
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
    const fn server_message(self) -> Option<&'static str> {
        match self {
            Self::Internal => {
                Some("internal error; the log of the service has details under this x-request-id")
            }
            Self::Unavailable => Some("the service is temporarily unavailable; try again in a moment"),
            _ => None,
        }
    }

    /// Returns the names of the headers of a response with this code to a request with `method`, without those that the
    /// router adds to every response.
    pub fn headers(self, method: &Method) -> Vec<&'static str> {
        match self {
            Self::Unauthorized => vec!["WWW-Authenticate"],
            Self::MethodNotAllowed => vec!["Allow"],
            Self::UnsupportedMediaType => vec![accepted_types(method)],
            Self::RateLimited => vec!["Retry-After", "RateLimit", "RateLimit-Policy"],
            Self::Unavailable => vec!["Retry-After"],
            _ => Vec::new(),
        }
    }
}

/// Returns the header with the media types that a body may have: `Accept-Post` (Linked Data Platform 1.0, section 7.1),
/// `Accept-Patch` (RFC 5789, section 3.1), or `Accept` (RFC 9110, section 12.5.1).
pub(super) fn accepted_types(method: &Method) -> &'static str {
    match *method {
        Method::POST => "Accept-Post",
        Method::PATCH => "Accept-Patch",
        _ => "Accept",
    }
}

/// Why a request failed: its response, and a part of its record in the log.
#[derive(Debug, thiserror::Error)]
#[error("{text}")]
pub struct ApiError {
    pub(super) code: ErrorCode,
    text: Cow<'static, str>,
    headers: Vec<(HeaderName, HeaderValue)>,
}

impl ApiError {
    /// Creates an error. Of a client error (4xx), `text` is the message: what to change, and what is allowed, never a value
    /// that may be a secret. Of a server error (5xx), it is the cause, one line for the log; the client gets a constant
    /// message.
    pub fn new(code: ErrorCode, text: impl Into<Cow<'static, str>>) -> Self {
        Self { code, text: text.into(), headers: Vec::new() }
    }

    /// Adds a header. One that is not valid is left out.
    pub(super) fn with(mut self, name: &str, value: &str) -> Self {
        if let (Ok(name), Ok(value)) = (name.parse(), value.parse()) {
            self.headers.push((name, value));
        }
        self
    }

    pub(super) fn unknown_path() -> Self {
        Self::new(ErrorCode::NotFound, "this path does not exist")
    }

    /// `allow` is the value of `Allow`.
    pub(super) fn method_not_allowed(allow: &str) -> Self {
        let message = format!("this path allows only {allow}");
        Self::new(ErrorCode::MethodNotAllowed, message).with("Allow", allow)
    }

    pub(super) fn time_limit() -> Self {
        Self::new(ErrorCode::Unavailable, "the request reached its time limit")
    }

    /// With the headers of draft-ietf-httpapi-ratelimit-headers-10, sections 3 and 4. `retry_after` is in seconds.
    pub(super) fn rate_limited(limit: RateLimit, retry_after: u64) -> Self {
        let message = format!("this API key exceeded its rate limit; try again in {retry_after} seconds");
        let policy = format!("\"key\";q={};w={}", limit.requests, limit.period.as_secs());
        Self::new(ErrorCode::RateLimited, message)
            .with("RateLimit-Policy", &policy)
            .with("RateLimit", &format!("\"key\";r=0;t={retry_after}"))
            .with("Retry-After", &retry_after.to_string())
    }

    /// Adds to the cause of a server error what the service was doing.
    pub(super) fn during(self, what: &str) -> Self {
        Self { text: format!("{what}: {}", self.text).into(), ..self }
    }

    /// Returns the cause of a server error, which the client does not get.
    pub(super) fn cause(&self) -> Option<&str> {
        self.code.server_message().map(|_| &*self.text)
    }

    /// Returns the response.
    pub(super) fn response(&self) -> Response<Body> {
        let Self { code, text, headers } = self;
        let message = code.server_message().map_or_else(|| text.clone(), Cow::Borrowed);
        let error = Error { code: code.as_str().into(), message, status: code.status().as_u16() };
        // Two strings and a number always become JSON.
        let mut response = Response::new(Body::from(serde_json::to_vec(&error).unwrap_or_default()));
        *response.status_mut() = code.status();
        response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        if *code == ErrorCode::Unavailable {
            response.headers_mut().insert(RETRY_AFTER, HeaderValue::from_static("1"));
        }
        response.headers_mut().extend(headers.iter().cloned());
        response
    }
}

impl From<StoreError> for ApiError {
    fn from(error: StoreError) -> Self {
        let code = match error {
            StoreError::Busy | StoreError::Unavailable(_) => ErrorCode::Unavailable,
            StoreError::Broken(_) | StoreError::Invalid(_) => ErrorCode::Internal,
        };
        Self::new(code, error.to_string())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_response_to_a_failure_has_its_cause_for_the_log_only() {
        let full = StoreError::Unavailable("its disk is full".to_owned());
        let damaged = StoreError::Broken("it is damaged".to_owned());
        for (error, status, cause) in [
            (ApiError::from(full), 503, "the store is unavailable: its disk is full"),
            (StoreError::Busy.into(), 503, "too many writes are waiting"),
            (damaged.into(), 500, "the store failed: it is damaged"),
            (ApiError::time_limit(), 503, "the request reached its time limit"),
        ] {
            assert_eq!(error.cause(), Some(cause));
            let response = error.response();
            assert_eq!(response.status(), status);
            assert_eq!(response.headers().contains_key(RETRY_AFTER), status == 503);
        }
        assert_eq!(ApiError::unknown_path().cause(), None);
    }
}
