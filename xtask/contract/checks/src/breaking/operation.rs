//! Compares one operation of both documents.

use document::openapi::{Object, Operation};

use super::comparer::Comparer;
use super::place::At;
use super::rules::{self, Role};
use super::{callback, deprecation, media_type, parameter, response, security, servers, stability, unknown};

pub(super) fn added<'a>(cx: &mut Comparer<'a>, new: &Operation<'a>) {
    cx.begin(new.name(), stability::is_unstable(new));
    let what = format!("`{}` was added", deprecation::method_and_path(new));
    cx.report(&rules::ENDPOINT_ADDED, None, Some(At::of(new)), what);
}

pub(super) fn compare<'a>(cx: &mut Comparer<'a>, old: &Operation<'a>, new: &Operation<'a>) {
    if old.has("$ref") || new.has("$ref") {
        // Reported as not understood: the specification allows no reference here.
        return;
    }
    cx.begin(new.name(), stability::is_unstable(old));
    let rule = if old.has("operationId") { &rules::OPERATION_ID_REMOVED } else { &rules::OPERATION_ID_ADDED };
    cx.compare_keyword(rule, (old, new), "operationId");
    tags(cx, old, new);
    deprecation::compare(cx, old, new);
    stability::compare(cx, old, new);
    exchange(cx, old, new);
    callback::compare(cx, old, new);
    security::compare(cx, old, new);
    servers::compare(cx, old, new);
}

/// Compares parameters, request body and responses.
pub(super) fn exchange<'a>(cx: &mut Comparer<'a>, old: &Operation<'a>, new: &Operation<'a>) {
    let compared = [deprecation::dates(old, new), &[stability::KEYWORD]].concat();
    unknown::compare(cx, old, new, &compared);
    parameter::compare(cx, old, new);
    request_body(cx, old, new);
    response::compare(cx, old, new);
}

fn tags<'a>(cx: &mut Comparer<'a>, old: &Object<'a>, new: &Object<'a>) {
    let tags = |operation| {
        let tags = At::value(operation, "tags").into_iter().flat_map(At::items);
        tags.filter_map(|tag| Some((tag.node().as_str()?, tag)))
    };
    let remaining = At::value_or_object(new, "tags");
    cx.in_both("tag", (&rules::TAG_ADDED, &rules::TAG_REMOVED), (tags(old), tags(new)), remaining);
}

fn request_body<'a>(cx: &mut Comparer<'a>, old: &Operation<'a>, new: &Operation<'a>) {
    if matches!(new.method(), "get" | "head") {
        // Servers ignore it (section 4.7.10.1).
        return;
    }
    // A request body without a media type cannot be sent.
    let body =
        |operation: &Operation<'a>| operation.request_body().filter(|body| body.child("content").is_some());
    let is_unclear = |operation: &Operation<'a>| {
        operation.child("requestBody").is_some_and(|body| body.resolved().is_none())
    };
    if is_unclear(old) || is_unclear(new) {
        // The reference leads nowhere, and is reported as not understood.
        return;
    }
    match (body(old), body(new)) {
        (Some(_), None) => {
            let what = "its request body was removed";
            cx.report_keyword(&rules::BODY_REMOVED, (old, new), "requestBody", what);
        }
        (None, Some(body)) => {
            let (rule, what) = match body.is_required() {
                true => (&rules::BODY_ADDED_REQUIRED, "a required request body was added"),
                false => (&rules::BODY_ADDED_OPTIONAL, "an optional request body was added"),
            };
            cx.report_keyword(rule, (old, new), "requestBody", what);
        }
        (Some(old), Some(new)) => {
            unknown::compare(cx, &old, &new, &[]);
            let rules = (&rules::BODY_REQUIRED, &rules::BODY_OPTIONAL);
            cx.report_flag(rules, (&old, &new), "required", ("it became required", "it became optional"));
            media_type::compare(cx, &old, &new, cx.role(Role::Request));
        }
        (None, None) => {}
    }
}
