//! Requests that RFC 9110 and RFC 9112 forbid and that hyper accepts.
//!
//! Two programs that read such a request differently can be attacked through the difference (RFC 9112, section 11.2).

use http::header::{HOST, HeaderMap, HeaderValue, TRANSFER_ENCODING};
use http::uri::{Authority, Scheme};
use http::{Request, Uri, Version};

use super::error::{ApiError, ErrorCode};

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
        return request.version() != Version::HTTP_11;
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
    Authority::try_from(host.as_bytes()).ok().filter(has_no_user)
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
            (Version::HTTP_11, "http://b/", &["a"], true),
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
