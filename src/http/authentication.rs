//! Authentication with a bearer token (RFC 6750).

use http::HeaderMap;
use http::header::AUTHORIZATION;
use jiff::Timestamp;

use super::error::ApiError;
use crate::keys::{self, KeyId};
use crate::service::Service;

/// The name of the security scheme in the document (OpenAPI 3.0.3, Security Scheme Object).
pub const SCHEME_NAME: &str = "apiKey";
/// The type of the security scheme.
pub const SCHEME_TYPE: &str = "http";
/// The HTTP authentication scheme, compared without case.
pub const SCHEME: &str = "bearer";

/// Returns the identifier of the API key in the headers of a request. Each failure is counted.
///
/// # Errors
/// [`ApiError::MissingKey`], [`ApiError::InvalidKey`], or the error of the store.
pub(super) async fn authenticate(service: &Service, headers: &HeaderMap) -> Result<KeyId, ApiError> {
    let failed = |error| {
        let is_missing = matches!(error, ApiError::MissingKey);
        service.metrics.authentication_failed(if is_missing { "missing" } else { "invalid" });
        error
    };
    let token = bearer_token(headers).map_err(failed)?;
    // A malformed key is not looked up.
    let hash = keys::hash(token).ok_or_else(|| failed(ApiError::InvalidKey))?;
    let key = keys::authenticate(&service.store, &hash, Timestamp::now()).await;
    key.map_err(ApiError::Authentication)?.ok_or_else(|| failed(ApiError::InvalidKey))
}

/// Returns the bearer token of the `Authorization` header (RFC 6750, section 2.1). Two such headers are
/// invalid.
fn bearer_token(headers: &HeaderMap) -> Result<&str, ApiError> {
    let mut values = headers.get_all(AUTHORIZATION).iter();
    let value = values.next().ok_or(ApiError::MissingKey)?;
    if values.next().is_some() {
        return Err(ApiError::InvalidKey);
    }
    let (scheme, token) = value.to_str().ok().and_then(|value| value.split_once(' ')).unwrap_or_default();
    let token = token.trim_matches(' ');
    if !scheme.eq_ignore_ascii_case(SCHEME) || token.is_empty() {
        return Err(ApiError::MissingKey);
    }
    Ok(token)
}
