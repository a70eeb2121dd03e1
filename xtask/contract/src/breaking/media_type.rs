//! The media types of a body, and what each of them holds.

use std::collections::{HashMap, HashSet};

use crate::document::Node;

use super::comparer::{Comparer, Side};
use super::role::{Direction, Role};
use super::values::same;
use super::{rules, schema, unknown};

/// Compares the `content` of two bodies.
pub(super) fn compare<'a>(cx: &mut Comparer<'a>, base: &'a Node, revision: &'a Node, role: Role) {
    let old = cx.mapping(Side::Base, base, "content").map(Node::entries).unwrap_or_default();
    let new = cx.mapping(Side::Revision, revision, "content").map(Node::entries).unwrap_or_default();
    let (added, removed) = match role.direction() {
        Direction::Request => (&rules::REQUEST_MEDIA_ADDED, &rules::REQUEST_MEDIA_REMOVED),
        Direction::Response => (&rules::RESPONSE_MEDIA_ADDED, &rules::RESPONSE_MEDIA_REMOVED),
    };
    let index: HashMap<_, _> = new.iter().map(|entry| (name(&entry.key), entry)).collect();
    let names: HashSet<_> = old.iter().map(|entry| name(&entry.key)).collect();
    for entry in old {
        match index.get(&name(&entry.key)) {
            Some(new) => schemas(cx, &entry.value, &new.value, role),
            None => {
                let what = format!("the media type `{}` was removed", entry.key);
                let survivor = revision.get("content").unwrap_or(revision);
                cx.report(removed, Some(&entry.value), Some(survivor), what);
            }
        }
    }
    for entry in new.iter().filter(|entry| !names.contains(&name(&entry.key))) {
        cx.report(added, None, Some(&entry.value), "it is new");
    }
}

/// Compares what two bodies of the same media type hold.
pub(super) fn schemas<'a>(cx: &mut Comparer<'a>, base: &'a Node, revision: &'a Node, role: Role) {
    unknown::compare(cx, (base, revision), &["schema", "example", "examples", "encoding"]);
    let (before, after) = (base.get("encoding"), revision.get("encoding"));
    let differs = match (before, after) {
        (Some(before), Some(after)) => !same(before, after),
        (before, after) => before.is_some() != after.is_some(),
    };
    if differs {
        let place = after.or(Some(revision));
        cx.report(&rules::ENCODING_CHANGED, before, place, "the encoding of its parts changed");
    }
    let (before, after) = (base.get("schema"), revision.get("schema"));
    if before.is_some() || after.is_some() {
        schema::compare_at(cx, (before.as_slice(), base), (after.as_slice(), revision), role);
    }
}

/// A media type as it is compared: case and spaces do not count (RFC 9110, section 8.3.1).
pub(super) fn name(key: &str) -> String {
    key.chars().filter(|c| !c.is_whitespace()).collect::<String>().to_ascii_lowercase()
}
