//! Keywords that restrict no value: `default`, `deprecated`, `xml`, and those that nothing else compares.

use std::collections::HashSet;

use super::both::Both;
use super::values::OPEN;
use crate::breaking::comparer::Comparer;
use crate::breaking::conjunction::Schema;
use crate::breaking::data::difference;
use crate::breaking::place::At;
use crate::breaking::rules::{self, Role};
use crate::breaking::unknown;

/// Compares all of them but `default`.
pub(super) fn compare<'a>(cx: &mut Comparer<'a>, both: &Both<'a>) {
    match (both.base.flag("deprecated"), both.revision.flag("deprecated")) {
        (None, Some(new)) => {
            both.note(cx, &rules::SCHEMA_DEPRECATED, None, Some(new), "it is now deprecated");
        }
        (Some(old), None) => {
            let new = both.revision.first("deprecated");
            both.note(cx, &rules::SCHEMA_REACTIVATED, Some(old), new, "it is no longer deprecated");
        }
        _ => {}
    }
    if cx.in_xml {
        xml(cx, both);
    }
    others(cx, both);
}

/// Compares `default`.
pub(super) fn default<'a>(cx: &mut Comparer<'a>, both: &Both<'a>) {
    let (base, revision) = (both.base.first("default"), both.revision.first("default"));
    // A parameter is often left out, so its default matters more.
    let (added, removed) = match both.role {
        Role::RequiredParameter => return,
        Role::Parameter => (&rules::PARAMETER_DEFAULT_ADDED, &rules::PARAMETER_DEFAULT_REMOVED),
        _ => both.rules(&rules::DEFAULT_ADDED, &rules::DEFAULT_REMOVED),
    };
    let rule = match (base, revision) {
        (None, _) => added,
        (_, None) => removed,
        _ => rules::DEFAULT_CHANGED.rule(both.role),
    };
    if let Some(what) = difference("its default", base.as_deref(), revision.as_deref()) {
        cx.report(rule, base, revision.or(Some(At::of(&both.revision.anchor))), what);
    }
}

/// Compares `xml` (OpenAPI 3.0.3, section 4.7.26) as data.
fn xml<'a>(cx: &mut Comparer<'a>, both: &Both<'a>) {
    let (mut old, mut new) = (both.base.all("xml"), both.revision.all("xml"));
    // The first part with another value.
    let (base, revision, what) = loop {
        let (base, revision) = (old.next(), new.next());
        match difference("`xml`", base.as_deref(), revision.as_deref()) {
            Some(what) => break (base, revision, what),
            None if base.is_none() => return,
            None => {}
        }
    };
    both.note(cx, &rules::XML_CHANGED, base, revision, what);
}

/// Compares the keywords that nothing else compares, as data.
fn others<'a>(cx: &mut Comparer<'a>, both: &Both<'a>) {
    let is_open = |schema: &Schema<'a>| schema.first(OPEN).is_some();
    let compared = if is_open(&both.base) && is_open(&both.revision) { vec![OPEN] } else { Vec::new() };
    let others = |schema: &Schema<'a>| {
        let mut seen = HashSet::new();
        let others = schema.parts.iter().flat_map(|part| unknown::others(part, &compared));
        others.filter(|(key, _)| seen.insert(*key)).collect::<Vec<_>>()
    };
    unknown::compare_entries(cx, others(&both.base), others(&both.revision), At::of(&both.revision.anchor));
}
