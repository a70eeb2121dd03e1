//! Data of the two documents, compared as data: order of keys, spelling of numbers and layout do not count.

use std::cmp::Ordering;

use crate::document::{Node, Value};

use crate::finding::shortened;

/// Whether two values are the same data.
pub(super) fn same(one: &Node, other: &Node) -> bool {
    match (&one.value, &other.value) {
        (Value::Null, Value::Null) => true,
        (Value::Bool(one), Value::Bool(other)) => one == other,
        (Value::Number(one), Value::Number(other)) => number(one) == number(other),
        (Value::String(one), Value::String(other)) => one == other,
        (Value::Sequence(ones), Value::Sequence(others)) => {
            ones.len() == others.len() && ones.iter().zip(others).all(|(one, other)| same(one, other))
        }
        (Value::Mapping(ones), Value::Mapping(others)) => {
            let (ones, others) = (ones.entries(), others);
            let has =
                |key: &str, value: &Node| others.get(key).is_some_and(|other| same(value, &other.value));
            ones.len() == others.entries().len() && ones.iter().all(|entry| has(&entry.key, &entry.value))
        }
        _ => false,
    }
}

/// The value as JSON that is the same text whenever the data is the same.
pub(super) fn canonical(node: &Node) -> String {
    match &node.value {
        Value::Null => "null".to_owned(),
        Value::Bool(bool) => bool.to_string(),
        Value::Number(value) => number(value),
        Value::String(text) => quoted(text),
        Value::Sequence(items) => {
            let items: Vec<_> = items.iter().map(canonical).collect();
            format!("[{}]", items.join(", "))
        }
        Value::Mapping(mapping) => {
            let entries = mapping.entries().iter();
            let mut entries: Vec<_> =
                entries.map(|entry| format!("{}: {}", quoted(&entry.key), canonical(&entry.value))).collect();
            entries.sort_unstable();
            format!("{{{}}}", entries.join(", "))
        }
    }
}

/// The value as a person would write it in a sentence.
pub(super) fn shown(node: &Node) -> String {
    match &node.value {
        Value::String(text) => format!("`{}`", shortened(text)),
        _ => shortened(&canonical(node)),
    }
}

/// Which of two numbers is the greater; `None` if one is no number. Integers of 64 bits are compared exactly.
pub(super) fn order(one: &Node, other: &Node) -> Option<Ordering> {
    let (Value::Number(one), Value::Number(other)) = (&one.value, &other.value) else { return None };
    match (one.as_i128(), other.as_i128()) {
        (Some(one), Some(other)) => Some(one.cmp(&other)),
        _ => one.as_f64()?.partial_cmp(&other.as_f64()?),
    }
}

fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

/// 1 and 1.0 are one number.
fn number(number: &serde_json::Number) -> String {
    const EXACT: f64 = 9_007_199_254_740_992.0;
    match number.as_f64() {
        Some(float) if number.is_f64() && float.fract() == 0.0 && float.abs() < EXACT => {
            format!("{float:.0}")
        }
        _ => number.to_string(),
    }
}
