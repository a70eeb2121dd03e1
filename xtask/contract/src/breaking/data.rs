//! Values of the two documents as data: the order of keys and the spelling of numbers do not count.

use std::cmp::Ordering;
use std::collections::{HashMap, VecDeque};
use std::hash::Hash;

use crate::document::{Node, Value};
use crate::finding::shortened;

/// Whether two values are the same data.
pub(super) fn same(one: &Node, other: &Node) -> bool {
    order(one, other) == Some(Ordering::Equal) || canonical(one) == canonical(other)
}

/// How a value changed, in a sentence that begins with its name. `None` if it is the same data.
pub(super) fn difference(name: &str, old: Option<&Node>, new: Option<&Node>) -> Option<String> {
    match (old, new) {
        (None, None) => None,
        (None, Some(new)) => Some(format!("{name} was set to {}", shown(new))),
        (Some(old), None) => Some(format!("{name} {} was removed", shown(old))),
        (Some(old), Some(new)) if same(old, new) => None,
        (Some(old), Some(new)) => Some(format!("{name} changed from {} to {}", shown(old), shown(new))),
    }
}

/// The items of two lists, paired by key.
pub(super) struct Paired<T> {
    pub(super) both: Vec<(T, T)>,
    pub(super) removed: Vec<T>,
    pub(super) added: Vec<T>,
}

/// Pairs the items of two lists by key, in the order of the lists.
pub(super) fn pairs<K: Hash + Eq, T: Copy>(
    ones: impl IntoIterator<Item = (K, T)>,
    others: impl IntoIterator<Item = (K, T)>,
) -> Paired<T> {
    let others: Vec<(K, T)> = others.into_iter().collect();
    let mut positions: HashMap<&K, VecDeque<usize>> = HashMap::new();
    for (position, (key, _)) in others.iter().enumerate() {
        positions.entry(key).or_default().push_back(position);
    }
    let mut left = vec![true; others.len()];
    let mut paired = Paired { both: Vec::new(), removed: Vec::new(), added: Vec::new() };
    for (key, one) in ones {
        match positions.get_mut(&key).and_then(VecDeque::pop_front) {
            Some(position) => {
                left[position] = false;
                paired.both.push((one, others[position].1));
            }
            None => paired.removed.push(one),
        }
    }
    let added = others.iter().zip(&left).filter(|(_, left)| **left);
    paired.added.extend(added.map(|((_, other), _)| *other));
    paired
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
        // Quoted where it could be taken for nothing or for another value.
        Value::String(text) if text.is_empty() || serde_json::from_str::<serde_json::Value>(text).is_ok() => {
            format!("`{}`", shortened(&quoted(text)))
        }
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
