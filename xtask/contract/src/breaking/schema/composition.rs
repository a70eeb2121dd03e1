//! `oneOf`, `anyOf` and `not`. (`allOf` is taken apart before anything is compared.)
//!
//! Alternatives belong together when they refer to the same component or say the same. Those left over
//! are paired in their order as long as neither is a reference: that is how an edited one is found.

use std::collections::{HashMap, HashSet, VecDeque};

use crate::document::{Node, Value};

use super::{Both, Schema, compare_at};
use crate::breaking::comparer::{Comparer, Side};
use crate::breaking::rules::{self, Family};
use crate::breaking::values::canonical;

/// What says nothing about values.
const WORDS: [&str; 6] = ["title", "description", "example", "externalDocs", "discriminator", "deprecated"];

pub(super) fn compare<'a>(cx: &mut Comparer<'a>, both: &Both<'a>) {
    alternatives(cx, both, "oneOf", &rules::ONE_OF_ADDED, &rules::ONE_OF_REMOVED);
    alternatives(cx, both, "anyOf", &rules::ANY_OF_ADDED, &rules::ANY_OF_REMOVED);
    not(cx, both);
}

/// Whether a schema became one of several alternatives, or the other way round. If so nothing else about
/// it is worth a word.
pub(super) fn is_wrapping<'a>(cx: &mut Comparer<'a>, both: &Both<'a>) -> bool {
    let (base, revision) = (&both.base, &both.revision);
    for keyword in ["oneOf", "anyOf"] {
        match (base.first(keyword), revision.first(keyword)) {
            (None, Some(list)) if wraps(cx, Side::Revision, revision, keyword, Side::Base, base) => {
                let what = format!("it became one of several alternatives, in `{keyword}`");
                both.report(cx, &rules::WRAPPED, Some(base.anchor), Some(list), what);
                return true;
            }
            (Some(list), None) if wraps(cx, Side::Base, base, keyword, Side::Revision, revision) => {
                let what = format!("only one of its alternatives, in `{keyword}`, is left");
                both.report(cx, &rules::UNWRAPPED, Some(list), None, what);
                return true;
            }
            _ => {}
        }
    }
    false
}

/// Whether the one is nothing but alternatives, and the other is among them.
fn wraps<'a>(
    cx: &mut Comparer<'a>,
    side: Side,
    wrapper: &Schema<'a>,
    keyword: &str,
    other_side: Side,
    wrapped: &Schema<'a>,
) -> bool {
    let ([wrapper], [wrapped]) = (wrapper.parts.as_slice(), wrapped.parts.as_slice()) else { return false };
    let says_more = |key: &str| key != keyword && !WORDS.contains(&key);
    if wrapper.entries().iter().any(|entry| says_more(&entry.key)) {
        return false;
    }
    let items = cx.list(side, wrapper, keyword);
    items.iter().any(|item| say_the_same(cx, (side, item), (other_side, wrapped)))
}

fn alternatives<'a>(
    cx: &mut Comparer<'a>,
    both: &Both<'a>,
    keyword: &'static str,
    added: &Family,
    removed: &Family,
) {
    let (base, revision) = (both.base.first(keyword), both.revision.first(keyword));
    match (base, revision) {
        (None, None) => return,
        (None, Some(_)) => {
            let what = format!("it must now fit an alternative of `{keyword}`");
            return both.report(cx, &rules::ALTERNATIVES_SET, base, revision, what);
        }
        (Some(_), None) => {
            let what = format!("it need no longer fit an alternative of `{keyword}`");
            return both.report(cx, &rules::ALTERNATIVES_UNSET, base, revision, what);
        }
        (Some(_), Some(_)) => {}
    }
    let items = |schema: &Schema<'a>| schema.all(keyword).flat_map(|list| list.items()).collect::<Vec<_>>();
    let mut theirs: HashMap<String, VecDeque<&'a Node>> = HashMap::new();
    for item in items(&both.revision) {
        theirs.entry(identity(item)).or_default().push_back(item);
    }
    let mut old = Vec::new();
    for item in items(&both.base) {
        match theirs.get_mut(&identity(item)).and_then(VecDeque::pop_front) {
            Some(same) => pair(cx, both, item, same),
            None => old.push(item),
        }
    }
    let mut new: Vec<_> = theirs.into_values().flatten().collect();
    new.sort_by_key(|item| item.span.start);
    let is_reference = |item: &&'a Node| item.get("$ref").is_some();
    let (old_references, old): (Vec<_>, Vec<_>) = old.into_iter().partition(is_reference);
    let (new_references, new): (Vec<_>, Vec<_>) = new.into_iter().partition(is_reference);
    for (one, other) in old.iter().zip(&new) {
        pair(cx, both, one, other);
    }
    let old_left = old_references.iter().chain(old.iter().skip(new.len()));
    for item in old_left {
        let what = format!("the alternative {} of `{keyword}` was removed", named(item));
        both.report(cx, removed, Some(item), revision, what);
    }
    for item in new_references.iter().chain(new.iter().skip(old.len())) {
        let what = format!("the alternative {} was added to `{keyword}`", named(item));
        both.report(cx, added, None, Some(item), what);
    }
}

fn pair<'a>(cx: &mut Comparer<'a>, both: &Both<'a>, base: &'a Node, revision: &'a Node) {
    compare_at(cx, (&[base], base), (&[revision], revision), both.role);
}

fn not<'a>(cx: &mut Comparer<'a>, both: &Both<'a>) {
    let base: Vec<_> = both.base.all("not").collect();
    let revision: Vec<_> = both.revision.all("not").collect();
    let mut lacking = |those: (Side, &[&'a Node]), these: (Side, &[&'a Node])| {
        let is_there = |cx: &mut Comparer<'a>, node: &'a Node| {
            those.1.iter().any(|other| say_the_same(cx, (these.0, node), (those.0, other)))
        };
        these.1.iter().copied().find(|node| !is_there(cx, node))
    };
    let removed = lacking((Side::Revision, &revision), (Side::Base, &base));
    let added = lacking((Side::Base, &base), (Side::Revision, &revision));
    match (removed, added) {
        (None, None) => {}
        (None, Some(_)) => both.report(cx, &rules::NOT_SET, None, added, "`not` rules out more values"),
        (Some(_), None) => both.report(cx, &rules::NOT_UNSET, removed, None, "`not` rules out fewer values"),
        (Some(_), Some(_)) => {
            both.report(cx, &rules::NOT_CHANGED, removed, added, "`not` rules out other values");
        }
    }
}

/// What makes an alternative the same as another.
fn identity(item: &Node) -> String {
    match item.get("$ref").and_then(Node::as_str) {
        Some(reference) => reference.to_owned(),
        None => canonical(item),
    }
}

fn named(item: &Node) -> String {
    let name = item.get("$ref").or_else(|| item.get("title")).and_then(Node::as_str);
    name.map_or("without a name".to_owned(), |name| format!("`{}`", name.rsplit('/').next().unwrap_or(name)))
}

/// Whether two schemas are the same data, references followed and words left out.
pub(in crate::breaking) fn say_the_same<'a>(
    cx: &mut Comparer<'a>,
    one: (Side, &'a Node),
    other: (Side, &'a Node),
) -> bool {
    let mut seen = HashSet::new();
    let mut open = vec![(one.1, other.1)];
    while let Some((a, b)) = open.pop() {
        // Having given up, which was noted, is no reason to speak of a difference.
        if !cx.may_go_on() {
            return true;
        }
        let (a, b) = match (cx.resolve(one.0, a), cx.resolve(other.0, b)) {
            (Some(a), Some(b)) => (a, b),
            (None, None) if canonical(a) == canonical(b) => continue,
            _ => return false,
        };
        if !seen.insert((std::ptr::from_ref(a), std::ptr::from_ref(b))) {
            continue;
        }
        match (&a.value, &b.value) {
            (Value::Mapping(_), Value::Mapping(_)) => {
                let matter = |node: &'a Node| {
                    node.entries().iter().filter(|entry| !WORDS.contains(&entry.key.as_str()))
                };
                if matter(a).count() != matter(b).count() {
                    return false;
                }
                for entry in matter(a) {
                    match b.get(&entry.key) {
                        Some(value) => open.push((&entry.value, value)),
                        None => return false,
                    }
                }
            }
            (Value::Sequence(a), Value::Sequence(b)) if a.len() == b.len() => open.extend(a.iter().zip(b)),
            _ if canonical(a) == canonical(b) => {}
            _ => return false,
        }
    }
    true
}
