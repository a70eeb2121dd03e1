//! `enum`: the values that are allowed.

use std::collections::HashSet;

use super::{Both, Schema};
use crate::breaking::comparer::Comparer;
use crate::breaking::data::{canonical, shown};
use crate::breaking::place::At;
use crate::breaking::rules;

pub(super) fn compare<'a>(cx: &mut Comparer<'a>, both: &Both<'a>) {
    match (both.base.first("enum"), both.revision.first("enum")) {
        (None, None) => {}
        (None, Some(new)) => {
            let what = format!("its values are restricted to {}", shown(&new));
            both.report(cx, &rules::ENUM_SET, None, Some(new), what);
        }
        (Some(old), None) => {
            let what = format!("its values are no longer restricted to {}", shown(&old));
            both.report(cx, &rules::ENUM_UNSET, Some(old), None, what);
        }
        (Some(_), Some(list)) => {
            let rules = both.rules(&rules::ENUM_VALUE_ADDED, &rules::ENUM_VALUE_REMOVED);
            cx.in_both("value", rules, (values(&both.base), values(&both.revision)), list);
        }
    }
}

/// The values that all lists of the schema share, each once.
fn values<'a>(schema: &Schema<'a>) -> Vec<(String, At<'a>)> {
    let keyed = |list: At<'a>| list.items().map(|value| (canonical(&value), value));
    let mut lists = schema.all("enum");
    let mut seen = HashSet::new();
    let first = lists.next().into_iter().flat_map(keyed);
    let mut shared: Vec<_> = first.filter(|(key, _)| seen.insert(key.clone())).collect();
    for list in lists {
        let values: HashSet<String> = keyed(list).map(|(key, _)| key).collect();
        shared.retain(|(key, _)| values.contains(key));
    }
    shared
}
