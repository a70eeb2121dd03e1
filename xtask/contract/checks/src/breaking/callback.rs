//! Callbacks: requests that the service sends to a URL of the client.
//!
//! The direction is reversed: the request is received by the client, so it is compared like a response, and the
//! reply of the client is accepted or refused by the service, so it is compared like a request.

use document::openapi::{METHODS, Operation};

use super::comparer::Comparer;
use super::data::pairs;
use super::lists::named;
use super::matching::pairs_then;
use super::operation::exchange;
use super::place::At;
use super::rules::{self, ChangeRule};
use super::unknown;

macro_rules! reversed {
    ($($reversed:ident: $($rule:ident)+;)*) => {
        [$((&rules::$reversed, &[$(&rules::$rule),+] as &[&ChangeRule])),*]
    };
}

/// The rules about callbacks, each with the rules about operations that it replaces.
static REVERSED: [(&ChangeRule, &[&ChangeRule]); 4] = reversed! {
    CALLBACK_REQUEST_INCOMPATIBLE:
        PARAMETER_REMOVED PARAMETER_REMOVED_BEFORE_SUNSET PARAMETER_MOVED PARAMETER_OPTIONAL PARAMETER_SERIALIZATION
        PARAMETER_SPELLING_WIDENED BODY_REMOVED BODY_OPTIONAL REQUEST_MEDIA_ADDED ENCODING_CHANGED ENCODING_WIDENED;
    CALLBACK_REQUEST_CHANGED:
        PARAMETER_ADDED_REQUIRED PARAMETER_ADDED_OPTIONAL PATH_PARAMETER_ADDED PARAMETER_REMOVED_DEPRECATED
        PARAMETER_REQUIRED PARAMETER_SPELLING_NARROWED BODY_ADDED_REQUIRED BODY_ADDED_OPTIONAL BODY_REQUIRED
        REQUEST_MEDIA_REMOVED;
    CALLBACK_REPLY_INCOMPATIBLE:
        SUCCESS_REMOVED RESPONSE_MEDIA_REMOVED HEADER_REQUIRED HEADER_SERIALIZATION;
    CALLBACK_REPLY_CHANGED:
        SUCCESS_ADDED FAILURE_ADDED FAILURE_REMOVED RESPONSE_MEDIA_ADDED HEADER_ADDED HEADER_OPTIONAL
        HEADER_REMOVED_REQUIRED HEADER_REMOVED_OPTIONAL;
};

/// Returns the rule about callbacks that replaces a rule about operations.
pub(super) fn reversed(rule: &'static ChangeRule) -> &'static ChangeRule {
    let reversed = REVERSED.iter().find(|(_, rules)| rules.contains(&rule));
    reversed.map_or(rule, |(reversed, _)| reversed)
}

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
