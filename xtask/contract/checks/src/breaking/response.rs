//! The responses of an operation, by status, and their headers.

use std::collections::BTreeMap;

use document::openapi::{Header, Object, Operation, Response, covering_statuses};

use super::comparer::Comparer;
use super::data::{canonical, pairs, same};
use super::matching::matched;
use super::place::At;
use super::rules::{self, Role};
use super::{media_type, parameter, unknown};

pub(super) fn compare<'a>(cx: &mut Comparer<'a>, old: &Operation<'a>, new: &Operation<'a>) {
    for (old, new) in old.child("responses").into_iter().zip(new.child("responses")) {
        if old.has("$ref") || new.has("$ref") {
            // Reported as not understood: the specification allows no reference here.
            return;
        }
        unknown::compare(cx, &old, &new, &[]);
    }
    let is_success = |response: &Object<'a>| response.name().starts_with('2');
    let (remaining, method) = (At::value_or_object(new, "responses"), new.method());
    let has_default = responses(new).iter().any(|(status, _)| status == "default");
    let matched = matched(&responses(old), &responses(new), covering_statuses);
    let is_beside = |old: &Object<'a>, new: &Object<'a>| {
        old.name() == "default" && new.name() != "default" && has_default && !cx.in_callback
    };
    // `default` describes failures, beside statuses that mean success.
    let (beside, matched_alike): (Vec<_>, Vec<_>) =
        matched.both.into_iter().partition(|(old, new)| is_beside(old, new));
    let (new_successes, beside): (Vec<_>, Vec<_>) = beside.into_iter().partition(|(_, new)| is_success(new));
    let added: Vec<_> =
        matched.added.into_iter().chain(new_successes.into_iter().map(|(_, new)| new)).collect();
    let successes: Vec<_> =
        added.iter().filter(|new| is_success(new)).map(|new| format!("`{}`", new.name())).collect();
    let removed = |cx: &mut Comparer<'a>, old: &Object<'a>| {
        let mut what = format!("the status `{}` was removed", old.name());
        let rule = if is_success(old) { &rules::SUCCESS_REMOVED } else { &rules::FAILURE_REMOVED };
        if is_success(old) && !successes.is_empty() {
            what += &format!("; new: {}", successes.join(", "));
        }
        cx.report(rule, Some(At::of(old)), Some(remaining), what);
    };
    for (old, new) in beside {
        if let (Some(before), Some(after)) = (Response::new(old), Response::new(new)) {
            described(cx, (&old, &before), (&new, &after));
        }
    }
    for (old, new) in matched_alike {
        let (Some(before), Some(after)) = (Response::new(old), Response::new(new)) else { continue };
        // `default` covers every status, but replaces a success status only if its response is the same.
        if is_success(&old) && new.name() == "default" && !same(before.node(), after.node()) {
            removed(cx, &old);
            continue;
        }
        cx.through((old, new), |cx| both(cx, &before, &after, has_body(method, new.name())));
    }
    for (old, in_part) in matched.removed {
        // In a callback the client chooses the status.
        if !in_part || cx.in_callback {
            removed(cx, &old);
        } else {
            let what = format!("only a part of `{}` is still described", old.name());
            cx.report(rules::VALUES_NARROWED.rule(Role::Response), Some(At::of(&old)), Some(remaining), what);
        }
    }
    for new in added {
        let rule = if is_success(&new) { &rules::SUCCESS_ADDED } else { &rules::FAILURE_ADDED };
        cx.report(rule, None, Some(At::of(&new)), "it was added");
    }
}

/// The responses, or references to them, by status.
fn responses<'a>(operation: &Operation<'a>) -> Vec<(String, Object<'a>)> {
    let responses = operation.child("responses").into_iter().flat_map(|responses| responses.parts());
    responses.map(|response| (response.name().to_owned(), response)).collect()
}

/// Reports a status that only `default` described before.
fn described<'a>(
    cx: &mut Comparer<'a>,
    (old, before): (&Object<'a>, &Response<'a>),
    (new, after): (&Object<'a>, &Response<'a>),
) {
    let is_same =
        ["content", "headers"].iter().all(|keyword| match (before.get(keyword), after.get(keyword)) {
            (Some(before), Some(after)) => same(before, after),
            (before, after) => before.is_none() && after.is_none(),
        });
    let (rule, what) = match is_same {
        true => {
            (&rules::STATUS_DESCRIBED, "it is described by itself, in the same way as by `default` before")
        }
        false => {
            (&rules::STATUS_DESCRIBED_ANEW, "it is described by itself, otherwise than by `default` before")
        }
    };
    cx.report(rule, Some(At::of(old)), Some(At::of(new)), what);
}

/// Whether a response can have a body (RFC 9110, sections 9.3.2 and 15).
fn has_body(method: &str, status: &str) -> bool {
    method != "head" && !status.starts_with('1') && !matches!(status, "204" | "205" | "304")
}

fn both<'a>(cx: &mut Comparer<'a>, old: &Response<'a>, new: &Response<'a>, has_body: bool) {
    unknown::compare(cx, old, new, &[]);
    headers(cx, old, new);
    if has_body {
        media_type::compare(cx, old, new, cx.role(Role::Response));
    }
    let links = |response: &Response<'a>| -> BTreeMap<&str, Option<String>> {
        let links = response.children("links");
        links.map(|link| (link.name(), link.resolved().map(|link| canonical(link.node())))).collect()
    };
    let (before, after) = (links(old), links(new));
    // A link whose reference leads nowhere is reported as not understood.
    if before != after && before.values().chain(after.values()).all(Option::is_some) {
        cx.report_keyword(&rules::LINKS_CHANGED, (old, new), "links", "`links` changed");
    }
}

/// Compares headers. The case of their names has no meaning (RFC 9110, section 5.1).
fn headers<'a>(cx: &mut Comparer<'a>, old: &Response<'a>, new: &Response<'a>) {
    let headers = |response: &Response<'a>| {
        let headers = response.headers().map(|(name, header)| (name.to_ascii_lowercase(), header));
        headers.collect::<Vec<_>>()
    };
    let remaining = At::value_or_object(new, "headers");
    let paired = pairs(headers(old), headers(new));
    for (old, new) in paired.both {
        header(cx, &old, &new);
    }
    // A header whose reference leads nowhere is reported as not understood.
    let is_unclear = |response: &Response<'a>, name: &str| {
        response.children("headers").any(|header| header.name().eq_ignore_ascii_case(name))
    };
    for old in paired.removed.into_iter().filter(|old| !is_unclear(new, old.declared().name())) {
        let rule = match old.is_required() {
            true => &rules::HEADER_REMOVED_REQUIRED,
            false => &rules::HEADER_REMOVED_OPTIONAL,
        };
        let what = format!("the header `{}` was removed", old.declared().name());
        cx.report(rule, Some(At::of(&old.declared())), Some(remaining), what);
    }
    for new in paired.added.into_iter().filter(|new| !is_unclear(old, new.declared().name())) {
        // In a callback the client sends the header.
        let must_send = new.is_required() && cx.role(Role::Header).is_request();
        let rule = if must_send { &rules::HEADER_REQUIRED } else { &rules::HEADER_ADDED };
        cx.report(rule, None, Some(At::of(&new.declared())), "it was added");
    }
}

fn header<'a>(cx: &mut Comparer<'a>, old: &Header<'a>, new: &Header<'a>) {
    unknown::compare(cx, old, new, &[]);
    let rules = (&rules::HEADER_REQUIRED, &rules::HEADER_OPTIONAL);
    cx.report_flag(rules, (old, new), "required", ("it became required", "it became optional"));
    let role = cx.role(Role::Header);
    parameter::deprecated(cx, (old, new), role);
    let serializations = (old.serialization(), new.serialization());
    parameter::serialization(cx, (old, new), &rules::HEADER_SERIALIZATION, serializations);
    parameter::value(cx, (old, new), &rules::HEADER_SERIALIZATION, role);
}
