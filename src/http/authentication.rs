//! Authentication with a bearer token (RFC 6750), and the request that an operation gets after it.

use std::sync::Arc;

use http::header::AUTHORIZATION;
use http::{HeaderMap, HeaderValue, Request};
use jiff::Timestamp;
use tokio::time::Instant;

use super::error::{ApiError, ErrorCode};
use crate::keys::{self, KeyId};
use crate::service::Service;

/// The name of the security scheme in the document (OpenAPI 3.0.3, Security Scheme Object).
pub const SCHEME_NAME: &str = "apiKey";
/// The type of the security scheme.
pub const SCHEME_TYPE: &str = "http";
/// The HTTP authentication scheme, compared without case.
pub const SCHEME: &str = "bearer";

/// A request with a valid API key. Only the [`Router`](super::Router) makes one, after authentication.
pub struct AuthenticatedRequest {
    /// What operations share.
    pub service: Arc<Service>,
    /// The API key of the client.
    pub client: KeyId,
    pub(super) head: Arc<Request<()>>,
    /// The path template of the operation.
    pub(super) template: &'static str,
    /// When the response is due.
    pub(super) deadline: Instant,
}

/// Returns the identifier of the API key in the headers of a request. Each failure is counted.
///
/// # Errors
/// 401 without a valid key, or the error of the store.
pub(super) async fn authenticate(service: &Service, headers: &HeaderMap) -> Result<KeyId, ApiError> {
    let missing = || {
        service.metrics.authentication_failed("missing");
        ApiError::new(ErrorCode::Unauthorized, "send an API key as \"Authorization: Bearer <key>\"")
            .with("WWW-Authenticate", "Bearer realm=\"animal-store\"")
    };
    // RFC 6750, section 3.1.
    let invalid = || {
        service.metrics.authentication_failed("invalid");
        ApiError::new(ErrorCode::Unauthorized, "this API key is unknown, expired or revoked")
            .with("WWW-Authenticate", "Bearer realm=\"animal-store\", error=\"invalid_token\"")
    };
    let mut fields = headers.get_all(AUTHORIZATION).iter();
    let field = fields.next().ok_or_else(missing)?;
    if fields.next().is_some() {
        return Err(invalid());
    }
    let token = bearer_token(field).ok_or_else(missing)?;
    // A malformed key is not looked up.
    let hash = keys::hash(token).ok_or_else(invalid)?;
    let key = keys::authenticate(&service.store, &hash, Timestamp::now()).await;
    key.map_err(|error| ApiError::from(error).during("authentication"))?.ok_or_else(invalid)
}

/// Returns the bearer token of an `Authorization` header (RFC 6750, section 2.1).
fn bearer_token(field: &HeaderValue) -> Option<&str> {
    let (scheme, token) = field.to_str().ok()?.split_once(' ')?;
    let token = token.trim_matches(' ');
    (scheme.eq_ignore_ascii_case(SCHEME) && !token.is_empty()).then_some(token)
}
