//! Requests that RFC 9110 and RFC 9112 forbid and that hyper accepts.
//!
//! Two programs that read such a request differently can be attacked through the difference (RFC 9112, section 11.2).

use http::header::{HOST, HeaderMap, HeaderValue, TRANSFER_ENCODING};
use http::uri::{Authority, Scheme};
use http::{Request, Uri, Version};

use super::error::ApiError;

/// Checks that a request may be processed.
///
/// # Errors
/// What its client must change.
pub fn malformed<B>(request: &Request<B>) -> Result<(), ApiError> {
    if !is_valid_target(request.uri()) {
        return Err(ApiError::InvalidParameter(
            "the target must be a path, or an http or https URL without user information".into(),
        ));
    }
    let hosts: Vec<_> = request.headers().get_all(HOST).iter().collect();
    let authority = request.uri().authority();
    // RFC 9113, section 8.3.1. Over HTTP/1.1, a target with a host overrides `Host` (RFC 9112, section 3.2.2).
    if request.version() == Version::HTTP_2
        && (hosts.len() > 1 || hosts.first().zip(authority).is_some_and(|(host, it)| it.as_str() != **host))
    {
        return Err(ApiError::InvalidParameter("Host and :authority must be the same host".into()));
    }
    // RFC 9112, section 3.2.
    if request.version() == Version::HTTP_11 && host(request.headers()).is_none() {
        return Err(ApiError::InvalidParameter(
            "the request must have one Host header, with a valid value".into(),
        ));
    }
    let mut codings = request.headers().get_all(TRANSFER_ENCODING).iter();
    let is_chunked = |coding: &HeaderValue| coding.as_bytes().eq_ignore_ascii_case(b"chunked");
    // RFC 9112, section 6.1. hyper removes a `Content-Length` beside it.
    if codings.next().is_some_and(|coding| !is_chunked(coding) || codings.next().is_some()) {
        return Err(ApiError::TransferEncoding);
    }
    Ok(())
}

/// User information is for other schemes (RFC 9110, section 4.2.4). The service has no other resources than those of
/// HTTP.
fn is_valid_target(uri: &Uri) -> bool {
    uri.scheme().is_none_or(|scheme| [Scheme::HTTP, Scheme::HTTPS].contains(scheme))
        && uri.authority().is_none_or(has_no_user)
}

/// Returns the value of the only `Host`. `None` if there is another number of them, or it is invalid.
pub(crate) fn host(headers: &HeaderMap) -> Option<Authority> {
    let mut hosts = headers.get_all(HOST).iter();
    let host = hosts.next().filter(|_| hosts.next().is_none())?;
    Authority::try_from(host.as_bytes()).ok().filter(has_no_user)
}

fn has_no_user(authority: &Authority) -> bool {
    !authority.as_str().contains('@')
}
