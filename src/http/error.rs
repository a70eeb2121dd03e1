//! The errors of the API as responses.
//!
//! [`ApiError::into_response`] is the only place that gives an error its status, code, message and headers.

use std::borrow::Cow;
use std::fmt;

use dropshot::{ApiEndpointResponse, Body, ErrorStatusCode, HttpError, HttpResponse, HttpResponseError};
use http::header::{self, HeaderName, HeaderValue};
use http::{Response, StatusCode};

use super::MAX_BODY_BYTES;
use super::error_code::ErrorCode;
use crate::keys::KeyId;
use crate::rate_limit::{RateLimitExceeded, Scope};
use crate::schemas::Error;
use crate::storage::StoreError;
use crate::telemetry::metrics::AuthenticationFailure;

/// What the handler of an operation returns. Always `Ok`: dropshot would drop the headers of an `Err`.
pub type HandlerResult<T> = Result<OperationResponse<T>, Error>;

/// The response of an operation, and the key of the client.
#[derive(Debug)]
pub struct OperationResponse<T> {
    pub(super) result: Result<T, ApiError>,
    /// The key that the request was authenticated with, for the access log.
    pub(super) key: Option<KeyId>,
}

impl<T: HttpResponse> HttpResponse for OperationResponse<T> {
    fn to_result(self) -> Result<Response<Body>, HttpError> {
        let mut response = match self.result {
            Ok(success) => success.to_result()?,
            Err(error) => error.into_response(),
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
        match &self.result {
            Ok(success) => success.status_code(),
            Err(error) => error.code().status(),
        }
    }
}

// dropshot requires an error type of each handler, whose schema it puts into the document. Handlers never
// return it: `OperationResponse` contains the errors.
impl HttpResponseError for Error {
    fn status_code(&self) -> ErrorStatusCode {
        ErrorStatusCode::from_u16(self.status).unwrap_or(ErrorStatusCode::INTERNAL_SERVER_ERROR)
    }
}

impl From<HttpError> for Error {
    fn from(error: HttpError) -> Self {
        let status = error.status_code.as_u16();
        Self { code: ErrorCode::Internal.as_str().into(), message: "internal error".into(), status }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}: {}", self.status, self.code, self.message)
    }
}

/// An error of the API.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ApiError {
    /// A query parameter or a header is invalid. The message names it and says what is allowed.
    InvalidParameter(String),
    /// The body is invalid. The message names the field and says what is allowed.
    InvalidBody(String),
    /// The request has no valid API key.
    Unauthorized(AuthenticationFailure),
    /// There is no such path or resource. The message says which.
    NotFound(&'static str),
    /// The path exists, but not with this method.
    MethodNotAllowed {
        /// The value of `Allow`.
        allow: String,
    },
    /// The body did not arrive in time.
    RequestTimeout,
    /// The body is larger than [`MAX_BODY_BYTES`].
    BodyTooLarge,
    /// The `Content-Type` of the body is not JSON.
    UnsupportedMediaType,
    /// The `Idempotency-Key` was sent before with a different body.
    IdempotencyKeyReused,
    /// The API key or the client address exceeded its rate limit.
    RateLimited(RateLimitExceeded),
    /// The service failed.
    Internal,
    /// The service cannot respond in time.
    Unavailable,
    /// The store failed.
    Store {
        /// [`ErrorCode::Unavailable`] or [`ErrorCode::Internal`].
        code: ErrorCode,
        /// For the access log.
        cause: Cause,
    },
    /// The operation has no implementation. Only code from `cargo xtask scaffold` may return it: no operation
    /// can declare it, so the tests reject it as a status that the document does not have.
    NotImplemented,
}

/// Why the service did not respond as it should: one line for operators.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cause(pub String);

impl ApiError {
    /// Returns the error of a store that failed to check an API key.
    pub(super) fn authentication(error: &StoreError) -> Self {
        Self::store(error, format!("authentication: {error}"))
    }

    fn store(error: &StoreError, cause: String) -> Self {
        let code = match error {
            StoreError::Busy | StoreError::Unavailable(_) => ErrorCode::Unavailable,
            StoreError::Broken(_) => ErrorCode::Internal,
        };
        Self::Store { code, cause: Cause(cause) }
    }

    /// Returns the error code.
    pub fn code(&self) -> ErrorCode {
        match self {
            Self::InvalidParameter(_) => ErrorCode::InvalidParameter,
            Self::InvalidBody(_) => ErrorCode::InvalidBody,
            Self::Unauthorized(_) => ErrorCode::Unauthorized,
            Self::NotFound(_) => ErrorCode::NotFound,
            Self::MethodNotAllowed { .. } => ErrorCode::MethodNotAllowed,
            Self::RequestTimeout => ErrorCode::RequestTimeout,
            Self::BodyTooLarge => ErrorCode::BodyTooLarge,
            Self::UnsupportedMediaType => ErrorCode::UnsupportedMediaType,
            Self::IdempotencyKeyReused => ErrorCode::IdempotencyKeyReused,
            Self::RateLimited(_) => ErrorCode::RateLimited,
            Self::Internal => ErrorCode::Internal,
            Self::Unavailable => ErrorCode::Unavailable,
            Self::Store { code, .. } => *code,
            Self::NotImplemented => ErrorCode::NotImplemented,
        }
    }

    /// Returns the error as a response.
    pub fn into_response(self) -> Response<Body> {
        let code = self.code();
        let mut response = Response::new(Body::empty());
        *response.status_mut() = code.status();
        // For the access log.
        response.extensions_mut().insert(code);
        let error = match self {
            Self::Store { code, cause } => {
                response.extensions_mut().insert(cause);
                if code == ErrorCode::Unavailable { Self::Unavailable } else { Self::Internal }
            }
            Self::Unavailable => {
                response.extensions_mut().insert(Cause("the request reached its time limit".to_owned()));
                Self::Unavailable
            }
            error => error,
        };
        let headers = response.headers_mut();
        headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
        let mut header = |name: HeaderName, value: &'static str| {
            headers.insert(name, HeaderValue::from_static(value));
        };
        let message: Cow<'static, str> = match error {
            Self::InvalidParameter(message) | Self::InvalidBody(message) => message.into(),
            Self::NotFound(message) => message.into(),
            Self::Unauthorized(AuthenticationFailure::Missing) => {
                header(header::WWW_AUTHENTICATE, "Bearer realm=\"animal-store\"");
                "send an API key as \"Authorization: Bearer <key>\"".into()
            }
            Self::Unauthorized(AuthenticationFailure::Invalid) => {
                // RFC 6750, section 3.1.
                let challenge = "Bearer realm=\"animal-store\", error=\"invalid_token\"";
                header(header::WWW_AUTHENTICATE, challenge);
                "this API key is unknown, expired or revoked".into()
            }
            Self::MethodNotAllowed { allow } => {
                let message = format!("this path allows only {allow}");
                // The names of methods are always a header value.
                headers.extend(HeaderValue::try_from(allow).map(|allow| (header::ALLOW, allow)));
                message.into()
            }
            Self::RequestTimeout => {
                header(header::CONNECTION, "close");
                "the body did not arrive in time; send the request again".into()
            }
            Self::BodyTooLarge => format!("the body must not exceed {MAX_BODY_BYTES} bytes").into(),
            Self::UnsupportedMediaType => {
                header(HeaderName::from_static("accept-post"), "application/json");
                "send the body as \"Content-Type: application/json\", without a Content-Encoding".into()
            }
            Self::IdempotencyKeyReused => {
                "this Idempotency-Key was sent with a different animal; send a new key for each animal".into()
            }
            Self::RateLimited(RateLimitExceeded { scope, limit, retry_after }) => {
                let (name, exceeded) = match scope {
                    Scope::Key => ("key", "this API key exceeded its rate limit"),
                    Scope::Address => ("address", "this client address sent too many invalid API keys"),
                };
                // draft-ietf-httpapi-ratelimit-headers-10, sections 3 and 4.
                let policy = format!("\"{name}\";q={};w={}", limit.requests, limit.period.as_secs());
                let state = format!("\"{name}\";r=0;t={retry_after}");
                for (name, value) in [("ratelimit-policy", policy), ("ratelimit", state)] {
                    // Digits between constant text are always a header value.
                    headers
                        .extend(HeaderValue::try_from(value).map(|it| (HeaderName::from_static(name), it)));
                }
                headers.insert(header::RETRY_AFTER, HeaderValue::from(retry_after));
                format!("{exceeded}; try again in {retry_after} seconds").into()
            }
            Self::Internal | Self::Store { .. } => {
                "internal error; the log of the service has details under this x-request-id".into()
            }
            Self::Unavailable => {
                header(header::RETRY_AFTER, "1");
                "the service is temporarily unavailable; try again in a moment".into()
            }
            Self::NotImplemented => "this operation is not implemented yet".into(),
        };
        let error = Error { code: code.as_str().into(), message, status: code.status().as_u16() };
        // Two strings and a number always become JSON.
        *response.body_mut() = Body::from(serde_json::to_vec(&error).unwrap_or_default());
        response
    }
}

impl From<StoreError> for ApiError {
    fn from(error: StoreError) -> Self {
        Self::store(&error, error.to_string())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_response_to_a_failure_has_its_cause_for_the_log_only() {
        let full = || StoreError::Unavailable("its disk is full".to_owned());
        for (error, status, cause) in [
            (full().into(), 503, "the store is unavailable: its disk is full"),
            (
                ApiError::authentication(&full()),
                503,
                "authentication: the store is unavailable: its disk is full",
            ),
            (StoreError::Busy.into(), 503, "too many writes are waiting"),
            (
                StoreError::Broken("it is damaged".to_owned()).into(),
                500,
                "the store is broken: it is damaged",
            ),
            (ApiError::Unavailable, 503, "the request reached its time limit"),
        ] {
            let response = error.into_response();
            assert_eq!(response.status(), status);
            assert_eq!(response.extensions().get::<Cause>(), Some(&Cause(cause.to_owned())));
            assert_eq!(response.headers().contains_key(header::RETRY_AFTER), status == 503);
        }
    }
}
