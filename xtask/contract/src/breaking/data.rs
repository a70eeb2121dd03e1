//! Values of the two documents as data: the order of keys and the spelling of numbers do not count.

use std::cmp::Ordering;
use std::collections::{HashMap, VecDeque};
use std::hash::Hash;

use crate::document::{Node, Value};

use crate::finding::shortened;

/// Whether two values are the same data.
pub(super) fn same(one: &Node, other: &Node) -> bool {
    canonical(one) == canonical(other)
}

/// Whether both are missing, or are the same data.
pub(super) fn same_or_missing(one: Option<&Node>, other: Option<&Node>) -> bool {
    match (one, other) {
        (Some(one), Some(other)) => same(one, other),
        (one, other) => one.is_none() && other.is_none(),
    }
}

/// Pairs the items of two lists by key: those of the first list in its order, then what is only in the second.
pub(super) fn pairs<K: Hash + Eq, T: Copy>(
    ones: impl IntoIterator<Item = (K, T)>,
    others: impl IntoIterator<Item = (K, T)>,
) -> Vec<(Option<T>, Option<T>)> {
    let others: Vec<(K, T)> = others.into_iter().collect();
    let mut positions: HashMap<&K, VecDeque<usize>> = HashMap::new();
    for (position, (key, _)) in others.iter().enumerate() {
        positions.entry(key).or_default().push_back(position);
    }
    let mut left = vec![true; others.len()];
    let mut pairs = Vec::new();
    for (key, one) in ones {
        let position = positions.get_mut(&key).and_then(VecDeque::pop_front);
        pairs.push((Some(one), position.map(|position| others[position].1)));
        if let Some(position) = position {
            left[position] = false;
        }
    }
    let new = others.iter().zip(&left).filter(|(_, left)| **left);
    pairs.extend(new.map(|((_, other), _)| (None, Some(*other))));
    pairs
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

/// The value in a sentence.
pub(super) fn shown(node: &Node) -> String {
    match &node.value {
        Value::String(text) => format!("`{}`", shortened(text)),
        _ => shortened(&canonical(node)),
    }
}

/// Compares two numbers; `None` if one is not a number. Integers of 64 bits are compared exactly.
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
