//! Compares two schemas.
//!
//! [`crate::subschema`] decides by meaning whether values are refused or new. This module then finds the keywords
//! that made the difference: it traverses both schemas, and reports a keyword only if the [`Verdict`] on the values
//! allows its severity. Where no keyword explains a verdict, the smallest schema with that verdict is reported.
//!
//! A schema here is a conjunction: the schema itself and everything that its `allOf` adds, through references.
//! So moving a property or a bound into an `allOf`, or out of it, is not a change.

mod composition;
mod discriminator;
mod keywords;
mod properties;
mod types;
mod unexplained;
mod values;

use std::collections::HashSet;

use document::openapi::Object;

use super::comparer::Comparer;
use super::data::difference;
use super::place::At;
use super::rules::{self, ChangeRule, Family, Role};
use super::unknown;
use crate::finding::Severity;
use crate::subschema::{Conjunction, Inclusion, Question, Reading, Side, flattened};

/// How the values of two schemas differ, for clients.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) enum Verdict {
    /// Both allow the same values.
    Equal,
    /// Both allow the same values, except for properties that neither document lists.
    Same,
    /// A request may have more values, or a response has fewer.
    Compatible,
    /// A request may have fewer values, or a response has more, or the question is undecided.
    Breaking,
}

impl Verdict {
    /// How the values are read in a role.
    fn reading(role: Role) -> Reading {
        match role {
            Role::Parameter | Role::RequiredParameter | Role::RequestText => Reading::RequestText,
            Role::Header | Role::ResponseText => Reading::ResponseText,
            Role::Request => Reading::Request,
            Role::Parts => Reading::Parts,
            Role::Part => Reading::Part,
            Role::Response => Reading::Response,
        }
    }

    pub(super) fn of<'a>(
        inclusion: &mut Inclusion<'a>,
        (base, revision): (&Schema<'a>, &Schema<'a>),
        role: Role,
    ) -> Self {
        let (reading, may_overlap) = (Self::reading(role), false);
        let (old, new) = (base.values, revision.values);
        let keeps =
            inclusion.includes(Question { side: Side::Base, narrow: old, wide: new, reading, may_overlap });
        let adds = !inclusion.includes(Question {
            side: Side::Revision,
            narrow: new,
            wide: old,
            reading,
            may_overlap,
        });
        let (breaks, changes) = if role.is_request() { (!keeps, adds) } else { (adds, !keeps) };
        match (breaks, changes) {
            (true, _) => Self::Breaking,
            (false, true) => Self::Compatible,
            (false, false) if inclusion.are_equal(base.values, revision.values) => Self::Equal,
            (false, false) => Self::Same,
        }
    }
}

/// A schema: a conjunction of its parts. Without parts it allows every value.
#[derive(Clone, Debug)]
pub(super) struct Schema<'a> {
    pub(super) parts: Vec<Object<'a>>,
    /// The place of the whole schema.
    pub(super) anchor: Object<'a>,
    /// The conjunction of the parts, in [`crate::subschema`].
    pub(super) values: Conjunction,
    /// Whether a reference in `allOf` leads nowhere or to another file, so that parts are missing.
    pub(super) is_partial: bool,
    /// Whether the parts include the single alternative of a union.
    is_unwrapped: bool,
}

impl<'a> Schema<'a> {
    /// The values of a keyword, one for each part that has it.
    fn all(&self, keyword: &str) -> impl Iterator<Item = At<'a>> {
        self.parts.iter().filter_map(move |part| At::value(part, keyword))
    }

    /// Whether one of two schemas has no value by the letter, although neither has `not` or two types, and both have
    /// as many unions under each keyword.
    pub(super) fn is_contradictory(&self, other: &Self, inclusion: &mut Inclusion<'a>) -> bool {
        let is_plain = |schema: &Self| {
            let types: HashSet<_> = schema.all("type").filter_map(|at| at.node().as_str()).collect();
            types.len() < 2 && !schema.parts.iter().any(|part| part.has("not"))
        };
        let unions = |of: &Self| composition::KEYWORDS.map(|keyword| of.all(keyword).count());
        (inclusion.is_empty(Side::Base, self.values) || inclusion.is_empty(Side::Revision, other.values))
            && is_plain(self)
            && is_plain(other)
            && unions(self) == unions(other)
    }

    /// The first value of a keyword.
    fn first(&self, keyword: &str) -> Option<At<'a>> {
        self.all(keyword).next()
    }

    /// Returns the place where a keyword is true, if any.
    fn flag(&self, keyword: &str) -> Option<At<'a>> {
        self.all(keyword).find(|at| at.as_bool() == Some(true))
    }

    /// The schemas under a keyword, of all parts.
    fn children(&self, keyword: &str) -> Vec<Object<'a>> {
        let has = self.parts.iter().filter(|part| part.has(keyword));
        has.flat_map(|part| part.children(keyword)).collect()
    }

    /// Whether keywords about values of these types can have an effect.
    fn may_be(&self, types: &[&str]) -> bool {
        self.all("type").all(|kind| kind.as_str().is_none_or(|kind| types.contains(&kind)))
    }
}

/// A schema on both sides, in one role.
struct Both<'a> {
    base: Schema<'a>,
    revision: Schema<'a>,
    role: Role,
    verdict: Verdict,
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

    /// Reports a change of the values, if the verdict allows its severity.
    fn report(
        &self,
        cx: &mut Comparer<'a>,
        family: &'static Family,
        base: Option<At<'a>>,
        revision: Option<At<'a>>,
        what: impl Into<String>,
    ) {
        if self.verdict > Verdict::Same && self.agrees(family.rule(self.role)) {
            self.note(cx, family, base, revision, what);
        }
    }

    /// Compares two alternatives that are the same for their author, whatever the schemas around them allow.
    fn compare_meant(&self, cx: &mut Comparer<'a>, base: Object<'a>, revision: Object<'a>) {
        if [base, revision].iter().any(is_unclear) {
            return cx.leave_out();
        }
        let places = (base, revision);
        let base = at(cx, Side::Base, &[base], self.base.anchor);
        let revision = at(cx, Side::Revision, &[revision], self.revision.anchor);
        cx.through(places, |cx| cx.compare_within(base, revision, self.role, Verdict::Breaking));
    }

    /// Whether the verdict allows a change of this severity.
    fn agrees(&self, rule: &ChangeRule) -> bool {
        self.verdict == Verdict::Breaking || rule.severity < Severity::Error
    }

    /// Returns the schema of the revision at which to report a place that only the base has.
    fn remaining(&self, base: Option<&At<'a>>) -> Object<'a> {
        let pointer = base.map(|base| base.object().pointer());
        let same = |part: &&Object<'a>| pointer.as_ref().is_some_and(|pointer| part.pointer() == *pointer);
        self.revision.parts.iter().find(same).copied().unwrap_or(self.revision.anchor)
    }

    /// Reports a change, independent of the verdict. Without a place in the revision it is reported at the schema.
    fn note(
        &self,
        cx: &mut Comparer<'a>,
        family: &'static Family,
        base: Option<At<'a>>,
        revision: Option<At<'a>>,
        what: impl Into<String>,
    ) {
        let revision = revision.unwrap_or_else(|| At::of(&self.remaining(base.as_ref())));
        cx.report(family.rule(self.role), base, Some(revision), what);
    }

    /// Compares the conjunctions of the schemas at these places. Without a place every value is allowed.
    fn compare_at(&self, cx: &mut Comparer<'a>, base: &[Object<'a>], revision: &[Object<'a>], role: Role) {
        if base.iter().chain(revision).any(is_unclear) {
            return cx.leave_out();
        }
        let places = base.first().copied().zip(revision.first().copied());
        let base = at(cx, Side::Base, base, self.base.anchor);
        let revision = at(cx, Side::Revision, revision, self.revision.anchor);
        match places {
            Some(places) => cx.through(places, |cx| cx.compare_later(base, revision, role)),
            None => cx.compare_later(base, revision, role),
        }
    }
}

/// Queues the schemas under a keyword of two objects for comparison.
pub(super) fn compare_children<'a>(
    cx: &mut Comparer<'a>,
    (old, new): (&Object<'a>, &Object<'a>),
    keyword: &str,
    role: Role,
) {
    compare_schemas(cx, (old.child(keyword), new.child(keyword)), (*old, *new), role);
}

/// Queues two schemas of these owners for comparison. Without a schema every value is allowed.
pub(super) fn compare_schemas<'a>(
    cx: &mut Comparer<'a>,
    (before, after): (Option<Object<'a>>, Option<Object<'a>>),
    (old, new): (Object<'a>, Object<'a>),
    role: Role,
) {
    if before.iter().chain(&after).any(is_unclear) {
        cx.leave_out();
    } else if before.is_some() || after.is_some() {
        let base = at(cx, Side::Base, before.as_slice(), old);
        let revision = at(cx, Side::Revision, after.as_slice(), new);
        let places = (before.unwrap_or(old), after.unwrap_or(new));
        cx.through(places, |cx| cx.compare_later(base, revision, role));
    }
}

/// Queues a schema and the items of a list for comparison.
pub(super) fn compare_item<'a>(cx: &mut Comparer<'a>, one: Object<'a>, list: Object<'a>, role: Role) {
    let items = list.child("items");
    if items.as_ref().is_some_and(is_unclear) {
        return cx.leave_out();
    }
    let base = at(cx, Side::Base, &[one], one);
    let revision = at(cx, Side::Revision, items.as_slice(), list);
    cx.compare_later(base, revision, role);
}

/// Whether a schema is a reference that leads nowhere or to another file, which is reported as not understood.
fn is_unclear(schema: &Object<'_>) -> bool {
    schema.resolved().is_none()
}

/// Returns the conjunction of the schemas at these places. Without a place it is reported at `owner`.
fn at<'a>(cx: &mut Comparer<'a>, side: Side, places: &[Object<'a>], owner: Object<'a>) -> u32 {
    let parts = flattened(places.iter().copied(), &mut || cx.may_go_on());
    let anchor = parts.first().or(places.first()).copied().unwrap_or(owner);
    let values = cx.inclusion.schemas[side as usize].conjunction(&parts);
    let is_partial = parts.iter().any(|part| part.children("allOf").any(|one| is_unclear(&one)));
    cx.intern(side, Schema { parts, anchor, values, is_partial, is_unwrapped: false })
}

/// Compares all pairs of schemas in the queue.
pub(super) fn compare_waiting(cx: &mut Comparer<'_>) {
    while cx.may_go_on()
        && let Some(pair) = cx.next_pair()
    {
        let base = cx.schema(Side::Base, pair.base);
        let revision = cx.schema(Side::Revision, pair.revision);
        let mut both = Both { base, revision, role: pair.role, verdict: pair.verdict };
        composition::unwrap(cx, &mut both);
        compare(cx, &both);
    }
    match cx.may_go_on() {
        true => unexplained::report(cx),
        false => cx.report_exhaustion(),
    }
}

fn compare<'a>(cx: &mut Comparer<'a>, both: &Both<'a>) {
    if types::reshaped(cx, both) || (both.verdict > Verdict::Equal && composition::is_wrapping(cx, both)) {
        return;
    }
    types::compare(cx, both);
    keywords::compare(cx, both);
    values::compare(cx, both);
    properties::compare(cx, both);
    items(cx, both);
    composition::compare(cx, both);
    discriminator::compare(cx, both);
    if both.role == Role::Parameter {
        default(cx, both);
    }
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
    xml(cx, both);
    others(cx, both);
}

fn items<'a>(cx: &mut Comparer<'a>, both: &Both<'a>) {
    let (base, revision) = (both.base.children("items"), both.revision.children("items"));
    let is_array = |schema: &Schema<'a>| schema.all("type").any(|kind| kind.as_str() == Some("array"));
    let arrays = (is_array(&both.base), is_array(&both.revision));
    if (!base.is_empty() && !revision.is_empty()) || arrays == (true, true) {
        if !base.is_empty() || !revision.is_empty() {
            both.compare_at(cx, &base, &revision, both.role.item());
        }
    } else if arrays.0 == arrays.1 && base.is_empty() != revision.is_empty() {
        // Otherwise the change of the type is reported.
        let (family, what) = match base.is_empty() {
            true => (&rules::TYPE_SPECIALIZED, "`items` was added"),
            false => (&rules::TYPE_GENERALIZED, "`items` was removed"),
        };
        let place = |items: &[Object<'a>]| items.first().map(At::of);
        both.report(cx, family, place(&base), place(&revision), what);
    }
}

/// Compares `default`.
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

/// Compares `xml` (OpenAPI 3.0.3, section 4.7.26) as data. It has no effect in other notations.
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
    if cx.in_xml {
        both.note(cx, &rules::XML_CHANGED, base, revision, what);
    } else {
        let revision = revision.unwrap_or_else(|| At::of(&both.revision.anchor));
        cx.report(&rules::WITHOUT_EFFECT, base, Some(revision), what);
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
