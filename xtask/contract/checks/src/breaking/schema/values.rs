//! `enum`: the values that are allowed, and `x-extensible-enum`: those that are known.

use std::collections::{BTreeSet, HashSet};

use document::Value;

use super::both::Both;
use super::types;
use crate::breaking::comparer::Comparer;
use crate::breaking::conjunction::{Schema, Verdict};
use crate::breaking::data::{canonical, display};
use crate::breaking::place::At;
use crate::breaking::rules;

pub(super) fn compare<'a>(cx: &mut Comparer<'a>, both: &Both<'a>) {
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
            if listed(&both.base) == listed(&both.revision) {
                // Another keyword excludes values.
                return;
            }
            // Text cannot express null.
            let without_null = both.role.is_text() || types::decide_null(both);
            let mut base = values(cx, &both.base, without_null);
            let mut revision = values(cx, &both.revision, without_null);
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

/// The values of an open list, to which values can be added at any time (Zalando RESTful API Guidelines, rule 112).
pub(super) const OPEN: &str = "x-extensible-enum";

/// Compares the values of open lists, which restrict nothing.
pub(super) fn compare_open<'a>(cx: &mut Comparer<'a>, both: &Both<'a>) {
    if let (Some(old), Some(new)) = (both.base.first(OPEN), both.revision.first(OPEN)) {
        let rules = both.rules(&rules::OPEN_ENUM_VALUE_ADDED, &rules::OPEN_ENUM_VALUE_REMOVED);
        let keyed = |list: At<'a>| list.items().map(|value| (canonical(&value), value)).collect::<Vec<_>>();
        cx.in_both("value", rules, (keyed(old), keyed(new)), new);
    }
}

/// Returns the values of all lists.
fn listed(schema: &Schema<'_>) -> BTreeSet<String> {
    schema.all("enum").flat_map(At::items).map(|value| canonical(&value)).collect()
}

/// Returns the values that every `enum` of the schema has and no other keyword excludes, each once.
fn values<'a>(cx: &mut Comparer<'a>, schema: &Schema<'a>, without_null: bool) -> Vec<(String, At<'a>)> {
    let keyed = |list: At<'a>| list.items().map(|value| (canonical(&value), value));
    let mut lists = schema.all("enum");
    let mut seen = HashSet::new();
    let first = lists.next().into_iter().flat_map(keyed);
    let mut shared: Vec<_> = first.filter(|(key, _)| seen.insert(key.clone())).collect();
    for list in lists {
        let values: HashSet<String> = keyed(list).map(|(key, _)| key).collect();
        shared.retain(|(key, _)| values.contains(key));
    }
    let schemas = &mut cx.inclusion.schemas;
    shared.retain(|(_, value)| !(without_null && matches!(value.value, Value::Null)));
    shared.retain(|(key, value)| schemas.accepts_listed(schema.values, key, &value.to_json()) != Some(false));
    shared
}
