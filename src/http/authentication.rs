//! Authentication with a bearer token (RFC 6750).

use std::net::IpAddr;

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

/// Returns the identifier of the API key in the headers of a request from `client`.
///
/// # Errors
/// [`ApiError::MissingKey`], [`ApiError::InvalidKey`], [`ApiError::TooManyFailures`], or the error of the store.
pub(super) async fn authenticate(
    service: &Service,
    client: IpAddr,
    headers: &HeaderMap,
) -> Result<KeyId, ApiError> {
    let counted = |error| {
        let is_missing = matches!(error, ApiError::MissingKey);
        service.metrics.authentication_failed(if is_missing { "missing" } else { "invalid" });
        error
    };
    let token = bearer_token(headers).map_err(counted)?;
    let hash = keys::hash(token);
    if let Some(limiter) = &service.failure_limiter {
        limiter.check(client, hash.as_ref()).map_err(ApiError::TooManyFailures)?;
    }
    if let Some(hash) = &hash {
        let key = keys::authenticate(&*service.store, hash, Timestamp::now()).await;
        if let Some(key) = key.map_err(ApiError::Authentication)? {
            if let Some(limiter) = &service.failure_limiter {
                limiter.succeeded(hash);
            }
            return Ok(key);
        }
    }
    if let Some(limiter) = &service.failure_limiter {
        limiter.failed(client, hash.as_ref()).map_err(ApiError::TooManyFailures)?;
    }
    Err(counted(ApiError::InvalidKey))
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
