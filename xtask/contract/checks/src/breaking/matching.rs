//! Pairs items of the two documents, also those whose keys are not equal.

use std::collections::{BTreeSet, HashMap};
use std::hash::Hash;

use document::openapi::Object;

use super::data::{Paired, pairs};

/// Pairs the items of two lists by key, and the unpaired ones by a second key. Returns the pairs by the first
/// key, and the result for the second.
pub(super) fn pairs_then<K: Hash + Eq, L: Hash + Eq, T: Copy>(
    old: impl IntoIterator<Item = (K, T)>,
    new: impl IntoIterator<Item = (K, T)>,
    second: impl Fn(T) -> L,
) -> (Vec<(T, T)>, Paired<T>) {
    let Paired { both, removed, added } = pairs(old, new);
    let keyed = |items: Vec<T>| items.into_iter().map(|item| (second(item), item)).collect::<Vec<_>>();
    (both, pairs(keyed(removed), keyed(added)))
}

/// Returns the keys that cover a key, the nearest first, beginning with the key itself.
type Covering = fn(&str) -> Vec<String>;

/// The items of two lists, matched by the keys that cover them.
pub(super) struct Matched<T> {
    pub(super) both: Vec<(T, T)>,
    pub(super) added: Vec<T>,
    /// The items that no key of the revision covers, and whether the revision has a part of each.
    pub(super) removed: Vec<(T, bool)>,
}

/// Matches keys of which one can cover others: statuses (`404`, `4XX`, `default`) and media types
/// (`application/json`, `application/*`). An item of one document is paired with the item of the other under the
/// nearest key that covers its key, so a key that becomes more precise is neither new nor removed.
pub(super) fn matched<T: Copy>(old: &[(String, T)], new: &[(String, T)], covering: Covering) -> Matched<T> {
    let positions = |list: &[(String, T)]| -> HashMap<String, usize> {
        // Of several equal keys the first counts.
        list.iter().enumerate().rev().map(|(position, (key, _))| (key.clone(), position)).collect()
    };
    let (in_old, in_new) = (positions(old), positions(new));
    let nearest = |positions: &HashMap<String, usize>, key: &str| {
        covering(key).iter().find_map(|key| positions.get(key).copied())
    };
    let (mut both, mut added, mut removed) = (BTreeSet::new(), Vec::new(), Vec::new());
    for (key, item) in new {
        match (nearest(&in_old, key), in_new.get(key)) {
            (Some(covers), Some(position)) => drop(both.insert((covers, *position))),
            _ => added.push(*item),
        }
    }
    let in_part: BTreeSet<usize> = both.iter().map(|(position, _)| *position).collect();
    for (key, item) in old {
        match (in_old.get(key), nearest(&in_new, key)) {
            (Some(position), Some(covers)) => drop(both.insert((*position, covers))),
            (position, _) => {
                removed.push((*item, position.is_some_and(|position| in_part.contains(position))));
            }
        }
    }
    let both = both.into_iter().map(|(one, other)| (old[one].1, new[other].1));
    Matched { both: both.collect(), added, removed }
}

/// The objects under a keyword, with their names.
pub(super) fn named<'a>(owner: &Object<'a>, keyword: &str) -> Vec<(&'a str, Object<'a>)> {
    owner.children(keyword).map(|object| (object.name(), object)).collect()
}
