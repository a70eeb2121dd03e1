//! `oneOf`, `anyOf`, `not` and `discriminator`. (`allOf` is resolved before anything is compared.)
//!
//! Alternatives are paired when they refer to the same component or have the same content. Of the others, those
//! that are not references are paired in their order: that is how an edited one is found.

use std::collections::HashSet;

use super::{Both, Schema};
use crate::breaking::comparer::Comparer;
use crate::breaking::data::{canonical, pairs, same, shown};
use crate::breaking::place::At;
use crate::breaking::rules::{self, Family};
use crate::breaking::unknown;
use crate::openapi::Object;

/// The keywords that allow and forbid no value.
const WORDS: [&str; 6] = ["title", "description", "example", "externalDocs", "discriminator", "deprecated"];

pub(super) fn compare<'a>(cx: &mut Comparer<'a>, both: &Both<'a>) {
    alternatives(cx, both, "oneOf", &rules::ONE_OF_ADDED, &rules::ONE_OF_REMOVED);
    alternatives(cx, both, "anyOf", &rules::ANY_OF_ADDED, &rules::ANY_OF_REMOVED);
    not(cx, both);
    discriminator(cx, both);
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

fn alternatives<'a>(
    cx: &mut Comparer<'a>,
    both: &Both<'a>,
    keyword: &'static str,
    added: &'static Family,
    removed: &'static Family,
) {
    let (base, revision) = (both.base.first(keyword), both.revision.first(keyword));
    match (base, revision) {
        (None, None) => return,
        (None, Some(_)) => {
            let what = format!("it must now match an alternative of `{keyword}`");
            return both.report(cx, &rules::ALTERNATIVES_SET, base, revision, what);
        }
        (Some(_), None) => {
            let what = format!("it need no longer match an alternative of `{keyword}`");
            return both.report(cx, &rules::ALTERNATIVES_UNSET, base, revision, what);
        }
        (Some(_), Some(_)) => {}
    }
    let items = |schema: &Schema<'a>| {
        let items = schema.children(keyword).into_iter();
        items.map(|item| (identity(item), item)).collect::<Vec<_>>()
    };
    let paired = pairs(items(&both.base), items(&both.revision));
    for (old, new) in paired.both {
        both.compare_at(cx, &[old], &[new], both.role);
    }
    let (old_references, old): (Vec<_>, Vec<_>) = paired.removed.into_iter().partition(Object::is_reference);
    let (new_references, new): (Vec<_>, Vec<_>) = paired.added.into_iter().partition(Object::is_reference);
    for (one, other) in old.iter().zip(&new) {
        both.compare_at(cx, &[*one], &[*other], both.role);
    }
    for item in old_references.iter().chain(old.iter().skip(new.len())) {
        let what = format!("the alternative {} of `{keyword}` was removed", named(item));
        both.report(cx, removed, Some(At::of(item)), revision, what);
    }
    for item in new_references.iter().chain(new.iter().skip(old.len())) {
        let what = format!("the alternative {} was added to `{keyword}`", named(item));
        both.report(cx, added, None, Some(At::of(item)), what);
    }
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

/// Compares the property that tells which alternative a value is.
fn discriminator<'a>(cx: &mut Comparer<'a>, both: &Both<'a>) {
    let those = |schema: &Schema<'a>| schema.children("discriminator").first().copied();
    let (old, new) = match (those(&both.base), those(&both.revision)) {
        (None, None) => return,
        (None, Some(new)) => {
            let what = "a `discriminator` was added";
            return both.report(cx, &rules::DISCRIMINATOR_ADDED, None, Some(At::of(&new)), what);
        }
        (Some(old), None) => {
            let what = "its `discriminator` was removed";
            return both.report(cx, &rules::DISCRIMINATOR_REMOVED, Some(At::of(&old)), None, what);
        }
        (Some(old), Some(new)) => (old, new),
    };
    cx.compare_keyword(rules::DISCRIMINATOR_RENAMED.rule(both.role), (&old, &new), "propertyName");
    mapping(cx, both, &old, &new);
    unknown::compare(cx, &old, &new, &[]);
}

fn mapping<'a>(cx: &mut Comparer<'a>, both: &Both<'a>, old: &Object<'a>, new: &Object<'a>) {
    let mapping = |discriminator: &Object<'a>| {
        At::value(discriminator, "mapping").into_iter().flat_map(At::entries).collect::<Vec<_>>()
    };
    let survivor = At::value_or_object(new, "mapping");
    let rules = both.rules(&rules::MAPPING_ADDED, &rules::MAPPING_DELETED);
    let in_both = cx.in_both("discriminating value", rules, (mapping(old), mapping(new)), survivor);
    for (old, new) in in_both.into_iter().filter(|(old, new)| !same(old, new)) {
        let (from, to) = (shown(&old), shown(&new));
        let what = format!("the discriminating value {} changed from {from} to {to}", old.name());
        both.report(cx, &rules::MAPPING_CHANGED, Some(old), Some(new), what);
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
