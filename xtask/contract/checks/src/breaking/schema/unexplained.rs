//! Reports the pairs of schemas whose values differ although no keyword explains it.

use std::collections::BTreeMap;

use document::Node;
use document::shortened;

use crate::breaking::comparer::{Comparer, Pair};
use crate::breaking::conjunction::{Schema, Verdict};
use crate::breaking::data::{difference, same};
use crate::breaking::place::At;
use crate::breaking::rules::{self, Role};
use crate::subschema::{ANNOTATIONS, Conjunction, Question};

pub(super) fn report(cx: &mut Comparer<'_>) {
    let is_overlap = |cx: &mut Comparer<'_>, pair: Pair| {
        let schemas = (cx.schema(pair.base).values, cx.schema(pair.revision).values);
        pair.letter == Verdict::Breaking && is_overlap(cx, schemas, pair.role)
    };
    cx.report_unexplained(is_overlap, |cx, pair, is_overlap| {
        let (old, new) = (cx.schema(pair.base), cx.schema(pair.revision));
        let is_decided = cx.inclusion.is_decided(old.values, new.values);
        let widened = pair.role.is_request() == (pair.letter == Verdict::Compatible);
        let family = match widened {
            _ if is_overlap => &rules::OVERLAP,
            true => &rules::VALUES_WIDENED,
            false => &rules::VALUES_NARROWED,
        };
        let what = match is_decided {
            true if is_overlap => {
                "values that match several alternatives of `oneOf` are others now".to_owned()
            }
            true => unexplained(&old, &new, widened),
            false => "it has too many combinations of alternatives to decide which values differ".to_owned(),
        };
        cx.report(family.rule(pair.role), Some(At::of(&old.anchor)), Some(At::of(&new.anchor)), what);
    });
}

/// Whether clients break only because a value must not match several alternatives of `oneOf`: clients and servers that
/// choose an alternative rarely reject a value that matches another one too.
pub(super) fn is_overlap(cx: &mut Comparer<'_>, (old, new): (Conjunction, Conjunction), role: Role) -> bool {
    let (narrow, wide) = if role.is_request() { (old, new) } else { (new, old) };
    let reading = Verdict::reading(role);
    cx.inclusion.is_decided(old, new)
        && cx.inclusion.includes(Question { narrow, wide, reading, may_overlap: true })
}

/// Returns what excludes or allows values, where no keyword does so by itself.
fn unexplained(old: &Schema<'_>, new: &Schema<'_>, widened: bool) -> String {
    let effect =
        if widened { "allows values that were excluded" } else { "excludes values that were allowed" };
    let is_exclusive = new.parts.iter().any(|part| part.get("oneOf").is_some());
    let (old, mut new) = (keywords(old), keywords(new));
    let mut changes = Vec::new();
    for (name, mut before) in old {
        let mut now = new.remove(&name).unwrap_or_default();
        before.retain(|old| now.iter().position(|new| same(old, new)).map(|at| now.remove(at)).is_none());
        changes.extend(difference(&name, before.first().copied(), now.first().copied()));
    }
    changes.extend(new.iter().filter_map(|(name, now)| difference(name, None, now.first().copied())));
    match (changes.is_empty(), is_exclusive) {
        (false, _) => {
            if changes.len() > MAX_NAMED {
                let more = changes.split_off(MAX_NAMED).len();
                changes.push(format!("{more} more keywords changed"));
            }
            format!("{}; this {effect}", changes.join(", "))
        }
        (true, true) => {
            format!("its alternatives changed, and a value must match exactly one; this {effect}")
        }
        (true, false) => format!("a schema that it refers to changed; this {effect}"),
    }
}

/// The limit of changed keywords that a message names.
const MAX_NAMED: usize = 3;

/// Returns the values of the restricting keywords and of the properties, by the words for them.
fn keywords<'a>(schema: &Schema<'a>) -> BTreeMap<String, Vec<&'a Node>> {
    let mut keywords: BTreeMap<String, Vec<&Node>> = BTreeMap::new();
    for entry in schema.parts.iter().flat_map(|part| part.node().entries()) {
        match &*entry.key {
            // The parts of `allOf` are among the parts.
            "allOf" => {}
            key if ANNOTATIONS.contains(&key) => {}
            "properties" => entry.value.entries().iter().for_each(|property| {
                let name = format!("property `{}`", shortened(&property.key));
                keywords.entry(name).or_default().push(&property.value);
            }),
            key => keywords.entry(format!("`{key}`")).or_default().push(&entry.value),
        }
    }
    keywords
}
