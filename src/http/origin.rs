//! The address under which a client reaches the service, and pages that name it.
//!
//! `build.rs` compresses the text between the places of the address; here the address is put between these parts, so that
//! no request compresses anything.

use http::Request;
use http::header::{self, HeaderName};
use http::uri::Scheme;

/// The longest host name with a port (RFC 1035, section 2.3.4).
const LONGEST_HOST: usize = 255 + 6;
const X_FORWARDED_PROTO: HeaderName = HeaderName::from_static("x-forwarded-proto");

/// Returns the origin of the service as the client sees it, such as `https://animals.example.com`. A proxy says whether it
/// uses TLS where the service does not. Whoever sends a header
/// that is wrong gets a page with a wrong address, and nobody else does: the ETag depends on the address.
pub(super) fn origin(request: &Request<()>, own_scheme: &Scheme) -> String {
    let text = |name: &HeaderName| request.headers().get(name).and_then(|value| value.to_str().ok());
    let host = request.uri().authority().map(http::uri::Authority::as_str).or_else(|| text(&header::HOST));
    // The characters of names, addresses and ports; none of them ends a string of a shell or of a program.
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b".-_:[]".contains(&byte);
    let host =
        host.filter(|host| host.len() <= LONGEST_HOST && !host.is_empty() && host.bytes().all(is_plain));
    // The value that the first proxy appended: `https`, or `for=192.0.2.1;proto=https`.
    let names_https = |name: &HeaderName| {
        let first = text(name).and_then(|value| value.split(',').next()).unwrap_or_default();
        first.to_ascii_lowercase().contains("https")
    };
    let is_secure = names_https(&X_FORWARDED_PROTO) || names_https(&header::FORWARDED);
    let scheme = if is_secure { &Scheme::HTTPS } else { own_scheme };
    format!("{scheme}://{}", host.unwrap_or("localhost"))
}

/// Returns a filled page compressed by gzip (RFC 1952). `parts` are the texts between the places, each a series of blocks
/// of DEFLATE that ends at a byte.
pub(super) fn gzipped(page: &[u8], parts: &[&[u8]], origin: &str) -> Vec<u8> {
    // A block that is not compressed (RFC 1951, section 3.2.4). The length of an origin fits into 16 bits.
    let length = u16::try_from(origin.len()).unwrap_or_default();
    let mut stored = vec![0];
    stored.extend(length.to_le_bytes());
    stored.extend((!length).to_le_bytes());
    stored.extend(origin.as_bytes());
    // DEFLATE, no name, no time, the best compression, an unknown operating system.
    let mut content = vec![0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 2, 255];
    content.extend(parts.join(&stored[..]));
    // The last block, which is empty.
    content.extend([3, 0]);
    content.extend(crc32fast::hash(page).to_le_bytes());
    // Modulo 2^32, as the format demands.
    content.extend((page.len() as u32).to_le_bytes());
    content
}

#[cfg(test)]
mod tests {
    use http::Request;

    use super::*;

    fn origin_of(uri: &str, headers: &[(&str, &str)], own_scheme: &Scheme) -> String {
        let mut request = Request::get(uri);
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        origin(&request.body(()).unwrap(), own_scheme)
    }

    #[test]
    fn the_origin_is_that_of_the_client() {
        let long = "a".repeat(300);
        for (uri, headers, expected) in [
            ("/docs", &[("host", "animals.example.com:8080")][..], "http://animals.example.com:8080"),
            ("/docs", &[("host", "[::1]:80")], "http://[::1]:80"),
            ("http://animals.example.com/docs", &[], "http://animals.example.com"),
            ("/docs", &[("host", "a"), ("x-forwarded-proto", "https, http")], "https://a"),
            ("/docs", &[("host", "a"), ("x-forwarded-proto", "ftp")], "http://a"),
            (
                "/docs",
                &[("host", "a"), ("forwarded", "for=192.0.2.1;Proto=https, for=10.0.0.1")],
                "https://a",
            ),
            ("/docs", &[("host", "a"), ("forwarded", "for=192.0.2.1, proto=https")], "http://a"),
            ("/docs", &[("host", "a'$(reboot)")], "http://localhost"),
            ("/docs", &[("host", "<script>")], "http://localhost"),
            ("/docs", &[("host", &long)], "http://localhost"),
            ("/docs", &[], "http://localhost"),
        ] {
            assert_eq!(origin_of(uri, headers, &Scheme::HTTP), expected, "{uri} {headers:?}");
        }
        let proxied = [("host", "a"), ("x-forwarded-proto", "http")];
        assert_eq!(origin_of("/docs", &proxied, &Scheme::HTTPS), "https://a");
    }
}
