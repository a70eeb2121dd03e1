//! The responses of an operation, by status, and their headers.

use super::comparer::Comparer;
use super::data::pairs;
use super::place::At;
use super::rules::{self, Role};
use super::{media_type, parameter, unknown};
use crate::openapi::{Header, Object, Operation, Response};

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
    headers(cx, &old, &new);
    media_type::compare(cx, &old, &new, Role::Response);
    cx.compare_keyword(&rules::LINKS_CHANGED, (&old, &new), "links");
}

/// Compares headers. The case of their names has no meaning (RFC 9110, section 5.1).
fn headers<'a>(cx: &mut Comparer<'a>, old: &Response<'a>, new: &Response<'a>) {
    let headers = |response: &Response<'a>| {
        let headers = response.headers().map(|(name, header)| (name.to_ascii_lowercase(), header));
        headers.collect::<Vec<_>>()
    };
    let survivor = At::value_or_object(new, "headers");
    let paired = pairs(headers(old), headers(new));
    for (old, new) in paired.both {
        header(cx, &old, &new);
    }
    for old in paired.removed {
        let rule = match old.is_required() {
            true => &rules::HEADER_REMOVED_REQUIRED,
            false => &rules::HEADER_REMOVED_OPTIONAL,
        };
        let what = format!("the header `{}` was removed", old.declared().name());
        cx.report(rule, Some(At::of(&old.declared())), Some(survivor), what);
    }
    for new in paired.added {
        cx.report(&rules::HEADER_ADDED, None, Some(At::of(&new.declared())), "it was added");
    }
}

fn header<'a>(cx: &mut Comparer<'a>, old: &Header<'a>, new: &Header<'a>) {
    unknown::compare(cx, old, new, &[]);
    let rules = (&rules::HEADER_REQUIRED, &rules::HEADER_OPTIONAL);
    cx.report_flag(rules, (old, new), "required", ("it became required", "it became optional"));
    parameter::deprecated(cx, (old, new), Role::Header);
    if old.explode() != new.explode() {
        let what = format!("`explode` changed from {} to {}", old.explode(), new.explode());
        cx.report_keyword(&rules::HEADER_SERIALIZATION, (old, new), "explode", what);
    }
    parameter::value(cx, (old, new), &rules::HEADER_SERIALIZATION, Role::Header);
}
