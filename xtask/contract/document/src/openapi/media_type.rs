//! Names of media types.

use std::collections::BTreeMap;

/// Returns a media type in normal form. Case and spaces have no meaning (RFC 9110, section 8.3.1), and the
/// `charset` of JSON has none (RFC 8259, section 11).
pub fn normal_media_type(written: &str) -> String {
    let mut parts = written.split(';').map(str::trim);
    let name = parts.next().unwrap_or_default().to_ascii_lowercase().replace(char::is_whitespace, "");
    let is_json = is_json(&name);
    let parameters = parts.filter_map(|part| part.split_once('=')).map(|(key, value)| {
        let (key, value) = (key.trim().to_ascii_lowercase(), value.trim().trim_matches('"'));
        let value = if key == "charset" { value.to_ascii_lowercase() } else { value.to_owned() };
        (key, value)
    });
    let parameters: BTreeMap<_, _> = parameters.filter(|(key, _)| !(is_json && key == "charset")).collect();
    parameters.iter().fold(name, |name, (key, value)| format!("{name};{key}={value}"))
}

/// Whether a media type is JSON (RFC 8259, RFC 6839).
pub fn is_json(name: &str) -> bool {
    let name = name.split(';').next().unwrap_or_default().trim_end().to_ascii_lowercase();
    name.ends_with("/json") || name.ends_with("+json")
}

/// Returns the media types and ranges that cover a media type in normal form, the nearest first: itself, without
/// parameters, `application/*`, `*/*` (section 4.7.14, `content`).
pub fn covering_media_types(normal: &str) -> Vec<String> {
    let name = normal.split(';').next().unwrap_or_default();
    let range = format!("{}/*", name.split('/').next().unwrap_or_default());
    let mut keys = vec![normal.to_owned(), name.to_owned(), range, "*/*".to_owned()];
    keys.dedup();
    keys
}
