//! The error of a request, which becomes its response and a part of its record in the log.

use std::borrow::Cow;

use dropshot::Body;
use http::header::{self, HeaderName, HeaderValue};
use http::{Method, Response};

use super::error_code::ErrorCode;
use crate::rate_limit::RateLimitExceeded;
use crate::schemas::Error;
use crate::storage::StoreError;

/// Why a request failed.
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

    /// Adds a header. A value that is no header value is left out.
    pub(super) fn with(mut self, name: HeaderName, value: &str) -> Self {
        self.headers.extend(HeaderValue::from_str(value).map(|value| (name, value)));
        self
    }

    pub(super) fn unknown_path() -> Self {
        Self::new(ErrorCode::NotFound, "this path does not exist")
    }

    /// `allow` is the value of `Allow`.
    pub(super) fn method_not_allowed(allow: &str) -> Self {
        let message = format!("this path allows only {allow}");
        Self::new(ErrorCode::MethodNotAllowed, message).with(header::ALLOW, allow)
    }

    pub(super) fn time_limit() -> Self {
        Self::new(ErrorCode::Unavailable, "the request reached its time limit")
    }

    /// Adds to the cause of a server error what the service was doing.
    pub(super) fn during(self, what: &str) -> Self {
        Self { text: format!("{what}: {}", self.text).into(), ..self }
    }

    /// Returns the cause of a server error, which the client does not get.
    pub(super) fn cause(&self) -> Option<&str> {
        self.code.server_message().map(|_| &*self.text)
    }

    /// Returns the response to a request with this method.
    pub(super) fn into_response(self, method: &Method) -> Response<Body> {
        let Self { code, text, headers } = self;
        let message = code.server_message().map_or(text, Cow::Borrowed);
        let error = Error { code: code.as_str().into(), message, status: code.status().as_u16() };
        // Two strings and a number always become JSON.
        let mut response = Response::new(Body::from(serde_json::to_vec(&error).unwrap_or_default()));
        *response.status_mut() = code.status();
        let json = (header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
        response.headers_mut().extend([json].into_iter().chain(code.constant_header(method)).chain(headers));
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

impl From<RateLimitExceeded> for ApiError {
    /// With the headers of draft-ietf-httpapi-ratelimit-headers-10, sections 3 and 4.
    fn from(RateLimitExceeded { limit, retry_after }: RateLimitExceeded) -> Self {
        let message = format!("this API key exceeded its rate limit; try again in {retry_after} seconds");
        let policy = format!("\"key\";q={};w={}", limit.requests, limit.period.as_secs());
        Self::new(ErrorCode::RateLimited, message)
            .with(HeaderName::from_static("ratelimit-policy"), &policy)
            .with(HeaderName::from_static("ratelimit"), &format!("\"key\";r=0;t={retry_after}"))
            .with(header::RETRY_AFTER, &retry_after.to_string())
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
            let response = error.into_response(&Method::GET);
            assert_eq!(response.status(), status);
            assert_eq!(response.headers().contains_key(header::RETRY_AFTER), status == 503);
        }
        assert_eq!(ApiError::unknown_path().cause(), None);
    }

    #[test]
    fn a_wrong_media_type_gets_the_header_of_its_method() {
        for (method, name) in
            [(Method::POST, "accept-post"), (Method::PATCH, "accept-patch"), (Method::PUT, "accept")]
        {
            let error = ApiError::new(ErrorCode::UnsupportedMediaType, "send JSON");
            let response = error.into_response(&method);
            let accept = response.headers().iter().filter(|(known, _)| known.as_str().starts_with("accept"));
            assert_eq!(accept.map(|(known, _)| known.as_str()).collect::<Vec<_>>(), [name]);
        }
    }
}
