//! Two schemas, keyword by keyword.
//!
//! A schema here is a conjunction: the schema itself and everything that its `allOf` adds, through references.
//! So a property that moves into an `allOf`, or out of it, is no change, and a bound stays the same wherever it
//! is written. Of several bounds the strictest counts, of several enums what they share.

mod bounds;
mod composition;
mod properties;
mod types;
mod values;

pub(super) use composition::is_same;

use std::collections::HashSet;

use super::comparer::{Comparer, Side};
use super::data::difference;
use super::place::At;
use super::rules::{self, ChangeRule, Family, Role};
use super::unknown;
use crate::openapi::{Id, Object};

/// A schema: all of its parts hold at once. Without any part it allows every value.
#[derive(Clone, Debug)]
pub(super) struct Schema<'a> {
    pub(super) parts: Vec<Object<'a>>,
    /// Where to point for the whole of it.
    pub(super) anchor: Object<'a>,
}

impl<'a> Schema<'a> {
    /// The values of a keyword, one for each part that has it.
    fn all(&self, keyword: &str) -> impl Iterator<Item = At<'a>> {
        self.parts.iter().filter_map(move |part| At::value(part, keyword))
    }

    /// The first value of a keyword.
    fn first(&self, keyword: &str) -> Option<At<'a>> {
        self.all(keyword).next()
    }

    /// Where a keyword is true, if it is.
    fn flag(&self, keyword: &str) -> Option<At<'a>> {
        self.all(keyword).find(|at| at.as_bool() == Some(true))
    }

    /// The schemas under a keyword, of all parts.
    fn children(&self, keyword: &str) -> Vec<Object<'a>> {
        let has = self.parts.iter().filter(|part| part.has(keyword));
        has.flat_map(|part| part.children(keyword)).collect()
    }
}

/// A schema on both sides, in one role.
struct Both<'a> {
    base: Schema<'a>,
    revision: Schema<'a>,
    role: Role,
}

impl<'a> Both<'a> {
    /// Two rules in the role of the schema.
    fn rules(
        &self,
        one: &'static Family,
        other: &'static Family,
    ) -> (&'static ChangeRule, &'static ChangeRule) {
        (one.rule(self.role), other.rule(self.role))
    }

    /// Reports a change of a keyword. Where the revision has nothing, its schema stands for it.
    fn report(
        &self,
        cx: &mut Comparer<'a>,
        family: &'static Family,
        base: Option<At<'a>>,
        revision: Option<At<'a>>,
        what: impl Into<String>,
    ) {
        let revision = revision.unwrap_or_else(|| At::of(&self.revision.anchor));
        cx.report(family.rule(self.role), base, Some(revision), what);
    }

    /// Compares a keyword that is true or false, false by default.
    fn flag(
        &self,
        cx: &mut Comparer<'a>,
        keyword: &str,
        (set, unset): (&'static Family, &'static Family),
        (was_set, was_unset): (&str, &str),
    ) {
        match (self.base.flag(keyword), self.revision.flag(keyword)) {
            (None, Some(new)) => self.report(cx, set, None, Some(new), was_set),
            (Some(old), None) => {
                self.report(cx, unset, Some(old), self.revision.first(keyword), was_unset);
            }
            _ => {}
        }
    }

    /// Compares the schemas that hold at these places. A place that is missing allows every value.
    fn compare_at(&self, cx: &mut Comparer<'a>, base: &[Object<'a>], revision: &[Object<'a>], role: Role) {
        let base = at(cx, Side::Base, base, self.base.anchor);
        let revision = at(cx, Side::Revision, revision, self.revision.anchor);
        cx.compare_later(base, revision, role);
    }
}

/// Queues the schemas under a keyword of two objects for comparison.
pub(super) fn compare_children<'a>(
    cx: &mut Comparer<'a>,
    (old, new): (&Object<'a>, &Object<'a>),
    keyword: &str,
    role: Role,
) {
    let (before, after) = (old.child(keyword), new.child(keyword));
    if before.is_some() || after.is_some() {
        let base = at(cx, Side::Base, before.as_slice(), *old);
        let revision = at(cx, Side::Revision, after.as_slice(), *new);
        cx.compare_later(base, revision, role);
    }
}

/// The schema that holds at all of these places; `owner` stands for it if there are none.
fn at<'a>(cx: &mut Comparer<'a>, side: Side, places: &[Object<'a>], owner: Object<'a>) -> u32 {
    let mut parts = Vec::new();
    let mut seen: HashSet<Id> = HashSet::new();
    let mut open: Vec<Object<'a>> = places.iter().rev().copied().collect();
    while let Some(place) = open.pop() {
        if !cx.may_go_on() {
            break;
        }
        let Some(part) = place.resolved().filter(|part| seen.insert(part.id)) else { continue };
        parts.push(part);
        if part.has("allOf") {
            let first = open.len();
            open.extend(part.children("allOf"));
            open[first..].reverse();
        }
    }
    let anchor = parts.first().or(places.first()).copied().unwrap_or(owner);
    cx.intern(side, Schema { parts, anchor })
}

/// Compares all pairs of schemas in the queue.
pub(super) fn compare_waiting(cx: &mut Comparer<'_>) {
    while let Some(pair) = cx.next_pair() {
        let base = cx.schema(Side::Base, pair.base);
        let revision = cx.schema(Side::Revision, pair.revision);
        compare(cx, &Both { base, revision, role: pair.role });
    }
}

fn compare<'a>(cx: &mut Comparer<'a>, both: &Both<'a>) {
    if composition::is_wrapping(cx, both) {
        return;
    }
    types::compare(cx, both);
    bounds::compare(cx, both);
    values::compare(cx, both);
    properties::compare(cx, both);
    items(cx, both);
    composition::compare(cx, both);
    default(cx, both);
    let what = ("it is now deprecated", "it is no longer deprecated");
    both.flag(cx, "deprecated", (&rules::SCHEMA_DEPRECATED, &rules::SCHEMA_REACTIVATED), what);
    others(cx, both);
}

fn items<'a>(cx: &mut Comparer<'a>, both: &Both<'a>) {
    let (base, revision) = (both.base.children("items"), both.revision.children("items"));
    let is_array = |schema: &Schema<'a>| schema.all("type").any(|kind| kind.as_str() == Some("array"));
    let arrays = (is_array(&both.base), is_array(&both.revision));
    if base.is_empty() && revision.is_empty() {
        return;
    }
    if (!base.is_empty() && !revision.is_empty()) || arrays == (true, true) {
        both.compare_at(cx, &base, &revision, both.role.piece());
    } else if arrays.0 == arrays.1 {
        // Otherwise the change of the type is all there is to report.
        let (family, what) = match base.is_empty() {
            true => (&rules::TYPE_SPECIALIZED, "`items` was added"),
            false => (&rules::TYPE_GENERALIZED, "`items` was removed"),
        };
        let place = |items: &[Object<'a>]| items.first().map(At::of);
        both.report(cx, family, place(&base), place(&revision), what);
    }
}

fn default<'a>(cx: &mut Comparer<'a>, both: &Both<'a>) {
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

/// Compares the keywords that nothing else compares, as data.
fn others<'a>(cx: &mut Comparer<'a>, both: &Both<'a>) {
    let others = |schema: &Schema<'a>| {
        let mut seen = HashSet::new();
        let others = schema.parts.iter().flat_map(|part| unknown::others(part, &[]));
        others.filter(|(key, _)| seen.insert(*key)).collect::<Vec<_>>()
    };
    unknown::compare_entries(cx, others(&both.base), others(&both.revision), At::of(&both.revision.anchor));
}
