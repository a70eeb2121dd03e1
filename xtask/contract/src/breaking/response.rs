//! The responses of an operation, by status.

use super::comparer::Comparer;
use super::data::{pairs, same_or_missing};
use super::place::At;
use super::rules::{self, Role};
use super::{header, media_type, unknown};
use crate::openapi::{Object, Operation, Response};

pub(super) fn compare<'a>(cx: &mut Comparer<'a>, old: &Operation<'a>, new: &Operation<'a>) {
    for (old, new) in old.child("responses").into_iter().zip(new.child("responses")) {
        unknown::compare(cx, &old, &new, &[]);
    }
    let survivor = At::value_or_object(new, "responses");
    for pair in pairs(responses(old), responses(new)) {
        match pair {
            (Some(old), Some(new)) => both(cx, old, new),
            (Some(old), None) => {
                let status = old.name();
                let rule = match is_success(status) {
                    true => &rules::SUCCESS_REMOVED,
                    false => &rules::FAILURE_REMOVED,
                };
                cx.report(
                    rule,
                    Some(At::of(&old)),
                    Some(survivor),
                    format!("the status {status} was removed"),
                );
            }
            (None, Some(new)) => {
                let rule = if is_success(new.name()) { &rules::SUCCESS_ADDED } else { &rules::FAILURE_ADDED };
                cx.report(rule, None, Some(At::of(&new)), "it was added");
            }
            (None, None) => {}
        }
    }
}

/// The Response Objects or references by status.
fn responses<'a>(operation: &Operation<'a>) -> impl Iterator<Item = (&'a str, Object<'a>)> {
    let responses = operation.child("responses").into_iter().flat_map(|responses| responses.parts());
    responses.map(|response| (response.name(), response))
}

fn is_success(status: &str) -> bool {
    status.starts_with('2')
}

fn both<'a>(cx: &mut Comparer<'a>, old: Object<'a>, new: Object<'a>) {
    let (Some(old), Some(new)) = (Response::new(old), Response::new(new)) else { return };
    unknown::compare(cx, &old, &new, &[]);
    header::compare(cx, &old, &new);
    media_type::compare(cx, &old, &new, Role::Response);
    if !same_or_missing(old.get("links"), new.get("links")) {
        cx.report_keyword(&rules::LINKS_CHANGED, (&old, &new), "links", "its links changed");
    }
}
