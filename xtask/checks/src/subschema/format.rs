//! Formats of strings: which texts have one, and how long they are.

use jsonschema::Draft;
use serde_json::{Value, json};

use super::shape::{Count, Text};

/// The formats of which it is known which texts have them.
const KNOWN: [&str; 10] =
    ["byte", "date", "date-time", "uuid", "email", "uri", "uri-reference", "hostname", "ipv4", "ipv6"];

/// Whether a format applies to strings only.
pub(super) fn applies_to_strings(format: &str) -> bool {
    KNOWN.contains(&format) || matches!(format, "binary" | "password")
}

/// Whether a text is known to have a format.
pub(super) fn has(format: &str, text: &str) -> bool {
    let is_valid = || {
        let options = jsonschema::options().with_draft(Draft::Draft201909).should_validate_formats(true);
        let validator = options.with_format("byte", is_base64).build(&json!({ "format": format }));
        validator.is_ok_and(|validator| validator.is_valid(&Value::from(text)))
    };
    format == "binary" || (KNOWN.contains(&format) && is_valid())
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
