//! A schema of both documents, and the schemas below it, which are queued for comparison.

use crate::finding::Severity;
use document::openapi::{Id, Object};

use crate::breaking::comparer::Comparer;
use crate::breaking::conjunction::{Schema, Verdict};
use crate::breaking::place::At;
use crate::breaking::rules::{ChangeRule, Family, Role};
use crate::subschema::flattened;

/// A schema on both sides, in one role.
pub(in crate::breaking) struct Both<'a> {
    pub(super) base: Schema<'a>,
    pub(super) revision: Schema<'a>,
    pub(super) role: Role,
    pub(super) verdict: Verdict,
}

impl<'a> Both<'a> {
    /// Two rules in the role of the schema.
    pub(super) fn rules(
        &self,
        one: &'static Family,
        other: &'static Family,
    ) -> (&'static ChangeRule, &'static ChangeRule) {
        (one.rule(self.role), other.rule(self.role))
    }

    /// Reports a change of the values, if the verdict allows its severity.
    pub(super) fn report(
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

    /// Whether the verdict allows a change of this severity.
    pub(super) fn agrees(&self, rule: &ChangeRule) -> bool {
        self.verdict == Verdict::Breaking || rule.severity < Severity::Error
    }

    /// Returns the schema of the revision at which to report a place that only the base has.
    pub(super) fn remaining(&self, base: Option<&At<'a>>) -> Object<'a> {
        let pointer = base.map(|base| base.object().pointer());
        let same = |part: &&Object<'a>| pointer.as_ref().is_some_and(|pointer| part.pointer() == *pointer);
        self.revision.parts.iter().find(same).copied().unwrap_or(self.revision.anchor)
    }

    /// Reports a change, independent of the verdict. Without a place in the revision it is reported at the schema.
    pub(super) fn note(
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
    pub(super) fn compare_at(
        &self,
        cx: &mut Comparer<'a>,
        base: &[Object<'a>],
        revision: &[Object<'a>],
        role: Role,
    ) {
        if base.iter().chain(revision).any(is_unclear) {
            return cx.leave_out();
        }
        let places = base.first().copied().zip(revision.first().copied());
        let base = at(cx, base, self.base.anchor);
        let revision = at(cx, revision, self.revision.anchor);
        match places {
            Some(places) => cx.through(places, |cx| cx.compare_later(base, revision, role)),
            None => cx.compare_later(base, revision, role),
        }
    }
}

/// Queues the schemas under a keyword of two objects for comparison.
pub(in crate::breaking) fn compare_children<'a>(
    cx: &mut Comparer<'a>,
    (old, new): (&Object<'a>, &Object<'a>),
    keyword: &str,
    role: Role,
) {
    compare_schemas(cx, (old.child(keyword), new.child(keyword)), (*old, *new), role);
}

/// Queues two schemas of these owners for comparison. Without a schema every value is allowed.
pub(in crate::breaking) fn compare_schemas<'a>(
    cx: &mut Comparer<'a>,
    (before, after): (Option<Object<'a>>, Option<Object<'a>>),
    (old, new): (Object<'a>, Object<'a>),
    role: Role,
) {
    if before.iter().chain(&after).any(is_unclear) {
        cx.leave_out();
    } else if before.is_some() || after.is_some() {
        let base = at(cx, before.as_slice(), old);
        let revision = at(cx, after.as_slice(), new);
        let places = (before.unwrap_or(old), after.unwrap_or(new));
        cx.through(places, |cx| cx.compare_later(base, revision, role));
    }
}

/// Queues a schema and the items of a list for comparison.
pub(in crate::breaking) fn compare_item<'a>(
    cx: &mut Comparer<'a>,
    one: Object<'a>,
    list: Object<'a>,
    role: Role,
) {
    let items = list.child("items");
    if items.as_ref().is_some_and(is_unclear) {
        return cx.leave_out();
    }
    let base = at(cx, &[one], one);
    let revision = at(cx, items.as_slice(), list);
    cx.compare_later(base, revision, role);
}

/// Whether a schema is a reference that leads nowhere or to another file, which is reported as not understood.
pub(super) fn is_unclear(schema: &Object<'_>) -> bool {
    schema.resolved().is_none()
}

/// Returns the conjunction of the schemas at these places. Without a place it is reported at `owner`.
pub(super) fn at<'a>(cx: &mut Comparer<'a>, places: &[Object<'a>], owner: Object<'a>) -> u32 {
    let parts = flattened(places.iter().copied(), &mut || cx.may_go_on());
    let anchor = parts.first().or(places.first()).copied().unwrap_or(owner);
    of_parts(cx, parts, anchor, Vec::new())
}

pub(super) fn of_parts<'a>(
    cx: &mut Comparer<'a>,
    parts: Vec<Object<'a>>,
    anchor: Object<'a>,
    chosen: Vec<(Id, &'static str)>,
) -> u32 {
    let values = cx.inclusion.schemas.conjunction(&parts);
    let is_partial = parts.iter().any(|part| part.children("allOf").any(|one| is_unclear(&one)));
    cx.intern(Schema { parts, anchor, values, is_partial, chosen })
}
