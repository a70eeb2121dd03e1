//! `enum` and `pattern`: the values that are allowed, and the regular expressions that a string matches.

use std::collections::{BTreeMap, HashSet};

use document::Value;
use document::finding::shortened;

use super::{Both, Schema, Verdict};
use crate::breaking::comparer::Comparer;
use crate::breaking::data::{canonical, display};
use crate::breaking::place::At;
use crate::breaking::rules;
use crate::subschema::Side;

pub(super) fn compare<'a>(cx: &mut Comparer<'a>, both: &Both<'a>) {
    allowed(cx, both);
    if both.base.may_be(&["string"]) && both.revision.may_be(&["string"]) {
        matched(cx, both);
    }
}

fn allowed<'a>(cx: &mut Comparer<'a>, both: &Both<'a>) {
    match (both.base.first("enum"), both.revision.first("enum")) {
        (None, None) => {}
        (None, Some(new)) => {
            let what = format!("its values are restricted to {}", display(&new));
            both.report(cx, &rules::ENUM_SET, None, Some(new), what);
        }
        (Some(old), None) => {
            let what = format!("its values are no longer restricted to {}", display(&old));
            both.report(cx, &rules::ENUM_UNSET, Some(old), None, what);
        }
        (Some(_), Some(list)) => {
            if both.verdict <= Verdict::Same {
                return;
            }
            let mut base = values(cx, Side::Base, &both.base, both.role.is_text());
            let mut revision = values(cx, Side::Revision, &both.revision, both.role.is_text());
            let (added, removed) = both.rules(&rules::ENUM_VALUE_ADDED, &rules::ENUM_VALUE_REMOVED);
            let keep = |these: &mut Vec<(String, At<'a>)>, those: &[(String, At<'a>)]| {
                let keys: HashSet<&String> = those.iter().map(|(key, _)| key).collect();
                these.retain(|(key, _)| keys.contains(key));
            };
            if !both.agrees(removed) {
                keep(&mut base, &revision);
            }
            if !both.agrees(added) {
                keep(&mut revision, &base);
            }
            cx.in_both("value", (added, removed), (base, revision), list);
        }
    }
}

/// Returns the values that every `enum` of the schema has and no other keyword excludes, each once.
fn values<'a>(
    cx: &mut Comparer<'a>,
    side: Side,
    schema: &Schema<'a>,
    is_text: bool,
) -> Vec<(String, At<'a>)> {
    let keyed = |list: At<'a>| list.items().map(|value| (canonical(&value), value));
    let mut lists = schema.all("enum");
    let mut seen = HashSet::new();
    let first = lists.next().into_iter().flat_map(keyed);
    let mut shared: Vec<_> = first.filter(|(key, _)| seen.insert(key.clone())).collect();
    for list in lists {
        let values: HashSet<String> = keyed(list).map(|(key, _)| key).collect();
        shared.retain(|(key, _)| values.contains(key));
    }
    let schemas = &mut cx.inclusion.schemas[side as usize];
    // Text cannot express null.
    shared.retain(|(_, value)| !(is_text && matches!(value.value, Value::Null)));
    shared.retain(|(_, value)| schemas.accepts(schema.values, &value.to_json()) != Some(false));
    shared
}

fn matched<'a>(cx: &mut Comparer<'a>, both: &Both<'a>) {
    let (base, revision) = (patterns(&both.base), patterns(&both.revision));
    let removed = base.iter().find(|(pattern, _)| !revision.contains_key(*pattern));
    let added = revision.iter().find(|(pattern, _)| !base.contains_key(*pattern));
    match (removed, added) {
        (None, None) => {}
        (None, Some((new, place))) => {
            let what = format!("it must now match the pattern `{}`", shortened(new));
            both.report(cx, &rules::PATTERN_ADDED, None, Some(*place), what);
        }
        (Some((old, place)), None) => {
            let what = format!("it need no longer match the pattern `{}`", shortened(old));
            both.report(cx, &rules::PATTERN_REMOVED, Some(*place), None, what);
        }
        (Some((old, old_place)), Some((new, new_place))) => {
            let what = format!("its pattern changed from `{}` to `{}`", shortened(old), shortened(new));
            let patterns = cx.inclusion.patterns();
            let family = match (patterns.includes(new, old), patterns.includes(old, new)) {
                (true, true) => return,
                (true, false) => &rules::PATTERN_GENERALIZED,
                (false, true) => &rules::PATTERN_SPECIALIZED,
                (false, false) => &rules::PATTERN_CHANGED,
            };
            both.report(cx, family, Some(*old_place), Some(*new_place), what);
        }
    }
}

fn patterns<'a>(schema: &Schema<'a>) -> BTreeMap<&'a str, At<'a>> {
    schema.all("pattern").filter_map(|at| Some((at.node().as_str()?, at))).collect()
}
