//! Formats of strings: which texts have one, and how long they are.

use std::net::{Ipv4Addr, Ipv6Addr};

use jiff::Timestamp;
use jiff::civil::Date;

use super::shape::{Count, Text};

/// Whether a text is known to have a format. Of a format that is not known, no text is.
pub(super) fn has(format: &str, text: &str) -> bool {
    match format {
        "binary" => true,
        "byte" => {
            let digits = text.trim_end_matches('=');
            let is_digit = |byte: u8| byte.is_ascii_alphanumeric() || b"+/-_".contains(&byte);
            text.len().is_multiple_of(4) && text.len() - digits.len() < 3 && digits.bytes().all(is_digit)
        }
        "date" => text.len() == "2026-01-01".len() && text.parse::<Date>().is_ok(),
        "date-time" => text.len() > "2026-01-01".len() && text.parse::<Timestamp>().is_ok(),
        "uuid" => {
            let is_hexadecimal = |group: &str| group.bytes().all(|byte| byte.is_ascii_hexdigit());
            text.split('-').map(str::len).eq([8, 4, 4, 4, 12]) && text.split('-').all(is_hexadecimal)
        }
        "email" => {
            let parts = text.rsplit_once('@').filter(|(name, host)| !name.is_empty() && !host.is_empty());
            parts.is_some() && !text.contains(char::is_whitespace)
        }
        "uri" => fluent_uri::Uri::parse(text).is_ok(),
        "uri-reference" => fluent_uri::UriRef::parse(text).is_ok(),
        "hostname" => text.split('.').all(|label| {
            let is_letter = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-';
            let dashed = label.starts_with('-') || label.ends_with('-');
            (1..64).contains(&label.len()) && label.bytes().all(is_letter) && !dashed
        }),
        "ipv4" => text.parse::<Ipv4Addr>().is_ok(),
        "ipv6" => text.parse::<Ipv6Addr>().is_ok(),
        _ => false,
    }
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
