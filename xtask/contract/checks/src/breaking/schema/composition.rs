//! `oneOf`, `anyOf` and `not`. (`allOf` is resolved before anything is compared.)
//!
//! Alternatives are paired when they refer to the same component, have the same content, or require the same constant.
//! Of the others, those that are not references are paired in their order, so an edited alternative is compared with its
//! old text. The paired alternatives are compared as their author means them: also where another alternative allows the
//! same values by the letter.

use std::collections::HashSet;

use document::Node;
use document::openapi::Object;
use document::shortened;

use super::{Both, Schema, Verdict, at};
use crate::breaking::comparer::Comparer;
use crate::breaking::data::canonical;
use crate::breaking::matching::pairs_then;
use crate::breaking::place::At;
use crate::breaking::rules::{self, Family};
use crate::subschema::{ANNOTATIONS, Side, flattened};

pub(super) const KEYWORDS: [&str; 2] = ["oneOf", "anyOf"];

pub(super) fn compare<'a>(cx: &mut Comparer<'a>, both: &Both<'a>) {
    let (base, revision) = (unions(&both.base), unions(&both.revision));
    for position in 0..base.len().max(revision.len()) {
        alternatives(cx, both, base.get(position), revision.get(position));
    }
    not(cx, both);
}

/// Replaces unions of a single alternative by the alternative, unless both sides have corresponding unions.
pub(super) fn unwrap<'a>(cx: &mut Comparer<'a>, both: &mut Both<'a>) {
    let nests = |schema: &Schema<'a>| {
        let singles =
            schema.parts.iter().flat_map(|part| KEYWORDS.map(|keyword| only(part, keyword))).flatten();
        singles
            .filter_map(|single| single.resolved())
            .any(|single| KEYWORDS.iter().any(|keyword| single.has(keyword)))
    };
    let correspond = unions(&both.base).len() == unions(&both.revision).len();
    if correspond && !nests(&both.base) && !nests(&both.revision) {
        return;
    }
    for schema in [&mut both.base, &mut both.revision] {
        let mut first = 0;
        while first < schema.parts.len() {
            let singles =
                schema.parts[first..].iter().flat_map(|part| KEYWORDS.map(|keyword| only(part, keyword)));
            let singles: Vec<_> = singles.flatten().collect();
            first = schema.parts.len();
            let known = |part: &Object<'a>| schema.parts.contains(part);
            let mut added = flattened(singles, &mut || cx.may_go_on());
            added.retain(|part| !known(part));
            schema.parts.extend(added);
        }
        schema.is_unwrapped = true;
    }
}

/// The alternative under a keyword, if it is the only one.
fn only<'a>(part: &Object<'a>, keyword: &str) -> Option<Object<'a>> {
    let mut alternatives = part.children(keyword);
    alternatives.next().filter(|_| alternatives.next().is_none())
}

/// Whether a schema became one of several alternatives, or the other way round. Then it is compared with the
/// alternative that is nearest to it, and with nothing else.
pub(super) fn is_wrapping<'a>(cx: &mut Comparer<'a>, both: &Both<'a>) -> bool {
    let (base, revision) = (unions(&both.base), unions(&both.revision));
    match (base.as_slice(), revision.as_slice()) {
        ([], [union]) if is_alone(&both.revision, union) && !is_any(&both.base) => {
            let old = both.base.anchor;
            let Some(new) = nearest(cx, union, |one| (old, one)) else { return false };
            let what = format!("it became one of several alternatives, in `{}`", union.keyword);
            both.report(cx, &rules::WRAPPED, Some(At::of(&old)), Some(union.list), what);
            both.compare_at(cx, &[old], &[new], both.role);
            true
        }
        ([union], []) if is_alone(&both.base, union) && !is_any(&both.revision) => {
            let new = both.revision.anchor;
            let Some(old) = nearest(cx, union, |one| (one, new)) else { return false };
            let what = format!("only one of its alternatives in `{}` is left", union.keyword);
            both.report(cx, &rules::UNWRAPPED, Some(union.list), None, what);
            both.compare_at(cx, &[old], &[new], both.role);
            true
        }
        _ => false,
    }
}

/// The alternative that is nearest to the schema of the other side: it has the same values, or the same type and the most
/// properties in common.
fn nearest<'a>(
    cx: &mut Comparer<'a>,
    union: &Union<'a>,
    pair: impl Fn(Object<'a>) -> (Object<'a>, Object<'a>),
) -> Option<Object<'a>> {
    let kind = |object: Object<'a>| object.resolved().and_then(|object| object.text("type"));
    let alternatives = union.alternatives.iter().copied().map(|one| (one, pair(one)));
    let is_alike = |(old, new)| kind(old).is_some() && kind(old) == kind(new);
    let equal = alternatives.clone().find(|(_, (old, new))| is_equal(cx, *old, *new));
    // Of several with as many the first.
    let alike = alternatives.filter(|(_, pair)| is_alike(*pair)).rev();
    equal.or_else(|| alike.max_by_key(|(_, pair)| in_common(cx, *pair))).map(|(one, _)| one)
}

/// The number of properties that two schemas have in common, minus those that only one has.
fn in_common<'a>(cx: &mut Comparer<'a>, (one, other): (Object<'a>, Object<'a>)) -> isize {
    let (one, other) = (property_names(cx, one), property_names(cx, other));
    let common = one.intersection(&other).count();
    common.cast_signed() - (one.len() + other.len() - 2 * common).cast_signed()
}

fn property_names<'a>(cx: &mut Comparer<'a>, schema: Object<'a>) -> HashSet<&'a str> {
    let parts = flattened([schema], &mut || cx.may_go_on());
    parts.iter().flat_map(|part| part.children("properties")).map(|property| property.name()).collect()
}

/// Whether no keyword restricts the schema.
fn is_any(schema: &Schema<'_>) -> bool {
    let mut entries = schema.parts.iter().flat_map(|part| part.node().entries());
    entries.all(|entry| ANNOTATIONS.contains(&entry.key.as_str()))
}

/// Whether only the union restricts the schema.
fn is_alone(schema: &Schema<'_>, union: &Union<'_>) -> bool {
    let [part] = schema.parts.as_slice() else { return false };
    // `nullable` has no effect without `type`.
    let is_idle = |key: &str| key == union.keyword || (key == "nullable" && !part.has("type"));
    let restricts = |key: &str| !is_idle(key) && !ANNOTATIONS.contains(&key);
    !part.node().entries().iter().any(|entry| restricts(&entry.key))
}

/// A `oneOf` or `anyOf`.
pub(super) struct Union<'a> {
    keyword: &'static str,
    pub(super) list: At<'a>,
    pub(super) alternatives: Vec<Object<'a>>,
}

impl Union<'_> {
    /// The rules of an alternative that was added, and of one that was removed.
    fn rules(&self) -> (&'static Family, &'static Family) {
        match self.keyword {
            "oneOf" => (&rules::ONE_OF_ADDED, &rules::ONE_OF_REMOVED),
            _ => (&rules::ANY_OF_ADDED, &rules::ANY_OF_REMOVED),
        }
    }
}

/// Returns the unions of a schema, all of which apply.
pub(super) fn unions<'a>(schema: &Schema<'a>) -> Vec<Union<'a>> {
    let of = |part: &Object<'a>, keyword: &'static str| {
        let alternatives = alternatives_under(part, keyword);
        let is_union = alternatives.len() > if schema.is_unwrapped { 1 } else { 0 };
        let list = At::value(part, keyword).filter(|_| is_union)?;
        Some(Union { keyword, list, alternatives })
    };
    schema
        .parts
        .iter()
        .flat_map(|part| ["oneOf", "anyOf"].map(|keyword| of(part, keyword)))
        .flatten()
        .collect()
}

/// The alternatives under a keyword, with those of unions that are alternatives themselves.
fn alternatives_under<'a>(part: &Object<'a>, keyword: &str) -> Vec<Object<'a>> {
    let is_union = |one: &Object<'a>| {
        let mut entries = one.node().entries().iter().map(|entry| entry.key.as_str());
        one.has(keyword) && entries.all(|key| key == keyword || ANNOTATIONS.contains(&key))
    };
    let (mut alternatives, mut open) = (Vec::new(), vec![*part]);
    while let Some(one) = open.pop() {
        match one == *part || is_union(&one) {
            true => {
                let first = open.len();
                open.extend(one.children(keyword));
                open[first..].reverse();
            }
            false => alternatives.push(one),
        }
    }
    alternatives
}

fn alternatives<'a>(
    cx: &mut Comparer<'a>,
    both: &Both<'a>,
    base: Option<&Union<'a>>,
    revision: Option<&Union<'a>>,
) {
    let (base, revision) = match (base, revision) {
        (Some(base), Some(revision)) => (base, revision),
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
    let items = |union: &Union<'a>| union.alternatives.clone().into_iter().map(|item| (identity(item), item));
    let (same, rest) = pairs_then(items(base), items(revision), constant);
    for (old, new) in same.into_iter().chain(rest.both) {
        both.compare_meant(cx, old, new);
    }
    let (mut old, mut new) = (rest.removed, rest.added);
    // A component may have another name, and an alternative may have become a component.
    old.retain(|one| {
        let same = new.iter().position(|other| is_equal(cx, *one, *other));
        same.map(|same| both.compare_at(cx, &[*one], &[new.remove(same)], both.role)).is_none()
    });
    let (old_references, old): (Vec<_>, Vec<_>) = old.into_iter().partition(Object::is_reference);
    let (new_references, new): (Vec<_>, Vec<_>) = new.into_iter().partition(Object::is_reference);
    for (one, other) in old.iter().zip(&new) {
        both.compare_at(cx, &[*one], &[*other], both.role);
    }
    for item in old_references.iter().chain(old.iter().skip(new.len())) {
        let is_there = revision.alternatives.iter().any(|other| is_repeated(cx, *item, (*item, *other)));
        if let Some(family) = both.one_sided(item, (base, revision), base.rules().1).filter(|_| !is_there) {
            let what = format!("the alternative {} of `{}` was removed", named(item), base.keyword);
            both.note(cx, family, Some(At::of(item)), Some(revision.list), what);
        }
    }
    for item in new_references.iter().chain(new.iter().skip(old.len())) {
        let is_there = base.alternatives.iter().any(|other| is_repeated(cx, *item, (*other, *item)));
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

/// Whether an alternative without a name repeats one of the other side.
fn is_repeated<'a>(cx: &mut Comparer<'a>, item: Object<'a>, (old, new): (Object<'a>, Object<'a>)) -> bool {
    !item.is_reference() && is_equal(cx, old, new)
}

/// Whether two schemas have the same values, counting properties that they do not list.
fn is_equal<'a>(cx: &mut Comparer<'a>, one: Object<'a>, other: Object<'a>) -> bool {
    let (one, other) = (at(cx, Side::Base, &[one], one), at(cx, Side::Revision, &[other], other));
    let (one, other) = (cx.schema(Side::Base, one).values, cx.schema(Side::Revision, other).values);
    cx.inclusion.are_equal(one, other)
}

fn not<'a>(cx: &mut Comparer<'a>, both: &Both<'a>) {
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

/// Returns what identifies an alternative by the first property that must have one value. Alternatives without one are
/// all different.
fn constant(item: Object<'_>) -> Result<(String, String), *const Node> {
    let constant = || {
        let item = item.resolved()?;
        let required = item.get("required")?.items();
        required.iter().find_map(|name| {
            let name = name.as_str()?;
            let property =
                item.children("properties").find(|property| property.name() == name)?.resolved()?;
            let [value] = property.get("enum")?.items() else { return None };
            Some((name.to_owned(), canonical(value)))
        })
    };
    constant().ok_or(std::ptr::from_ref(item.node()))
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
    let last = |name: &str| name.rsplit('/').next().unwrap_or(name).to_owned();
    let says = || {
        let entries = item.node().entries().iter().filter(|entry| !ANNOTATIONS.contains(&entry.key.as_str()));
        let entries: Vec<_> =
            entries.map(|entry| format!("{}: {}", entry.key, canonical(&entry.value))).collect();
        shortened(&entries.join(", "))
    };
    format!("`{}`", name.map_or_else(says, last))
}
