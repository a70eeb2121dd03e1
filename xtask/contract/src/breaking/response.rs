//! The responses of an operation, by status.

use super::comparer::Comparer;
use super::data::same_or_missing;
use super::place::At;
use super::rules::{self, Role};
use super::{header, media_type, unknown};
use crate::openapi::{Object, Operation, Response};

pub(super) fn compare<'a>(cx: &mut Comparer<'a>, old: &Operation<'a>, new: &Operation<'a>) {
    for (old, new) in old.child("responses").into_iter().zip(new.child("responses")) {
        unknown::compare(cx, &old, &new, &[]);
    }
    let survivor = At::value_or_object(new, "responses");
    let success = (&rules::SUCCESS_ADDED, &rules::SUCCESS_REMOVED);
    let failure = (&rules::FAILURE_ADDED, &rules::FAILURE_REMOVED);
    for (is_success, rules) in [(true, success), (false, failure)] {
        let responses = |operation| responses(operation, is_success).collect::<Vec<_>>();
        for (old, new) in cx.in_both("status", rules, (responses(old), responses(new)), survivor) {
            both(cx, old, new);
        }
    }
}

/// The responses, or references to them, by status: those that mean success, or the others.
fn responses<'a>(operation: &Operation<'a>, is_success: bool) -> impl Iterator<Item = (&'a str, Object<'a>)> {
    let responses = operation.child("responses").into_iter().flat_map(|responses| responses.parts());
    let named = responses.map(|response| (response.name(), response));
    named.filter(move |(status, _)| status.starts_with('2') == is_success)
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
