//! Which representation of a file a client gets (RFC 9110, section 12.5).

use http::header::{self, HeaderMap, HeaderName};

/// Returns the weight of a coding in `Accept-Encoding`, in thousandths. 0 means that the client does not accept it.
pub(super) fn encoding_weight(headers: &HeaderMap, coding: &str) -> u16 {
    let listed = listed(headers, &header::ACCEPT_ENCODING);
    let of = |name: &str| {
        listed.iter().find(|(known, _)| known.eq_ignore_ascii_case(name)).map(|(_, weight)| *weight)
    };
    // A client that names no coding may not know any.
    let otherwise = if coding == "identity" { 1 } else { 0 };
    of(coding).or_else(|| of("*")).unwrap_or(otherwise)
}

/// Whether a client is a browser, which names HTML in `Accept` and prefers it to JSON.
pub(super) fn prefers_html(headers: &HeaderMap) -> bool {
    let listed = listed(headers, &header::ACCEPT);
    let weight = |kind: &str| {
        let found = listed.iter().find(|(known, _)| known.eq_ignore_ascii_case(kind));
        found.map_or(0, |(_, weight)| *weight)
    };
    weight("text/html") > weight("application/json")
}

/// Returns the values of a header, each with its weight in thousandths.
fn listed<'h>(headers: &'h HeaderMap, name: &HeaderName) -> Vec<(&'h str, u16)> {
    let lines = headers.get_all(name).iter().filter_map(|line| line.to_str().ok());
    let weighted = |value: &'h str| {
        let mut parts = value.split(';').map(str::trim);
        let name = parts.next().unwrap_or_default();
        let weight = parts.find_map(|part| part.strip_prefix("q=").or_else(|| part.strip_prefix("Q=")));
        let weight = weight.and_then(|weight| weight.parse::<f32>().ok()).unwrap_or(1.0);
        (name, (weight.clamp(0.0, 1.0) * 1000.0) as u16)
    };
    lines.flat_map(|line| line.split(',')).map(weighted).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn weights(accepted: &[&str]) -> [u16; 3] {
        let mut headers = HeaderMap::new();
        for line in accepted {
            headers.append(header::ACCEPT_ENCODING, line.parse().unwrap());
        }
        ["br", "gzip", "identity"].map(|coding| encoding_weight(&headers, coding))
    }

    #[test]
    fn only_browsers_prefer_html() {
        for (accepted, expected) in [
            ("text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8", true),
            ("application/json, text/html;q=0.9", false),
            ("*/*", false),
            ("text/html;q=0", false),
            ("text/plain", false),
        ] {
            let headers = HeaderMap::from_iter([(header::ACCEPT, accepted.parse().unwrap())]);
            assert_eq!(prefers_html(&headers), expected, "{accepted}");
        }
    }

    #[test]
    fn codings_have_the_weights_that_the_client_sent() {
        for (accepted, expected) in [
            (&[][..], [0, 0, 1]),
            (&[""], [0, 0, 1]),
            (&["gzip, deflate, br, zstd"], [1000, 1000, 1]),
            (&["gzip;q=0.5 , BR; q=0.25"], [250, 500, 1]),
            (&["gzip", "br"], [1000, 1000, 1]),
            (&["*"], [1000, 1000, 1000]),
            (&["*;q=0, gzip"], [0, 1000, 0]),
            (&["identity, *;q=0.1"], [100, 100, 1000]),
            (&["br;q=nonsense, gzip;q=7"], [1000, 1000, 1]),
        ] {
            assert_eq!(weights(accepted), expected, "{accepted:?}");
        }
    }
}
