//! Pairs items of the two documents, also those whose keys are not equal.

use std::collections::{BTreeSet, HashMap};
use std::hash::Hash;

use document::names::nearest;
use document::openapi::Object;

use super::data::{Paired, canonical, pairs};

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

/// The items of two lists, matched by the keys that cover them.
pub(super) struct Matched<T> {
    pub(super) both: Vec<(T, T)>,
    pub(super) added: Vec<T>,
    /// The items that no key of the revision covers, and whether the revision has a part of each.
    pub(super) removed: Vec<(T, bool)>,
}

/// Matches keys of which one can cover others: statuses (`404`, `4XX`, `default`) and media types
/// (`application/json`, `application/*`). An item of one document is paired with the item of the other under the
/// nearest key that covers its key, so a key that becomes more precise is neither new nor removed. `covering` returns the
/// keys that cover a key, the nearest first, beginning with the key itself.
pub(super) fn matched<T: Copy>(
    old: &[(String, T)],
    new: &[(String, T)],
    covering: impl Fn(&str) -> Vec<String>,
) -> Matched<T> {
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

/// Returns the headers of a response or of a part of a form, or references to them, by their names in small letters (RFC
/// 9110, section 5.1). OpenAPI ignores `Content-Type` (sections 4.7.15.1 and 4.7.17).
pub(super) fn headers<'a>(owner: &Object<'a>) -> Vec<(String, Object<'a>)> {
    let headers = owner.children("headers").map(|header| (header.name().to_ascii_lowercase(), header));
    headers.filter(|(name, _)| name != "content-type").collect()
}

/// The limit of new names that an old one is compared with.
const MAX_NEW: usize = 20;

/// Returns the new name that an old one probably has now: that of the only object with the same schemas, if its name or its
/// content is similar enough to tell it from others.
pub(super) fn renamed<'a>(
    old: (&str, &[Object<'a>]),
    new: impl Iterator<Item = (&'a str, Vec<Object<'a>>)>,
) -> Option<&'a str> {
    let content = |schemas: &[Object<'_>]| -> Vec<String> {
        schemas.iter().map(|schema| canonical(schema.node())).collect()
    };
    let (name, schemas) = old;
    let (new, written): (Vec<_>, _) = (new.take(MAX_NEW + 1).collect(), content(schemas));
    if schemas.is_empty() || new.len() > MAX_NEW {
        return None;
    }
    let mut alike = new.into_iter().filter(|(_, schemas)| content(schemas) == written);
    let (found, _) = alike.next().filter(|_| alike.next().is_none())?;
    // Most properties are strings or booleans.
    let is_common = |key: &str| matches!(key, "type" | "title" | "description" | "example" | "nullable");
    let is_distinctive =
        schemas.iter().flat_map(|schema| schema.node().entries()).any(|it| !is_common(&it.key));
    let words = |name: &str| -> BTreeSet<String> {
        let spaced = name.replace(|c: char| !c.is_alphanumeric(), " ");
        let spaced =
            spaced.chars().flat_map(|c| c.is_uppercase().then_some(' ').into_iter().chain(c.to_lowercase()));
        spaced.collect::<String>().split_whitespace().map(str::to_owned).collect()
    };
    let shares_word = !words(name).is_disjoint(&words(found));
    (is_distinctive || shares_word || nearest(name, [found].into_iter()).is_some()).then_some(found)
}
