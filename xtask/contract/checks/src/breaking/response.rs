//! The responses of an operation, by status, and their headers.

use std::collections::BTreeMap;

use document::openapi::{Object, Operation, covering_statuses, serialization};

use super::comparer::Comparer;
use super::data::{canonical, pairs, same};
use super::matching::{headers, matched};
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
    let (mut added, mut both) = (matched.added, Vec::new());
    for (old, new) in matched.both {
        let is_beside = old.name() == "default" && new.name() != "default" && has_default && !cx.in_callback;
        match is_beside {
            false => both.push((old, new)),
            // `default` describes failures, beside statuses that mean success.
            true if is_success(&new) => added.push(new),
            true => described(cx, &old, &new),
        }
    }
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
    for (old, new) in both {
        let (Some(before), Some(after)) = (old.resolved(), new.resolved()) else { continue };
        // `default` covers every status, but replaces a success status only if its response is the same.
        if is_success(&old) && new.name() == "default" && !same(before.node(), after.node()) {
            removed(cx, &old);
            continue;
        }
        cx.through((old, new), |cx| response(cx, &before, &after, has_body(method, new.name())));
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
fn described<'a>(cx: &mut Comparer<'a>, old: &Object<'a>, new: &Object<'a>) {
    let (Some(before), Some(after)) = (old.resolved(), new.resolved()) else { return };
    let written = |response: &Object<'a>| ["content", "headers"].map(|it| response.get(it).map(canonical));
    let (rule, what) = match written(&before) == written(&after) {
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

fn response<'a>(cx: &mut Comparer<'a>, old: &Object<'a>, new: &Object<'a>, has_body: bool) {
    unknown::compare(cx, old, new, &[]);
    compare_headers(cx, old, new);
    if has_body {
        media_type::compare(cx, old, new, cx.role(Role::Response));
    }
    let links = |response: &Object<'a>| -> BTreeMap<&str, Option<String>> {
        let links = response.children("links");
        links.map(|link| (link.name(), link.resolved().map(|link| canonical(link.node())))).collect()
    };
    let (before, after) = (links(old), links(new));
    // A link whose reference leads nowhere is reported as not understood.
    if before != after && before.values().chain(after.values()).all(Option::is_some) {
        cx.report_keyword(&rules::LINKS_CHANGED, (old, new), "links", "`links` changed");
    }
}

/// Compares headers. One whose reference leads nowhere is reported as not understood.
fn compare_headers<'a>(cx: &mut Comparer<'a>, old: &Object<'a>, new: &Object<'a>) {
    let remaining = At::value_or_object(new, "headers");
    let paired = pairs(headers(old), headers(new));
    for (old, new) in paired.both.into_iter().filter_map(|(old, new)| old.resolved().zip(new.resolved())) {
        unknown::compare(cx, &old, &new, &[]);
        let rules = (&rules::HEADER_REQUIRED, &rules::HEADER_OPTIONAL);
        cx.report_flag(rules, (&old, &new), "required", ("it became required", "it became optional"));
        let role = cx.role(Role::Header);
        parameter::deprecated(cx, (&old, &new), role);
        let written = [old, new].map(|header| serialization(Some(header), false, header.schema()));
        parameter::serialization(cx, (&old, &new), &rules::HEADER_SERIALIZATION, written);
        parameter::value(cx, (&old, &new), &rules::HEADER_SERIALIZATION, role);
    }
    for header in paired.removed {
        let Some(resolved) = header.resolved() else { continue };
        let rule = match resolved.is_required() {
            true => &rules::HEADER_REMOVED_REQUIRED,
            false => &rules::HEADER_REMOVED_OPTIONAL,
        };
        let what = format!("the header `{}` was removed", header.name());
        cx.report(rule, Some(At::of(&header)), Some(remaining), what);
    }
    for header in paired.added {
        let Some(resolved) = header.resolved() else { continue };
        // In a callback the client sends the header.
        let must_send = resolved.is_required() && cx.role(Role::Header).is_request();
        let rule = if must_send { &rules::HEADER_REQUIRED } else { &rules::HEADER_ADDED };
        cx.report(rule, None, Some(At::of(&header)), "it was added");
    }
}
