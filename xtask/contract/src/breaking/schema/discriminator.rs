//! `discriminator`: how a client tells which alternative it got, and says which one it sends.

use crate::document::Node;

use super::Both;
use crate::breaking::comparer::{Comparer, Side};
use crate::breaking::rules;
use crate::breaking::unknown;
use crate::breaking::values::{same, shown};

pub(super) fn compare<'a>(cx: &mut Comparer<'a>, both: &Both<'a>) {
    let (base, revision) = (both.base.first("discriminator"), both.revision.first("discriminator"));
    let (old, new) = match (base, revision) {
        (None, None) => return,
        (None, Some(_)) => {
            return both.report(
                cx,
                &rules::DISCRIMINATOR_ADDED,
                base,
                revision,
                "a `discriminator` was added",
            );
        }
        (Some(_), None) => {
            let what = "its `discriminator` was removed";
            return both.report(cx, &rules::DISCRIMINATOR_REMOVED, base, revision, what);
        }
        (Some(old), Some(new)) => (old, new),
    };
    let name = |node: &'a Node| node.get("propertyName");
    if let (Some(before), Some(after)) = (name(old), name(new))
        && !same(before, after)
    {
        let what = format!("the discriminating property went from {} to {}", shown(before), shown(after));
        both.report(cx, &rules::DISCRIMINATOR_RENAMED, Some(before), Some(after), what);
    }
    mapping(cx, both, old, new);
    unknown::compare(cx, (old, new), &["propertyName", "mapping"]);
}

fn mapping<'a>(cx: &mut Comparer<'a>, both: &Both<'a>, old: &'a Node, new: &'a Node) {
    let base = cx.mapping(Side::Base, old, "mapping");
    let revision = cx.mapping(Side::Revision, new, "mapping");
    for entry in base.map(Node::entries).unwrap_or_default() {
        let key = &entry.key;
        match revision.and_then(|mapping| mapping.get(key)) {
            None => {
                let what = format!("the discriminating value `{key}` was removed");
                both.report(cx, &rules::MAPPING_DELETED, Some(&entry.value), revision.or(Some(new)), what);
            }
            Some(now) if !same(&entry.value, now) => {
                let what = format!(
                    "the discriminating value `{key}` went from {} to {}",
                    shown(&entry.value),
                    shown(now)
                );
                both.report(cx, &rules::MAPPING_CHANGED, Some(&entry.value), Some(now), what);
            }
            Some(_) => {}
        }
    }
    for entry in revision.map(Node::entries).unwrap_or_default() {
        if base.and_then(|mapping| mapping.get(&entry.key)).is_none() {
            let what = format!("the discriminating value `{}` was added", entry.key);
            both.report(cx, &rules::MAPPING_ADDED, None, Some(&entry.value), what);
        }
    }
}
