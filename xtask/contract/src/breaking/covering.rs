//! Keys of which one can cover others: statuses (`404`, `4XX`, `default`) and media types
//! (`application/json`, `application/*`).
//!
//! What one document says under a key is compared with what the other says under the nearest key that covers
//! it, so that a key which becomes more precise is neither new nor removed.

use std::collections::{BTreeSet, HashMap};

/// Returns the keys that cover a key, from the nearest on, beginning with the key itself.
pub(super) type Covering = fn(&str) -> Vec<String>;

/// The items of two lists, matched by what covers them.
pub(super) struct Matched<T> {
    pub(super) both: Vec<(T, T)>,
    pub(super) added: Vec<T>,
    /// What nothing in the revision covers, and whether the revision has a part of it.
    pub(super) removed: Vec<(T, bool)>,
}

pub(super) fn matched<T: Copy>(old: &[(String, T)], new: &[(String, T)], covering: Covering) -> Matched<T> {
    let positions = |list: &[(String, T)]| -> HashMap<String, usize> {
        // Of keys that mean the same the first counts.
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
