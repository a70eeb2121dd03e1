//! Formats of strings.

use super::shape::{Count, Text};

/// Whether a format applies to strings only.
pub(super) fn applies_to_strings(format: &str) -> bool {
    const FORMATS: [&str; 12] = [
        "byte",
        "binary",
        "date",
        "date-time",
        "email",
        "hostname",
        "ipv4",
        "ipv6",
        "password",
        "uri",
        "uri-reference",
        "uuid",
    ];
    FORMATS.contains(&format)
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
