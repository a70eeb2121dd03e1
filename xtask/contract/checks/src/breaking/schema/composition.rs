//! `oneOf`, `anyOf` and `not`. (`allOf` is resolved before anything is compared.)
//!
//! Alternatives are paired when they refer to the same component, have the same content, or require the same constant.
//! Of the others, those that are not references are paired in their order, so an edited alternative is compared with its
//! old text. The paired alternatives are compared as their author means them: also where another alternative allows the
//! same values by the letter.

use std::collections::{BTreeSet, HashSet};

use document::openapi::Object;
use document::{Entry, Node, shortened};

use super::both::{Both, at, is_unclear, of_parts};
use super::unexplained::is_overlap;
use super::unions::{Union, unions};
use crate::breaking::comparer::Comparer;
use crate::breaking::conjunction::{Schema, TYPES, UNIONS, Verdict};
use crate::breaking::data::canonical;
use crate::breaking::matching::pairs_then;
use crate::breaking::place::At;
use crate::breaking::rules::{self, Family};
use crate::subschema::{ANNOTATIONS, flattened};

/// The limit of the parts of an alternative in which a constant is searched.
const MAX_PARTS: usize = 50;

pub(super) fn compare<'a>(cx: &mut Comparer<'a>, both: &Both<'a>) {
    let (base, revision) = (unions(&both.base), unions(&both.revision));
    for position in 0..base.len().max(revision.len()) {
        alternatives(cx, both, base.get(position), revision.get(position), at_alternative);
    }
}

/// Compares the alternatives of two schemas together with the keywords beside them, if these differ: they hold for each
/// alternative, so they may have moved into the alternatives or out of them. Returns whether it did.
pub(super) fn distribute<'a>(cx: &mut Comparer<'a>, both: &Both<'a>) -> bool {
    let (base, revision) = (unions(&both.base), unions(&both.revision));
    let ([old], [new]) = (base.as_slice(), revision.as_slice()) else { return false };
    if beside(&both.base) == beside(&both.revision) {
        return false;
    }
    alternatives(cx, both, Some(old), Some(new), with_keywords_beside);
    true
}

/// The keywords that restrict a schema beside its unions. `nullable` there is about the whole value.
fn beside(schema: &Schema<'_>) -> BTreeSet<(String, String)> {
    let is_beside = |key: &str| {
        !["allOf", "nullable"].contains(&key) && !UNIONS.contains(&key) && !ANNOTATIONS.contains(&key)
    };
    let entries = schema.parts.iter().flat_map(|part| part.node().entries());
    let entries = entries.filter(|entry| is_beside(&entry.key));
    entries.map(|entry| (entry.key.clone(), canonical(&entry.value))).collect()
}

/// Returns the schema of an alternative of a union of another schema.
type Alternative<'a> = fn(&mut Comparer<'a>, &Schema<'a>, &Union<'a>, Object<'a>) -> u32;

fn at_alternative<'a>(
    cx: &mut Comparer<'a>,
    whole: &Schema<'a>,
    _: &Union<'a>,
    alternative: Object<'a>,
) -> u32 {
    at(cx, &[alternative], whole.anchor)
}

fn with_keywords_beside<'a>(
    cx: &mut Comparer<'a>,
    whole: &Schema<'a>,
    union: &Union<'a>,
    alternative: Object<'a>,
) -> u32 {
    let mut parts = flattened([alternative], &mut || cx.may_go_on());
    let known = parts.len();
    parts.extend(whole.parts.iter().filter(|part| !parts[..known].contains(part)).collect::<Vec<_>>());
    let chosen = whole.chosen.iter().copied().chain([(union.list.object().id, union.keyword)]).collect();
    of_parts(cx, parts, alternative, chosen)
}

/// Whether a schema became one of several alternatives, or the other way round. Then it is compared with the
/// alternative that is nearest to it, and with nothing else.
pub(super) fn is_wrapping<'a>(cx: &mut Comparer<'a>, both: &Both<'a>) -> bool {
    let (base, revision) = (unions(&both.base), unions(&both.revision));
    match (base.as_slice(), revision.as_slice()) {
        ([], [union]) if is_alone(&both.revision) && !is_any(&both.base) => {
            let Some((one, new)) = nearest(cx, &both.base, (&both.revision, union)) else { return false };
            let what = format!("it became one of several alternatives, in `{}`", union.keyword);
            both.report(cx, &rules::WRAPPED, Some(At::of(&both.base.anchor)), Some(union.list), what);
            let old = cx.intern(both.base.clone());
            cx.through((both.base.anchor, one), |cx| cx.compare_later(old, new, both.role));
            true
        }
        ([union], []) if is_alone(&both.base) && !is_any(&both.revision) => {
            let Some((one, old)) = nearest(cx, &both.revision, (&both.base, union)) else { return false };
            let what = format!("only one of its alternatives in `{}` is left", union.keyword);
            both.report(cx, &rules::UNWRAPPED, Some(union.list), None, what);
            let new = cx.intern(both.revision.clone());
            cx.through((one, both.revision.anchor), |cx| cx.compare_later(old, new, both.role));
            true
        }
        _ => false,
    }
}

/// Returns the alternative of the other side that is nearest to a schema: it has the same values, or is of the same type and
/// has the most properties in common.
fn nearest<'a>(
    cx: &mut Comparer<'a>,
    schema: &Schema<'a>,
    (whole, union): (&Schema<'a>, &Union<'a>),
) -> Option<(Object<'a>, u32)> {
    let names = property_names(schema);
    let mut best: Option<(isize, (Object<'a>, u32))> = None;
    for one in union.alternatives.iter().filter(|one| !is_unclear(one)) {
        let mut number = at(cx, &[*one], whole.anchor);
        if shape(&cx.schema(number)).is_none() {
            // The type is beside the union.
            number = with_keywords_beside(cx, whole, union, *one);
        }
        let alternative = cx.schema(number);
        if cx.inclusion.are_equal(schema.values, alternative.values) {
            return Some((*one, number));
        }
        let others = property_names(&alternative);
        let common = names.intersection(&others).count();
        let fit = common.cast_signed() - (names.len() + others.len() - 2 * common).cast_signed();
        // Of several with as many the first.
        let is_better = best.is_none_or(|(known, _)| fit > known);
        if is_better && shape(schema).is_some() && shape(schema) == shape(&alternative) {
            best = Some((fit, (*one, number)));
        }
    }
    best.map(|(_, found)| found)
}

/// The type of a schema. What lists properties is an object.
fn shape<'a>(schema: &Schema<'a>) -> Option<&'a str> {
    let kind = schema.all("type").find_map(|kind| kind.node().as_str());
    kind.or_else(|| schema.parts.iter().any(|part| part.has("properties")).then_some("object"))
}

fn property_names<'a>(schema: &Schema<'a>) -> HashSet<&'a str> {
    schema.children("properties").into_iter().map(|property| property.name()).collect()
}

/// Whether no keyword restricts the schema.
pub(super) fn is_any(schema: &Schema<'_>) -> bool {
    let mut entries = schema.parts.iter().flat_map(|part| part.node().entries());
    let is_unknown = |entry: &Entry| {
        entry.key == "type" && !entry.value.as_str().is_some_and(|name| TYPES.contains(&name))
    };
    entries.all(|entry| ANNOTATIONS.contains(&entry.key.as_str()) || is_unknown(entry))
}

/// Whether only a union restricts the schema, and perhaps the type of all its alternatives.
fn is_alone(schema: &Schema<'_>) -> bool {
    let restricts = |key: &str| {
        !["allOf", "type", "nullable"].contains(&key) && !UNIONS.contains(&key) && !ANNOTATIONS.contains(&key)
    };
    !schema.parts.iter().flat_map(|part| part.node().entries()).any(|entry| restricts(&entry.key))
}

fn alternatives<'a>(
    cx: &mut Comparer<'a>,
    both: &Both<'a>,
    base: Option<&Union<'a>>,
    revision: Option<&Union<'a>>,
    schema: Alternative<'a>,
) {
    let (base, revision) = match (base, revision) {
        (Some(base), Some(revision)) => (base, revision),
        // Where only an overlap excludes values, `unexplained` reports it.
        _ if both.verdict == Verdict::Breaking
            && is_overlap(cx, (both.base.values, both.revision.values), both.role) =>
        {
            return;
        }
        (None, Some(union)) => {
            let what = format!("it must now match an alternative of `{}`", union.keyword);
            return both.report(cx, &rules::ALTERNATIVES_SET, None, Some(union.list), what);
        }
        (Some(union), None) => {
            let what = format!("it need no longer match an alternative of `{}`", union.keyword);
            return both.report(cx, &rules::ALTERNATIVES_UNSET, Some(union.list), None, what);
        }
        (None, None) => return,
    };
    let schemas = |cx: &mut Comparer<'a>, old: Object<'a>, new: Object<'a>| {
        (schema(cx, &both.base, base, old), schema(cx, &both.revision, revision, new))
    };
    let compare = |cx: &mut Comparer<'a>, old: Object<'a>, new: Object<'a>, most: Verdict| {
        if [old, new].iter().any(is_unclear) {
            return cx.leave_out();
        }
        let (before, after) = schemas(cx, old, new);
        cx.through((old, new), |cx| cx.compare_within(before, after, both.role, most));
    };
    let is_equal = |cx: &mut Comparer<'a>, old: Object<'a>, new: Object<'a>| {
        let (before, after) = schemas(cx, old, new);
        let (before, after) = (cx.schema(before).values, cx.schema(after).values);
        cx.inclusion.are_equal(before, after)
    };
    let items = |union: &Union<'a>| union.alternatives.clone().into_iter().map(|item| (identity(item), item));
    let (same, rest) = pairs_then(items(base), items(revision), constant);
    for (old, new) in same.into_iter().chain(rest.both) {
        // They are the same for their author, whatever the schemas around them allow.
        compare(cx, old, new, Verdict::Breaking);
    }
    let (mut old, mut new) = (rest.removed, rest.added);
    // A component may have another name, and an alternative may have become a component.
    old.retain(|one| {
        let same = new.iter().position(|other| is_equal(cx, *one, *other));
        same.map(|same| compare(cx, *one, new.remove(same), both.verdict)).is_none()
    });
    let (mut old_references, old): (Vec<_>, Vec<_>) = old.into_iter().partition(Object::is_reference);
    let (mut new_references, new): (Vec<_>, Vec<_>) = new.into_iter().partition(Object::is_reference);
    if let ([one], [other]) = (old_references.as_slice(), new_references.as_slice())
        && [base, revision].iter().all(|union| has_one(union))
    {
        // `anyOf: [X, {nullable: true}]` is an X that may be null.
        compare(cx, *one, *other, Verdict::Breaking);
        (old_references, new_references) = (Vec::new(), Vec::new());
    }
    for (one, other) in old.iter().zip(&new) {
        compare(cx, *one, *other, both.verdict);
    }
    for item in old_references.iter().chain(old.iter().skip(new.len())) {
        // It may be listed twice, or repeat one of the other side.
        let is_there = revision.alternatives.iter().any(|other| match item.is_reference() {
            true => identity(*other) == identity(*item),
            false => is_equal(cx, *item, *other),
        });
        if let Some(family) = both.one_sided(item, (base, revision), base.rules().1).filter(|_| !is_there) {
            let what = format!("the alternative {} of `{}` was removed", named(item), base.keyword);
            both.note(cx, family, Some(At::of(item)), Some(revision.list), what);
        }
    }
    for item in new_references.iter().chain(new.iter().skip(old.len())) {
        let is_there = base.alternatives.iter().any(|other| match item.is_reference() {
            true => identity(*other) == identity(*item),
            false => is_equal(cx, *other, *item),
        });
        if let Some(family) = both.one_sided(item, (base, revision), revision.rules().0).filter(|_| !is_there)
        {
            let what = format!("the alternative {} was added to `{}`", named(item), revision.keyword);
            both.note(cx, family, None, Some(At::of(item)), what);
        }
    }
}

impl Both<'_> {
    /// Returns the rule of an alternative that only one side has. Where others cover it by the letter it counts all the
    /// same, unless it has no name and the union is now of the other kind: then its author wrote the schema anew.
    fn one_sided(
        &self,
        item: &Object<'_>,
        (base, revision): (&Union<'_>, &Union<'_>),
        family: &'static Family,
    ) -> Option<&'static Family> {
        let is_meant = item.is_reference() || base.keyword == revision.keyword;
        match self.agrees(family.rule(self.role)) {
            true if is_meant || self.verdict > Verdict::Same => Some(family),
            false if is_meant => Some(&rules::COVERED),
            _ => None,
        }
    }
}

/// Whether two schemas have the same values, counting properties that they do not list.
fn is_equal<'a>(cx: &mut Comparer<'a>, one: Object<'a>, other: Object<'a>) -> bool {
    let (one, other) = (at(cx, &[one], one), at(cx, &[other], other));
    let (one, other) = (cx.schema(one).values, cx.schema(other).values);
    cx.inclusion.are_equal(one, other)
}

pub(super) fn not<'a>(cx: &mut Comparer<'a>, both: &Both<'a>) {
    let (base, revision) = (both.base.children("not"), both.revision.children("not"));
    let mut is_there = |one, other| is_equal(cx, one, other);
    let removed = base.iter().find(|one| !revision.iter().any(|other| is_there(**one, *other)));
    let added = revision.iter().find(|other| !base.iter().any(|one| is_there(*one, **other)));
    let (removed, added) = (removed.map(At::of), added.map(At::of));
    match (removed, added) {
        (None, None) => {}
        (None, Some(_)) => both.report(cx, &rules::NOT_SET, None, added, "`not` excludes more values"),
        (Some(_), None) => both.report(cx, &rules::NOT_UNSET, removed, None, "`not` excludes fewer values"),
        (Some(_), Some(_)) => {
            both.report(cx, &rules::NOT_CHANGED, removed, added, "`not` excludes other values");
        }
    }
}

/// Whether a union has one alternative beside null.
fn has_one(union: &Union<'_>) -> bool {
    let is_null = |one: &&Object<'_>| {
        let entries = one.node().entries().iter().map(|entry| entry.key.as_str());
        entries.filter(|key| !ANNOTATIONS.contains(key)).eq(["nullable"])
    };
    union.alternatives.iter().filter(|one| !is_null(one)).count() == 1
}

/// Returns what identifies an alternative: the name and the only value of a property, of one that is required if there is
/// one. Alternatives without such a property are all different.
fn constant(item: Object<'_>) -> Result<(String, String), *const Node> {
    let mut left = MAX_PARTS;
    let mut go_on = || {
        left -= 1;
        left > 0
    };
    let parts = flattened([item], &mut go_on);
    let required = parts.iter().filter_map(|part| part.get("required")).flat_map(Node::items);
    let required: HashSet<&str> = required.filter_map(Node::as_str).collect();
    let of = |property: Object<'_>| {
        let [value] = property.resolved()?.get("enum")?.items() else { return None };
        Some((property.name().to_owned(), canonical(value)))
    };
    let properties = || parts.iter().flat_map(|part| part.children("properties"));
    let constant = properties().filter(|property| required.contains(property.name())).find_map(of);
    constant.or_else(|| properties().find_map(of)).ok_or(std::ptr::from_ref(item.node()))
}

/// Returns the text that is the same for alternatives that are paired. A component may have moved to another file.
fn identity(item: Object<'_>) -> String {
    match item.text("$ref") {
        Some(reference) => reference.rsplit('/').next().unwrap_or(reference).to_owned(),
        None => canonical(item.node()),
    }
}

/// Returns the name of an alternative for messages: its component, or its content.
fn named(item: &Object<'_>) -> String {
    let name = item.text("$ref").or_else(|| item.text("title"));
    if let (None, Ok((property, value))) = (name, constant(*item)) {
        return format!("with `{property}: {}`", shortened(value.trim_matches('"')));
    }
    let last = |name: &str| name.rsplit('/').next().unwrap_or(name).to_owned();
    let says = || {
        let entries = item.node().entries().iter().filter(|entry| !ANNOTATIONS.contains(&entry.key.as_str()));
        let entries: Vec<_> =
            entries.map(|entry| format!("{}: {}", entry.key, canonical(&entry.value))).collect();
        shortened(&entries.join(", "))
    };
    format!("`{}`", name.map_or_else(says, last))
}
