//! Callbacks: requests that the service sends to a URL of the client.
//!
//! The direction is reversed: the request is received by the client, so it is compared like a response, and the
//! reply of the client is accepted or refused by the service, so it is compared like a request.

use document::openapi::{METHODS, Operation};

use super::comparer::Comparer;
use super::data::pairs;
use super::matching::{named, pairs_then};
use super::operation::exchange;
use super::place::At;
use super::rules;
use super::unknown;

/// Compares the callbacks of an operation, matched by the expressions of their URLs.
pub(super) fn compare<'a>(cx: &mut Comparer<'a>, old: &Operation<'a>, new: &Operation<'a>) {
    let requests = |operation: &Operation<'a>| {
        let requests = operation.callbacks().flat_map(|(name, item)| {
            METHODS.map(|method| ((name, item.path(), method), item.operation(method)))
        });
        requests.filter_map(|(key, operation)| Some((key, operation?))).collect::<Vec<_>>()
    };
    // Two callbacks can have the same expression and different names.
    let key = |operation: Operation<'a>| (operation.path(), operation.method());
    let (named_alike, paired) = pairs_then(requests(old), requests(new), key);
    for (old, new) in named_alike.into_iter().chain(paired.both) {
        cx.once(("callback", old.id, new.id), |cx| {
            cx.in_callback = true;
            unknown::compare(cx, &old.item(), &new.item(), &[]);
            exchange(cx, &old, &new);
            cx.in_callback = false;
            for keyword in ["callbacks", "security", "servers"] {
                cx.compare_keyword(&rules::CALLBACKS_CHANGED, (&old, &new), keyword);
            }
        });
    }
    let remaining = At::value_or_object(new, "callbacks");
    let request = |operation: &Operation<'_>| {
        format!("the request `{} {}`", operation.method().to_uppercase(), operation.path())
    };
    let is_unclear = |operation: &Operation<'a>| {
        let items = operation.resolved_children("callbacks").flat_map(|callback| callback.parts());
        operation.children("callbacks").chain(items).any(|part| part.resolved().is_none())
    };
    let (are_removed, are_added) = (!is_unclear(new), !is_unclear(old));
    for old in paired.removed.into_iter().filter(|_| are_removed) {
        let what = format!("{} is no longer sent", request(&old));
        cx.report(&rules::CALLBACK_REMOVED, Some(At::of(&old)), Some(remaining), what);
    }
    for new in paired.added.into_iter().filter(|_| are_added) {
        let what = format!("{} is now sent", request(&new));
        cx.report(&rules::CALLBACK_ADDED, None, Some(At::of(&new)), what);
    }
    let callbacks = pairs(named(old, "callbacks"), named(new, "callbacks")).both.into_iter();
    for (old, new) in callbacks.filter_map(|(old, new)| Some((old.resolved()?, new.resolved()?))) {
        unknown::compare(cx, &old, &new, &[]);
    }
}
