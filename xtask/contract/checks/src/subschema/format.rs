//! Formats of strings.

use super::shape::{Count, Text};

/// The formats of strings that OpenAPI or JSON Schema defines. `password` only says how a form shows the string.
const DEFINED: [&str; 17] = [
    "byte",
    "binary",
    "date",
    "date-time",
    "time",
    "email",
    "hostname",
    "idn-email",
    "idn-hostname",
    "ipv4",
    "ipv6",
    "iri",
    "iri-reference",
    "uri",
    "uri-reference",
    "uri-template",
    "uuid",
];

/// Whether a format restricts strings. A name that nobody defines is a note for people (OpenAPI 3.0.3, section 4.4: the
/// values of `format` are open).
pub(crate) fn restricts_strings(format: &str) -> bool {
    DEFINED.contains(&format)
}

/// Whether a text matches `format: byte` (RFC 4648, section 4).
pub(crate) fn is_base64(text: &str) -> bool {
    let data = text.trim_end_matches('=');
    let padding = text.len() - data.len();
    let digits = data.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"+/".contains(&byte));
    digits && padding <= 2 && text.len().is_multiple_of(4)
}

/// Returns the lengths that a text can have by its bounds and its formats. Where these contradict each other, only the
/// bounds count.
pub(super) fn length(text: &Text) -> Count {
    let length = with_formats(text);
    if length.is_empty() { text.length } else { length }
}

/// Whether the bounds of the length exclude every text in the formats.
pub(super) fn is_contradictory(text: &Text) -> bool {
    with_formats(text).is_empty()
}

fn with_formats(text: &Text) -> Count {
    let exactly = |length| Count { min: length, max: Some(length) };
    let formats = text.formats.iter().filter_map(|format| match format.as_str() {
        "uuid" => Some(exactly(36)),
        "date" => Some(exactly(10)),
        _ => None,
    });
    formats.fold(text.length, Count::and)
}
