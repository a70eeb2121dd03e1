//! The checks of the head of a request, authentication with a bearer token (RFC 6750), and the request that an operation
//! gets after them.
//!
//! The head must not be one that RFC 9110 and RFC 9112 forbid and that hyper accepts: two programs that read such a request
//! differently can be attacked through the difference (RFC 9112, section 11.2).

use std::sync::Arc;

use http::header::{AUTHORIZATION, HOST, TRANSFER_ENCODING};
use http::uri::{Authority, Scheme};
use http::{HeaderMap, HeaderValue, Request, Uri, Version};
use jiff::Timestamp;
use tokio::time::Instant;

use super::error::{ApiError, ErrorCode};
use crate::keys::{self, KeyId};
use crate::service::Service;

/// The name of the security scheme in the document (OpenAPI 3.0.3, Security Scheme Object).
pub(super) const SCHEME_NAME: &str = "apiKey";
/// The type of the security scheme.
pub(super) const SCHEME_TYPE: &str = "http";
/// The HTTP authentication scheme, compared without case.
pub(super) const SCHEME: &str = "bearer";

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
    let rejected = |message| {
        service.metrics.authentication_failed("invalid");
        ApiError::new(ErrorCode::Unauthorized, message)
            .with("WWW-Authenticate", "Bearer realm=\"animal-store\", error=\"invalid_token\"")
    };
    let mut fields = headers.get_all(AUTHORIZATION).iter();
    let field = fields.next().ok_or_else(missing)?;
    if fields.next().is_some() {
        return Err(rejected("send only one Authorization header"));
    }
    let token = bearer_token(field).ok_or_else(missing)?;
    let invalid = || rejected("this API key is unknown, expired or revoked");
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

/// Checks that the head of a request is one that may be processed.
///
/// # Errors
/// What its client must change.
pub fn check_head<B>(request: &Request<B>) -> Result<(), ApiError> {
    if !is_valid_target(request.uri()) {
        let message = "the target must be a path, or an http or https URL without user information";
        return Err(ApiError::new(ErrorCode::InvalidParameter, message));
    }
    if !has_valid_host(request) {
        let message =
            "the request must have one Host header, with a valid value that is also that of :authority";
        return Err(ApiError::new(ErrorCode::InvalidParameter, message));
    }
    let mut codings = request.headers().get_all(TRANSFER_ENCODING).iter();
    let is_chunked = |coding: &HeaderValue| coding.as_bytes().eq_ignore_ascii_case(b"chunked");
    // RFC 9112, section 6.1. hyper removes a `Content-Length` beside it.
    if codings.next().is_some_and(|coding| !is_chunked(coding) || codings.next().is_some()) {
        let message = "the only Transfer-Encoding of a request is chunked";
        // The end of the request is uncertain.
        return Err(ApiError::new(ErrorCode::InvalidBody, message).with("Connection", "close"));
    }
    Ok(())
}

/// HTTP/1.1 needs one `Host` (RFC 9112, section 3.2). Over HTTP/2, `:authority` replaces it, and both must agree (RFC 9113,
/// section 8.3.1). HTTP/1.0 has none.
fn has_valid_host<B>(request: &Request<B>) -> bool {
    if !request.headers().contains_key(HOST) {
        return match request.version() {
            Version::HTTP_11 => false,
            Version::HTTP_2 => request.uri().authority().is_some(),
            _ => true,
        };
    }
    let is_expected = |host: Authority| {
        request.version() != Version::HTTP_2 || request.uri().authority().is_none_or(|it| *it == host)
    };
    host(request.headers()).is_some_and(is_expected)
}

/// User information is for other schemes (RFC 9110, section 4.2.4). The service has no other resources than those of
/// HTTP.
fn is_valid_target(uri: &Uri) -> bool {
    uri.scheme().is_none_or(|scheme| [Scheme::HTTP, Scheme::HTTPS].contains(scheme))
        && uri.authority().is_none_or(has_no_user)
}

/// Returns the value of the only `Host`. `None` if there is another number of them, or it is invalid.
pub fn host(headers: &HeaderMap) -> Option<Authority> {
    let mut hosts = headers.get_all(HOST).iter();
    let host = hosts.next().filter(|_| hosts.next().is_none())?;
    Authority::try_from(host.as_bytes()).ok().filter(has_no_user).filter(has_valid_port)
}

/// A port may be empty (RFC 3986, section 3.2.3).
fn has_valid_port(authority: &Authority) -> bool {
    let port = authority.as_str().strip_prefix(authority.host()).unwrap_or_default().trim_start_matches(':');
    port.bytes().all(|digit| digit.is_ascii_digit()) && (port.is_empty() || port.parse::<u16>().is_ok())
}

fn has_no_user(authority: &Authority) -> bool {
    !authority.as_str().contains('@')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_version_has_at_most_one_valid_host() {
        for (version, target, hosts, is_valid) in [
            (Version::HTTP_10, "/", &[][..], true),
            (Version::HTTP_10, "/", &["a", "a"], false),
            (Version::HTTP_11, "/", &[], false),
            (Version::HTTP_11, "/", &["a"], true),
            (Version::HTTP_11, "/", &["a", "a"], false),
            (Version::HTTP_11, "/", &["a:"], true),
            (Version::HTTP_11, "/", &["[::1]:80"], true),
            (Version::HTTP_11, "/", &["a:x"], false),
            (Version::HTTP_11, "/", &["a:+80"], false),
            (Version::HTTP_11, "/", &["a:65536"], false),
            (Version::HTTP_11, "http://b/", &["a"], true),
            (Version::HTTP_2, "/", &[], false),
            (Version::HTTP_2, "https://a/", &[], true),
            (Version::HTTP_2, "https://a/", &["A"], true),
            (Version::HTTP_2, "https://a/", &["a", "a"], false),
            (Version::HTTP_2, "https://a/", &["b"], false),
            (Version::HTTP_2, "https://a/", &["a b"], false),
        ] {
            let request = hosts
                .iter()
                .fold(Request::get(target).version(version), |request, host| request.header(HOST, *host));
            let found = check_head(&request.body(()).unwrap());
            assert_eq!(found.is_ok(), is_valid, "{version:?} {target} {hosts:?}");
        }
    }
}
