//! Requests that RFC 9112 forbids and that hyper accepts.
//!
//! Two programs that read such a request differently can be attacked through the difference (section 11.2).

use http::header::{HOST, TRANSFER_ENCODING};
use http::request::Parts;
use http::uri::Authority;
use http::{HeaderMap, Version};

use super::error::ApiError;

/// Fails for a request that must not be processed.
pub(super) fn malformed(request: &Parts) -> Result<(), ApiError> {
    if request.version == Version::HTTP_11 && !has_one_host(&request.headers) {
        // RFC 9112, section 3.2.
        return Err(ApiError::InvalidParameter(
            "the request must have one Host header, with a valid value".into(),
        ));
    }
    let mut codings = request.headers.get_all(TRANSFER_ENCODING).iter();
    let Some(coding) = codings.next() else { return Ok(()) };
    // RFC 9112, section 6.1. hyper removes a `Content-Length` beside it.
    if codings.next().is_some() || !coding.as_bytes().eq_ignore_ascii_case(b"chunked") {
        return Err(ApiError::InvalidBody("the only Transfer-Encoding of a request is chunked".into()));
    }
    Ok(())
}

/// Whether there is one `Host` header, and it is a host with an optional port.
fn has_one_host(headers: &HeaderMap) -> bool {
    let mut hosts = headers.get_all(HOST).iter();
    let (Some(host), None) = (hosts.next(), hosts.next()) else { return false };
    Authority::try_from(host.as_bytes()).is_ok_and(|host| !host.as_str().contains('@'))
}
