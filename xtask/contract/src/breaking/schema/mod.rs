//! Two schemas, keyword by keyword.
//!
//! A schema here is a conjunction: the schema itself and everything its `allOf` adds, through references.
//! So a property that moves into an `allOf`, or out of it, is no change, and a bound stays the same
//! wherever it is written. Of several bounds the strictest counts, of several enums what they share.

mod additional;
mod bounds;
mod composition;
mod discriminator;
mod enums;
mod keywords;
mod patterns;
mod properties;
mod types;

pub(super) use composition::say_the_same;

use std::collections::HashSet;

use crate::document::{Node, Value};

use super::comparer::{Comparer, Side};
use super::role::Role;
use super::rules::{self, Family};
use super::values::{same, shown};

/// A schema: all of its parts hold at once. Without any part it takes every value.
#[derive(Clone, Debug)]
pub(super) struct Schema<'a> {
    pub(super) parts: Vec<&'a Node>,
    /// Where to point for the whole of it.
    pub(super) anchor: &'a Node,
}

impl<'a> Schema<'a> {
    /// The values of a keyword, one for each part that has it.
    fn all(&self, keyword: &str) -> impl Iterator<Item = &'a Node> {
        self.parts.iter().filter_map(move |part| part.get(keyword))
    }

    /// The first value of a keyword.
    fn first(&self, keyword: &str) -> Option<&'a Node> {
        self.all(keyword).next()
    }

    /// Where a keyword is true, if it is.
    fn flag(&self, keyword: &str) -> Option<&'a Node> {
        self.all(keyword).find(|node| node.as_bool() == Some(true))
    }
}

/// A schema on both sides, in one role.
struct Both<'a> {
    base: Schema<'a>,
    revision: Schema<'a>,
    role: Role,
}

impl<'a> Both<'a> {
    /// Notes a change of a keyword. Where the revision has nothing, its schema stands for it.
    fn report(
        &self,
        cx: &mut Comparer<'a>,
        family: &Family,
        base: Option<&'a Node>,
        revision: Option<&'a Node>,
        what: impl Into<String>,
    ) {
        let revision = revision.unwrap_or(self.revision.anchor);
        cx.report(&family.rule(self.role), base, Some(revision), what);
    }
}

/// Has the schemas at two places compared. A place that is missing takes every value.
pub(super) fn compare_at<'a>(
    cx: &mut Comparer<'a>,
    base: (&[&'a Node], &'a Node),
    revision: (&[&'a Node], &'a Node),
    role: Role,
) {
    let base = at(cx, Side::Base, base.0, base.1);
    let revision = at(cx, Side::Revision, revision.0, revision.1);
    cx.compare_later(base, revision, role);
}

/// The schema that holds at all of these places; `owner` stands for it if there are none.
fn at<'a>(cx: &mut Comparer<'a>, side: Side, places: &[&'a Node], owner: &'a Node) -> u32 {
    let mut parts = Vec::new();
    let mut seen = HashSet::new();
    let mut open: Vec<&'a Node> = places.iter().rev().copied().collect();
    while let Some(place) = open.pop() {
        if !cx.may_go_on() {
            break;
        }
        let Some(part) = cx.resolve(side, place) else { continue };
        if !seen.insert(std::ptr::from_ref(part)) {
            continue;
        }
        if !matches!(part.value, Value::Mapping(_)) {
            cx.not_understood(side, part, "a schema must be a mapping");
            continue;
        }
        parts.push(part);
        open.extend(cx.list(side, part, "allOf").iter().rev());
    }
    let anchor = parts.first().copied().or(places.first().copied()).unwrap_or(owner);
    cx.intern(side, Schema { parts, anchor })
}

/// Compares all pairs of schemas that wait for it.
pub(super) fn compare_waiting(cx: &mut Comparer<'_>) {
    while let Some(pair) = cx.next_pair() {
        let (Some(base), Some(revision)) =
            (cx.schema(Side::Base, pair.base), cx.schema(Side::Revision, pair.revision))
        else {
            continue;
        };
        keywords::check(cx, Side::Base, &base);
        keywords::check(cx, Side::Revision, &revision);
        compare(cx, &Both { base, revision, role: pair.role });
    }
}

fn compare<'a>(cx: &mut Comparer<'a>, both: &Both<'a>) {
    if composition::is_wrapping(cx, both) {
        return;
    }
    types::compare(cx, both);
    enums::compare(cx, both);
    bounds::compare(cx, both);
    patterns::compare(cx, both);
    properties::compare(cx, both);
    additional::compare(cx, both);
    items(cx, both);
    composition::compare(cx, both);
    discriminator::compare(cx, both);
    default(cx, both);
    deprecated(cx, both);
    keywords::compare_others(cx, both);
}

fn items<'a>(cx: &mut Comparer<'a>, both: &Both<'a>) {
    let base: Vec<_> = both.base.all("items").collect();
    let revision: Vec<_> = both.revision.all("items").collect();
    // Without a type either the type says all there is to say.
    let is_list = |schema: &Schema| schema.all("type").any(|kind| kind.as_str() == Some("array"));
    if !base.is_empty() && !revision.is_empty()
        || (base.len() != revision.len() && is_list(&both.base) && is_list(&both.revision))
    {
        let base = (base.as_slice(), both.base.anchor);
        let revision = (revision.as_slice(), both.revision.anchor);
        compare_at(cx, base, revision, both.role.piece());
    } else if base.len() != revision.len() && is_list(&both.base) == is_list(&both.revision) {
        let family = if base.is_empty() { &rules::TYPE_SPECIALIZED } else { &rules::TYPE_GENERALIZED };
        let what = if base.is_empty() { "`items` was added" } else { "`items` was removed" };
        both.report(cx, family, base.first().copied(), revision.first().copied(), what);
    }
}

fn default<'a>(cx: &mut Comparer<'a>, both: &Both<'a>) {
    let (base, revision) = (both.base.first("default"), both.revision.first("default"));
    let (family, what) = match (base, revision) {
        (None, Some(new)) => (&rules::DEFAULT_ADDED, format!("it got the default {}", shown(new))),
        (Some(old), None) => (&rules::DEFAULT_REMOVED, format!("it lost its default {}", shown(old))),
        (Some(old), Some(new)) if !same(old, new) => {
            (&rules::DEFAULT_CHANGED, format!("its default went from {} to {}", shown(old), shown(new)))
        }
        _ => return,
    };
    both.report(cx, family, base, revision, what);
}

fn deprecated<'a>(cx: &mut Comparer<'a>, both: &Both<'a>) {
    let (base, revision) = (both.base.flag("deprecated"), both.revision.flag("deprecated"));
    match (base, revision) {
        (None, Some(_)) => both.report(cx, &rules::SCHEMA_DEPRECATED, base, revision, "it is now deprecated"),
        (Some(_), None) => {
            both.report(cx, &rules::SCHEMA_REACTIVATED, base, revision, "it is no longer deprecated");
        }
        _ => {}
    }
}
