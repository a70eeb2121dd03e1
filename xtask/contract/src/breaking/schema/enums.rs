//! `enum`: the values there are.

use std::collections::HashMap;

use crate::document::Node;

use super::{Both, Schema};
use crate::breaking::comparer::Comparer;
use crate::breaking::rules;
use crate::breaking::values::{canonical, shown};

/// The values, by what they are as data, and the list they are in.
struct Values<'a> {
    list: &'a Node,
    values: HashMap<String, &'a Node>,
}

pub(super) fn compare<'a>(cx: &mut Comparer<'a>, both: &Both<'a>) {
    let (base, revision) = match (values(&both.base), values(&both.revision)) {
        (None, None) => return,
        (None, Some(new)) => {
            let what = format!("only some values are left: {}", shown(new.list));
            return both.report(cx, &rules::ENUM_SET, None, Some(new.list), what);
        }
        (Some(old), None) => {
            let what = format!("the list of its values was removed: {}", shown(old.list));
            return both.report(cx, &rules::ENUM_UNSET, Some(old.list), None, what);
        }
        (Some(old), Some(new)) => (old, new),
    };
    for node in only_in(&base, &revision) {
        let what = format!("the value {} was removed", shown(node));
        both.report(cx, &rules::ENUM_VALUE_REMOVED, Some(node), Some(revision.list), what);
    }
    for node in only_in(&revision, &base) {
        let what = format!("the value {} was added", shown(node));
        both.report(cx, &rules::ENUM_VALUE_ADDED, None, Some(node), what);
    }
}

/// In the order of the file.
fn only_in<'a>(these: &Values<'a>, those: &Values<'a>) -> Vec<&'a Node> {
    let only = these.values.iter().filter(|(value, _)| !those.values.contains_key(*value));
    let mut nodes: Vec<_> = only.map(|(_, node)| *node).collect();
    nodes.sort_by_key(|node| node.span.start);
    nodes
}

/// What all lists of the schema share.
fn values<'a>(schema: &Schema<'a>) -> Option<Values<'a>> {
    let mut shared: Option<Values<'a>> = None;
    for list in schema.all("enum") {
        let values: HashMap<_, _> = list.items().iter().map(|node| (canonical(node), node)).collect();
        match &mut shared {
            None => shared = Some(Values { list, values }),
            Some(shared) => shared.values.retain(|value, _| values.contains_key(value)),
        }
    }
    shared
}
