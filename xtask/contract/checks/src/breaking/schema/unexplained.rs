//! Reports the pairs of schemas whose values differ although no keyword explains it.

use std::collections::BTreeSet;

use crate::breaking::comparer::{Comparer, Pair};
use crate::breaking::conjunction::{Schema, Verdict};
use crate::breaking::data::canonical;
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
            false => "its alternatives changed, and are too many to decide which values differ".to_owned(),
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
    let keywords = |schema: &Schema<'_>| -> BTreeSet<(String, String)> {
        let entries = schema.parts.iter().flat_map(|part| part.node().entries());
        // The parts of `allOf` are among the parts.
        let is_idle = |key: &str| key == "allOf" || ANNOTATIONS.contains(&key);
        let restricting = entries.filter(|entry| !is_idle(&entry.key));
        restricting.map(|entry| (format!("`{}`", entry.key), canonical(&entry.value))).collect()
    };
    let (old, new) = (keywords(old), keywords(new));
    let changed: BTreeSet<&str> = old.symmetric_difference(&new).map(|(name, _)| name.as_str()).collect();
    let names = changed.into_iter().collect::<Vec<_>>().join(", ");
    let effect = if widened { "allow values that were excluded" } else { "exclude values that were allowed" };
    match (names.is_empty(), new.iter().any(|(name, _)| name == "`oneOf`")) {
        (false, _) => format!("the changes of its keywords together {effect}: {names}"),
        (true, true) => {
            format!("the changes of its alternatives {effect}: values must match exactly one in `oneOf`")
        }
        (true, false) => format!("the changes of the schemas that it refers to {effect}"),
    }
}
