//! `oneOf`, `anyOf` and `not`. (`allOf` is resolved before anything is compared.)
//!
//! Alternatives are paired when they refer to the same component or have the same content. Of the others, those
//! that are not references are paired in their order: that is how an edited one is found.

use std::collections::HashSet;

use super::{Both, Schema, Verdict, at};
use crate::breaking::comparer::Comparer;
use crate::breaking::data::{canonical, pairs, same};
use crate::breaking::place::At;
use crate::breaking::rules::{self, Family};
use crate::openapi::Object;
use crate::subschema::{Side, flattened};

/// The keywords that allow and forbid no value.
const WORDS: [&str; 6] = ["title", "description", "example", "externalDocs", "discriminator", "deprecated"];

pub(super) fn compare<'a>(cx: &mut Comparer<'a>, both: &Both<'a>) {
    let (base, revision) = (unions(&both.base), unions(&both.revision));
    for position in 0..base.len().max(revision.len()) {
        alternatives(cx, both, base.get(position), revision.get(position));
    }
    not(cx, both);
}

/// Replaces unions of a single alternative by the alternative, unless both sides have as many unions.
pub(super) fn unwrap<'a>(cx: &mut Comparer<'a>, both: &mut Both<'a>) {
    if unions(&both.base).len() == unions(&both.revision).len() {
        return;
    }
    for schema in [&mut both.base, &mut both.revision] {
        let unions = unions(schema).into_iter().filter(|union| union.alternatives.len() == 1);
        let alternatives: Vec<_> = unions.flat_map(|union| union.alternatives).collect();
        schema.parts.extend(flattened(alternatives, &mut || cx.may_go_on()));
        schema.is_unwrapped = true;
    }
}

/// Whether a schema became one of several alternatives, or the other way round. Nothing else about it is
/// reported then.
pub(super) fn is_wrapping<'a>(cx: &mut Comparer<'a>, both: &Both<'a>) -> bool {
    let (base, revision) = (&both.base, &both.revision);
    for keyword in ["oneOf", "anyOf"] {
        match (base.first(keyword), revision.first(keyword)) {
            (None, Some(list)) if wraps(cx, revision, keyword, base) => {
                let what = format!("it became one of several alternatives, in `{keyword}`");
                both.report(cx, &rules::WRAPPED, Some(At::of(&base.anchor)), Some(list), what);
                return true;
            }
            (Some(list), None) if wraps(cx, base, keyword, revision) => {
                let what = format!("only one of its alternatives in `{keyword}` is left");
                both.report(cx, &rules::UNWRAPPED, Some(list), None, what);
                return true;
            }
            _ => {}
        }
    }
    false
}

/// Whether the one has alternatives only, and the other is among them.
fn wraps<'a>(cx: &mut Comparer<'a>, wrapper: &Schema<'a>, keyword: &str, wrapped: &Schema<'a>) -> bool {
    let ([wrapper], [wrapped]) = (wrapper.parts.as_slice(), wrapped.parts.as_slice()) else { return false };
    let restricts = |key: &str| key != keyword && !WORDS.contains(&key);
    if wrapper.node().entries().iter().any(|entry| restricts(&entry.key)) {
        return false;
    }
    wrapper.children(keyword).any(|item| is_same(cx, item, *wrapped))
}

/// A `oneOf` or `anyOf`.
struct Union<'a> {
    keyword: &'static str,
    list: At<'a>,
    alternatives: Vec<Object<'a>>,
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

/// The unions of a schema. All of them hold at once.
fn unions<'a>(schema: &Schema<'a>) -> Vec<Union<'a>> {
    let of = |part: &Object<'a>, keyword: &'static str| {
        let alternatives: Vec<_> = part.children(keyword).collect();
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
    let paired = pairs(items(base), items(revision));
    for (old, new) in paired.both {
        both.compare_at(cx, &[old], &[new], both.role);
    }
    let (mut old, mut new) = (paired.removed, paired.added);
    // A component may have another name, and an alternative may have become a component.
    old.retain(|one| {
        let same = new.iter().position(|other| is_equal(cx, both, *one, *other));
        same.map(|same| both.compare_at(cx, &[*one], &[new.remove(same)], both.role)).is_none()
    });
    let (old_references, old): (Vec<_>, Vec<_>) = old.into_iter().partition(Object::is_reference);
    let (new_references, new): (Vec<_>, Vec<_>) = new.into_iter().partition(Object::is_reference);
    for (one, other) in old.iter().zip(&new) {
        both.compare_at(cx, &[*one], &[*other], both.role);
    }
    for item in old_references.iter().chain(old.iter().skip(new.len())) {
        let what = format!("the alternative {} of `{}` was removed", named(item), base.keyword);
        both.report(cx, base.rules().1, Some(At::of(item)), Some(revision.list), what);
    }
    for item in new_references.iter().chain(new.iter().skip(old.len())) {
        let what = format!("the alternative {} was added to `{}`", named(item), revision.keyword);
        both.report(cx, revision.rules().0, None, Some(At::of(item)), what);
    }
}

/// Whether two alternatives have the same values.
fn is_equal<'a>(cx: &mut Comparer<'a>, both: &Both<'a>, one: Object<'a>, other: Object<'a>) -> bool {
    let (one, other) = (at(cx, Side::Base, &[one], one), at(cx, Side::Revision, &[other], other));
    let (one, other) = (cx.schema(Side::Base, one), cx.schema(Side::Revision, other));
    Verdict::of(&mut cx.inclusion, (&one, &other), both.role) == Verdict::Same
}

fn not<'a>(cx: &mut Comparer<'a>, both: &Both<'a>) {
    let (base, revision) = (both.base.children("not"), both.revision.children("not"));
    let mut lacking = |those: &[Object<'a>], these: &[Object<'a>]| {
        let is_there = |cx: &mut Comparer<'a>, one| those.iter().any(|other| is_same(cx, one, *other));
        these.iter().find(|one| !is_there(cx, **one)).map(At::of)
    };
    let (removed, added) = (lacking(&revision, &base), lacking(&base, &revision));
    match (removed, added) {
        (None, None) => {}
        (None, Some(_)) => both.report(cx, &rules::NOT_SET, None, added, "`not` excludes more values"),
        (Some(_), None) => both.report(cx, &rules::NOT_UNSET, removed, None, "`not` excludes fewer values"),
        (Some(_), Some(_)) => {
            both.report(cx, &rules::NOT_CHANGED, removed, added, "`not` excludes other values");
        }
    }
}

/// What makes an alternative the same as another.
fn identity(item: Object<'_>) -> String {
    match item.text("$ref") {
        Some(reference) => reference.to_owned(),
        None => canonical(item.node()),
    }
}

fn named(item: &Object<'_>) -> String {
    let name = item.text("$ref").or_else(|| item.text("title"));
    name.map_or("without a name".to_owned(), |name| format!("`{}`", name.rsplit('/').next().unwrap_or(name)))
}

/// Whether two schemas are the same data, with references followed and without the keywords that restrict
/// nothing. The schemas may be of different documents, or of the same.
pub(in crate::breaking) fn is_same<'a>(cx: &mut Comparer<'a>, one: Object<'a>, other: Object<'a>) -> bool {
    let mut seen = HashSet::new();
    let mut open = vec![(one, other)];
    while let Some((one, other)) = open.pop() {
        // Where the work is used up, which was reported, a difference is not known.
        if !cx.may_go_on() {
            return true;
        }
        let (one, other) = match (one.resolved(), other.resolved()) {
            (Some(one), Some(other)) => (one, other),
            (None, None) if same(one.node(), other.node()) => continue,
            _ => return false,
        };
        if !seen.insert((one.id, other.id)) {
            continue;
        }
        let matter = |schema: &Object<'a>| {
            let entries = schema.node().entries().iter().map(|entry| entry.key.as_str());
            entries.filter(|key| !WORDS.contains(key)).collect::<Vec<_>>()
        };
        let keywords = matter(&one);
        if keywords.len() != matter(&other).len() {
            return false;
        }
        for keyword in keywords {
            let keyed = |schema: &Object<'a>| {
                let children = schema.children(keyword).collect::<Vec<_>>();
                children.into_iter().map(|child| (child.name(), child)).collect::<Vec<_>>()
            };
            let (ones, others) = (keyed(&one), keyed(&other));
            if ones.is_empty() || others.is_empty() {
                if !one.get(keyword).zip(other.get(keyword)).is_some_and(|(one, other)| same(one, other)) {
                    return false;
                }
                continue;
            }
            let paired = pairs(ones, others);
            if !paired.removed.is_empty() || !paired.added.is_empty() {
                return false;
            }
            open.extend(paired.both);
        }
    }
    true
}
