//! Which representation of a file a client gets (RFC 9110, section 12.5).

use http::header::{HeaderMap, HeaderName};

/// Whether `header`, such as `Accept-Encoding`, lists a value, and not with the weight 0. A wildcard lists nothing.
pub(super) fn accepts(headers: &HeaderMap, header: &HeaderName, value: &str) -> bool {
    let lines = headers.get_all(header).iter().filter_map(|line| line.to_str().ok());
    lines.flat_map(|line| line.split(',')).any(|listed| {
        let mut parts = listed.split(';').map(str::trim);
        let weight = |part: &str| part.to_ascii_lowercase().strip_prefix("q=")?.parse::<f32>().ok();
        parts.next().is_some_and(|name| name.eq_ignore_ascii_case(value))
            && parts.find_map(weight) != Some(0.0)
    })
}

#[cfg(test)]
mod tests {
    use http::header::ACCEPT_ENCODING;

    use super::*;

    #[test]
    fn a_value_is_accepted_if_it_is_listed_with_a_weight_above_0() {
        for (lines, expected) in [
            (&[][..], [false, false]),
            (&[""], [false, false]),
            (&["gzip, deflate, br, zstd"], [true, true]),
            (&["gzip;q=0.5 , BR; q=0.25"], [true, true]),
            (&["gzip", "br"], [true, true]),
            (&["*"], [false, false]),
            (&["*;q=0, gzip"], [false, true]),
            (&["br;q=0, gzip;Q=0.0"], [false, false]),
            (&["br;q=nonsense, gzip;q=7"], [true, true]),
        ] {
            let mut headers = HeaderMap::new();
            for line in lines {
                headers.append(ACCEPT_ENCODING, line.parse().unwrap());
            }
            assert_eq!(["br", "gzip"].map(|it| accepts(&headers, &ACCEPT_ENCODING, it)), expected);
        }
    }
}
