//! Formats keys and values like those around them.

use serde_json::Value;

use crate::text::{self, Node};

/// Formats a key, with the quotes of an existing key.
pub(super) fn key_like(sample: &str, name: &str) -> String {
    match sample.chars().next() {
        Some('"') => json(name),
        Some('\'') => format!("'{}'", name.replace('\'', "''")),
        // Outside of flow collections, a path needs no quotes for its braces.
        Some('/') if sample.contains('{') && is_plain(&name.replace(['{', '}'], "")) => name.to_owned(),
        _ => plain(name),
    }
}

/// Formats a value on one line. A string has the quotes of an existing one, and so have the strings in a collection if
/// they are those of JSON.
pub(super) fn flow(value: &Value, sample: &str) -> String {
    let inner = if sample.starts_with('"') { "\"" } else { "" };
    match value {
        Value::String(text) => key_like(sample, text),
        Value::Array(items) => {
            let items: Vec<String> = items.iter().map(|item| flow(item, inner)).collect();
            format!("[{}]", items.join(", "))
        }
        Value::Object(entries) if entries.is_empty() => "{}".to_owned(),
        Value::Object(entries) => {
            let entries: Vec<String> = entries
                .iter()
                .map(|(key, value)| format!("{}: {}", key_like(inner, key), flow(value, inner)))
                .collect();
            format!("{{ {} }}", entries.join(", "))
        }
        other => other.to_string(),
    }
}

/// Formats a list or mapping in block style, one line for each item or entry. The first line has no indentation.
pub(super) fn block(value: &Value, indent: &str) -> Option<String> {
    let lines: Vec<String> = match value {
        Value::Array(items) => items.iter().map(|item| format!("- {}", flow(item, ""))).collect(),
        Value::Object(entries) => {
            entries.iter().map(|(key, value)| format!("{}: {}", plain(key), flow(value, "'"))).collect()
        }
        _ => Vec::new(),
    };
    (!lines.is_empty()).then(|| lines.join(&format!("\n{indent}")))
}

/// Formats a text as the content of a literal block scalar (YAML 1.2.2, section 8.1.2). The first line has no indentation.
pub(super) fn literal(text: &str, indent: &str) -> String {
    let line = |line: &str| if line.is_empty() { String::new() } else { format!("{indent}{line}") };
    let lines: Vec<String> = text.trim_end_matches('\n').split('\n').map(line).collect();
    lines.join("\n").split_off(if lines[0].is_empty() { 0 } else { indent.len() })
}

/// Formats a string for YAML: without quotes if it stays the same string.
fn plain(text: &str) -> String {
    match text {
        _ if is_plain(text) => text.to_owned(),
        _ if text.contains(char::is_control) => json(text),
        _ => format!("'{}'", text.replace('\'', "''")),
    }
}

/// Whether a text without quotes is the same string, also in a flow collection.
fn is_plain(text: &str) -> bool {
    let is_same = |node: &Node| node.as_str() == Some(text);
    text != "<<"
        && !text.contains(['\n', ',', '[', ']', '{', '}', '#', ':', '"', '\''])
        && text::read(text).is_ok_and(|node| is_same(&node))
}

fn json(text: &str) -> String {
    Value::from(text).to_string()
}
