//! Requests that RFC 9112 forbids and that hyper accepts.
//!
//! Two programs that read such a request differently can be attacked through the difference (section 11.2).

use http::Version;
use http::header::{HOST, HeaderValue, TRANSFER_ENCODING};
use http::request::Parts;
use http::uri::Authority;

use super::error::ApiError;

/// Fails for a request that must not be processed.
pub(super) fn malformed(Parts { version, headers, .. }: &Parts) -> Result<(), ApiError> {
    let mut hosts = headers.get_all(HOST).iter();
    let is_host = |host: &HeaderValue| {
        Authority::try_from(host.as_bytes()).is_ok_and(|host| !host.as_str().contains('@'))
    };
    // RFC 9112, section 3.2.
    if *version == Version::HTTP_11 && !(hosts.next().is_some_and(is_host) && hosts.next().is_none()) {
        return Err(ApiError::InvalidParameter(
            "the request must have one Host header, with a valid value".into(),
        ));
    }
    let mut codings = headers.get_all(TRANSFER_ENCODING).iter();
    let is_chunked = |coding: &HeaderValue| coding.as_bytes().eq_ignore_ascii_case(b"chunked");
    // RFC 9112, section 6.1. hyper removes a `Content-Length` beside it.
    if codings.next().is_some_and(|coding| !is_chunked(coding) || codings.next().is_some()) {
        return Err(ApiError::InvalidBody("the only Transfer-Encoding of a request is chunked".into()));
    }
    Ok(())
}
