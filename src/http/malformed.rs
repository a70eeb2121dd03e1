//! Requests that RFC 9112 forbids and that hyper accepts.
//!
//! Two programs that read such a request differently can be attacked through the difference (section 11.2).

use dropshot::Body;
use http::header::{HOST, TRANSFER_ENCODING};
use http::uri::Authority;
use http::{HeaderMap, Request, Version};

use super::error::ApiError;

/// Returns the error for a request that must not be processed.
pub(super) fn malformed(request: &Request<Body>) -> Option<ApiError> {
    if request.version() == Version::HTTP_11 && !has_one_host(request.headers()) {
        // RFC 9112, section 3.2.
        return Some(ApiError::InvalidParameter(
            "the request must have one Host header, with a valid value".into(),
        ));
    }
    let mut codings = request.headers().get_all(TRANSFER_ENCODING).iter();
    let coding = codings.next()?;
    // RFC 9112, section 6.1. hyper removes a `Content-Length` beside it.
    let only_chunked = codings.next().is_none() && coding.as_bytes().eq_ignore_ascii_case(b"chunked");
    (!only_chunked)
        .then(|| ApiError::InvalidBody("the only Transfer-Encoding of a request is chunked".into()))
}

/// Whether there is one `Host` header, and it is a host with an optional port.
fn has_one_host(headers: &HeaderMap) -> bool {
    let mut hosts = headers.get_all(HOST).iter();
    let (Some(host), None) = (hosts.next(), hosts.next()) else { return false };
    is_plain_host(host.as_bytes())
        || Authority::try_from(host.as_bytes()).is_ok_and(|host| !host.as_str().contains('@'))
}

/// Whether `host` is a name or an IPv4 address and perhaps a port, as nearly every host is. The parser of [`Authority`]
/// copies it, and takes several times the instructions.
fn is_plain_host(host: &[u8]) -> bool {
    let (name, port) = match host.iter().position(|byte| *byte == b':') {
        Some(colon) => (&host[..colon], &host[colon + 1..]),
        None => (host, &b"0"[..]),
    };
    let is_name = name
        .iter()
        .fold(true, |is_name, byte| is_name & (byte.is_ascii_alphanumeric() | matches!(byte, b'-' | b'.')));
    !name.is_empty() && is_name && (1..=5).contains(&port.len()) && port.iter().all(u8::is_ascii_digit)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn names_and_ipv4_addresses_are_plain() {
        for host in ["localhost", "127.0.0.1:8080", "animals.example.org", "a-b.c:443"] {
            assert!(is_plain_host(host.as_bytes()), "{host}");
        }
        for host in ["", ":80", "a:", "a:b", "a:123456", "a:1:2", "[::1]", "user@a", "a b", "a_b", "é"] {
            assert!(!is_plain_host(host.as_bytes()), "{host}");
        }
    }

    proptest! {
        #[test]
        fn a_plain_host_is_an_authority(host in "[a-zA-Z0-9.-]{1,70}(:[0-9]{1,5})?") {
            prop_assert!(is_plain_host(host.as_bytes()));
            prop_assert!(Authority::try_from(host.as_bytes()).is_ok());
        }
    }
}
