//! Values of the two documents as data: the order of keys and the spelling of numbers do not count.

use std::cmp::Ordering;
use std::collections::{HashMap, VecDeque};
use std::hash::Hash;

use document::shortened;
use document::{Node, Value};

use crate::subschema;

/// Whether two values are the same data.
pub(super) fn same(one: &Node, other: &Node) -> bool {
    order(one, other) == Some(Ordering::Equal) || canonical(one) == canonical(other)
}

/// Returns a sentence, beginning with `name`, about how a value changed. `None` if it is the same data.
pub(super) fn difference(name: &str, old: Option<&Node>, new: Option<&Node>) -> Option<String> {
    match (old, new) {
        (None, None) => None,
        (None, Some(new)) => Some(format!("{name} was set to {}", display(new))),
        (Some(old), None) => Some(format!("{name} {} was removed", display(old))),
        (Some(old), Some(new)) if same(old, new) => None,
        (Some(old), Some(new)) => Some(format!("{name} changed from {} to {}", display(old), display(new))),
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
    old: impl IntoIterator<Item = (K, T)>,
    new: impl IntoIterator<Item = (K, T)>,
) -> Paired<T> {
    let new: Vec<(K, T)> = new.into_iter().collect();
    let mut positions: HashMap<&K, VecDeque<usize>> = HashMap::new();
    for (position, (key, _)) in new.iter().enumerate() {
        positions.entry(key).or_default().push_back(position);
    }
    let mut left = vec![true; new.len()];
    let mut paired = Paired { both: Vec::new(), removed: Vec::new(), added: Vec::new() };
    for (key, item) in old {
        match positions.get_mut(&key).and_then(VecDeque::pop_front) {
            Some(position) => {
                left[position] = false;
                paired.both.push((item, new[position].1));
            }
            None => paired.removed.push(item),
        }
    }
    let added = new.iter().zip(&left).filter(|(_, left)| **left);
    paired.added.extend(added.map(|((_, other), _)| *other));
    paired
}

/// Returns the value as JSON. Equal data has equal text.
pub(super) fn canonical(node: &Node) -> String {
    subschema::canonical_node(node)
}

/// Returns the value for use in a sentence.
pub(super) fn display(node: &Node) -> String {
    match &node.value {
        // Quoted if the text is empty or reads like another JSON value.
        Value::String(text) if text.is_empty() || serde_json::from_str::<serde_json::Value>(text).is_ok() => {
            format!("`{}`", shortened(&canonical(node)))
        }
        Value::String(text) => format!("`{}`", shortened(text)),
        _ => shortened(&canonical(node)),
    }
}

/// Compares two numbers; `None` if one is not a number.
pub(super) fn order(one: &Node, other: &Node) -> Option<Ordering> {
    let (Value::Number(one), Value::Number(other)) = (&one.value, &other.value) else { return None };
    match (subschema::exact(one), subschema::exact(other)) {
        (Some(one), Some(other)) => Some(one.cmp(&other)),
        _ => one.as_f64()?.partial_cmp(&other.as_f64()?),
    }
}
