//! What operations answer: statuses, and the one body of all errors.

use std::collections::HashMap;

use crate::finding::Severity;
use crate::openapi::Kind;
use crate::openapi::{Id, Model, Object};
use crate::rule::{Findings, Rule};

const SUCCESS: Rule = Rule::recommended(
    "operation-success-response",
    Severity::Error,
    "Spectral",
    "Each operation answers some 2xx or 3xx (Redocly: `operation-2xx-response`).",
);
const ERROR: Rule = Rule::recommended(
    "operation-4xx-response",
    Severity::Error,
    "Redocly",
    "Each operation answers some 4xx.",
);
const EXPLICIT: Rule = Rule::strict(
    "explicit-statuses",
    Severity::Error,
    "this project",
    "Every status is listed; there is no `default` and no `4XX`, so that clients know what to expect.",
);
const BODY: Rule = Rule::strict(
    "error-body",
    Severity::Error,
    "this project",
    "Every 4xx and 5xx has one body, the schema `Error` as `application/json`.",
);
const EXAMPLE: Rule = Rule::strict(
    "media-type-example",
    Severity::Error,
    "this project",
    "Each body, of a request or a response, has an example.",
);
const NO_BODY: Rule = Rule::spec(
    "no-body-with-204",
    "OpenAPI 3.0.3",
    "1xx, 204, 205 and 304 have no body (RFC 9110, sections 6.4.1 and 15.3.6).",
);

pub(crate) const RULES: &[&Rule] = &[&SUCCESS, &ERROR, &EXPLICIT, &BODY, &EXAMPLE, &NO_BODY];

pub(crate) fn check(model: &Model<'_>, findings: &mut Findings) {
    let mut bodies = HashMap::new();
    for responses in model.all(Kind::Responses) {
        let owner = responses.parent().map(|operation| operation.subject()).unwrap_or_default();
        let some = |classes: &[char]| responses.parts().any(|part| part.name().starts_with(classes));
        if !some(&['2', '3']) {
            let message = format!("{owner} never succeeds.");
            findings.add(&SUCCESS, responses.spot(), message, "Add the response of its success, as `'200'`.");
        }
        if !some(&['4']) {
            let message = format!("{owner} answers no 4xx.");
            let fix = "Add what it answers to a mistake of the caller, `'401'` at least.";
            findings.add(&ERROR, responses.spot(), message, fix);
        }
        for response in responses.parts() {
            status(response, &mut bodies, findings);
        }
    }
    for media_type in model.all(Kind::MediaType) {
        if !media_type.has("example") && !media_type.has("examples") {
            let message = format!("{} has no example.", media_type.subject());
            findings.add(&EXAMPLE, media_type.spot(), message, "Add an `example` that a reader can copy.");
        }
    }
}

/// Of a response, wherever it is used: how many media types it has, and one that no error should have.
type Bodies<'a> = HashMap<Id, (usize, Option<Object<'a>>)>;

fn status<'a>(response: Object<'a>, bodies: &mut Bodies<'a>, findings: &mut Findings) {
    let status = response.name();
    if !status.bytes().all(|byte| byte.is_ascii_digit()) {
        let message = format!("`{status}` does not say which status is meant.");
        findings.add(&EXPLICIT, response.spot(), message, "List each status that is answered.");
    }
    let Some(resolved) = response.resolved() else { return };
    let (bodies, odd) = *bodies
        .entry(resolved.id)
        .or_insert_with(|| (resolved.children("content").count(), resolved.children("content").find(is_odd)));
    if (status.starts_with('1') || matches!(status, "204" | "205" | "304")) && bodies > 0 {
        let message = format!("{} has a body, which HTTP does not allow.", response.subject());
        findings.add(&NO_BODY, response.spot(), message, "Take out `content`, or use another status.");
    }
    if !status.starts_with(['4', '5']) {
        return;
    }
    let spot = match odd {
        Some(media_type) => media_type.spot(),
        None if bodies == 0 => response.spot(),
        None => return,
    };
    let message = format!("{} has not the body that every error has.", response.subject());
    let fix =
        "Under `content`, write `application/json` alone, with the schema `#/components/schemas/Error`.";
    findings.add(&BODY, spot, message, fix);
}

fn is_odd(media_type: &Object<'_>) -> bool {
    let schema = media_type.child("schema").and_then(|schema| schema.text("$ref"));
    media_type.name() != "application/json" || schema != Some("#/components/schemas/Error")
}
