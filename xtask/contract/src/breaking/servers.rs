//! Servers: where requests go. A server is the same if its URL is.

use std::collections::{HashMap, HashSet, VecDeque};

use crate::document::Node;

use super::comparer::{Comparer, Side};
use super::values::{canonical, same, shown};
use super::{rules, unknown};

pub(super) fn compare<'a>(cx: &mut Comparer<'a>, old: &'a Node, new: &'a Node) {
    let before = cx.list(Side::Base, old, "servers");
    let after = cx.list(Side::Revision, new, "servers");
    let url = |server: &'a Node| server.get("url").and_then(Node::as_str);
    let mut left: HashMap<Option<&str>, VecDeque<&'a Node>> = HashMap::new();
    for server in after {
        left.entry(url(server)).or_default().push_back(server);
    }
    let mut removed = Vec::new();
    for server in before {
        match left.get_mut(&url(server)).and_then(VecDeque::pop_front) {
            Some(new) => both(cx, server, new),
            None => removed.push(server),
        }
    }
    let mut added: Vec<_> = left.into_values().flatten().collect();
    added.sort_by_key(|server| server.span.start);
    let name = |server: &'a Node| server.get("url").map_or("without a URL".to_owned(), shown);
    for (old, new) in removed.iter().zip(&added) {
        let what = format!("its URL went from {} to {}", name(old), name(new));
        cx.report(&rules::SERVER_CHANGED, Some(old), Some(new.get("url").unwrap_or(new)), what);
    }
    let survivor = new.get("servers").unwrap_or(new);
    for old in removed.iter().skip(added.len()) {
        let what = format!("the server {} was removed", name(old));
        cx.report(&rules::SERVER_REMOVED, Some(old), Some(survivor), what);
    }
    for new in added.iter().skip(removed.len()) {
        cx.report(&rules::SERVER_ADDED, None, Some(new), "it is new");
    }
}

fn both<'a>(cx: &mut Comparer<'a>, old: &'a Node, new: &'a Node) {
    unknown::compare(cx, (old, new), &["url", "description", "variables"]);
    let before = cx.mapping(Side::Base, old, "variables");
    let after = cx.mapping(Side::Revision, new, "variables");
    for entry in before.map(Node::entries).unwrap_or_default() {
        match after.and_then(|variables| variables.get(&entry.key)) {
            Some(new) => variable(cx, &entry.value, new),
            None => {
                let what = format!("the variable `{}` was removed", entry.key);
                cx.report(&rules::SERVER_VARIABLE_REMOVED, Some(&entry.value), after.or(Some(new)), what);
            }
        }
    }
    for entry in after.map(Node::entries).unwrap_or_default() {
        if before.and_then(|variables| variables.get(&entry.key)).is_none() {
            cx.report(&rules::SERVER_VARIABLE_ADDED, None, Some(&entry.value), "it is new");
        }
    }
}

fn variable<'a>(cx: &mut Comparer<'a>, old: &'a Node, new: &'a Node) {
    unknown::compare(cx, (old, new), &["default", "enum", "description"]);
    let (before, after) = (old.get("default"), new.get("default"));
    match (before, after) {
        (Some(before), Some(after)) if !same(before, after) => {
            let what = format!("its default went from {} to {}", shown(before), shown(after));
            cx.report(&rules::SERVER_VARIABLE_DEFAULT, Some(before), Some(after), what);
        }
        (before, after) if before.is_some() != after.is_some() => {
            let what = "its default came or went";
            cx.report(&rules::SERVER_VARIABLE_DEFAULT, before, after.or(Some(new)), what);
        }
        _ => {}
    }
    // Without a list any value is allowed.
    let (before, after) = (old.get("enum"), new.get("enum"));
    let data = |list: &Node| list.items().iter().map(canonical).collect::<HashSet<_>>();
    match (before, after) {
        (None, Some(list)) => {
            let what = format!("only some values are left: {}", shown(list));
            cx.report(&rules::SERVER_VARIABLE_VALUE_REMOVED, None, Some(list), what);
        }
        (Some(list), None) => {
            let what = format!("the list of its values was removed: {}", shown(list));
            cx.report(&rules::SERVER_VARIABLE_VALUE_ADDED, Some(list), Some(new), what);
        }
        (Some(old), Some(new)) => {
            let (old_data, new_data) = (data(old), data(new));
            for value in old.items().iter().filter(|value| !new_data.contains(&canonical(value))) {
                let what = format!("the value {} was removed", shown(value));
                cx.report(&rules::SERVER_VARIABLE_VALUE_REMOVED, Some(value), Some(new), what);
            }
            for value in new.items().iter().filter(|value| !old_data.contains(&canonical(value))) {
                let what = format!("the value {} was added", shown(value));
                cx.report(&rules::SERVER_VARIABLE_VALUE_ADDED, None, Some(value), what);
            }
        }
        (None, None) => {}
    }
}
