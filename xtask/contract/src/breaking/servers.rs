//! Servers. Two are the same if their URL is.

use super::comparer::Comparer;
use super::data::{canonical, pairs, shown};
use super::place::At;
use super::{rules, unknown};
use crate::openapi::Object;

/// Compares the `servers` of two objects, as far as they have any.
pub(super) fn compare<'a>(cx: &mut Comparer<'a>, old: &Object<'a>, new: &Object<'a>) {
    let servers = |owner: &Object<'a>| owner.children("servers").map(|server| (server.text("url"), server));
    let survivor = At::value_or_object(new, "servers");
    let paired = pairs(servers(old).collect::<Vec<_>>(), servers(new).collect::<Vec<_>>());
    for (old, new) in paired.both {
        both(cx, &old, &new);
    }
    let (removed, added) = (paired.removed, paired.added);
    let url = |server: &Object<'a>| server.get("url").map_or("without a URL".to_owned(), shown);
    for (old, new) in removed.iter().zip(&added) {
        let what = format!("its URL changed from {} to {}", url(old), url(new));
        let place = At::value_or_object(new, "url");
        cx.report(&rules::SERVER_CHANGED, Some(At::of(old)), Some(place), what);
    }
    for old in removed.iter().skip(added.len()) {
        let what = format!("the server {} was removed", url(old));
        cx.report(&rules::SERVER_REMOVED, Some(At::of(old)), Some(survivor), what);
    }
    for new in added.iter().skip(removed.len()) {
        cx.report(&rules::SERVER_ADDED, None, Some(At::of(new)), "it was added");
    }
}

fn both<'a>(cx: &mut Comparer<'a>, old: &Object<'a>, new: &Object<'a>) {
    unknown::compare(cx, old, new, &[]);
    let rules = (&rules::SERVER_VARIABLE_ADDED, &rules::SERVER_VARIABLE_REMOVED);
    for (old, new) in cx.children_in_both("variable", rules, (old, new), "variables") {
        variable(cx, &old, &new);
    }
}

fn variable<'a>(cx: &mut Comparer<'a>, old: &Object<'a>, new: &Object<'a>) {
    unknown::compare(cx, old, new, &[]);
    cx.compare_keyword(&rules::SERVER_VARIABLE_DEFAULT, (old, new), "default");
    // Without a list any value is allowed.
    let (removed, added) = (&rules::SERVER_VARIABLE_VALUE_REMOVED, &rules::SERVER_VARIABLE_VALUE_ADDED);
    match (At::value(old, "enum"), At::value(new, "enum")) {
        (None, None) => {}
        (None, Some(list)) => {
            let what = format!("its values are restricted to {}", shown(&list));
            cx.report(removed, None, Some(list), what);
        }
        (Some(list), None) => {
            let what = format!("its values are no longer restricted to {}", shown(&list));
            cx.report(added, Some(list), Some(At::of(new)), what);
        }
        (Some(old), Some(new)) => {
            let values = |list: At<'a>| list.items().map(|value| (canonical(&value), value));
            cx.in_both("value", (added, removed), (values(old), values(new)), new);
        }
    }
}
