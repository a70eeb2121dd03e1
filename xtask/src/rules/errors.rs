//! The bodies of errors.

use document::openapi::{Kind, Model, Object, Step};
use document::repair::Repair;
use document::rule::{Findings, rules};
use document::{Entry, Node};

rules! {
    BODY: Strict Error "error-body", "this project",
        "Each 4xx and 5xx response has the schema `Error` as `application/json`, and no other body.";
}

pub(super) fn check(model: &Model<'_>, findings: &mut Findings) {
    for responses in model.all(Kind::Responses) {
        for response in responses.parts().filter(|response| response.name().starts_with(['4', '5'])) {
            body(response, findings);
        }
    }
}

fn body(response: Object<'_>, findings: &mut Findings) {
    let Some(resolved) = response.resolved() else { return };
    let content = resolved.get("content").map(Node::entries).unwrap_or_default();
    let spot = match content.iter().find(|entry| is_not_error_schema(entry)) {
        Some(entry) => resolved.spot_at(&[Step::Key("content"), Step::Key(&entry.key)], entry.key_span),
        None if content.is_empty() => response.spot(),
        None => return,
    };
    let message = format!("{} does not have the schema `Error` as its only body.", response.subject());
    let fix =
        "Under `content`, write `application/json` alone, with the schema `#/components/schemas/Error`.";
    let is_defined = response.model().root().node().pointer("/components/schemas/Error").is_some();
    let added = findings.add(&BODY, spot, message, fix);
    let wrong = content.iter().find(|entry| is_not_error_schema(entry)).filter(|_| is_defined);
    let (Some(wrong), at) = (wrong, added.place()) else { return };
    let has_error_schema =
        wrong.value.get("schema").and_then(|schema| schema.get("$ref")?.as_str()) == Some(ERROR_SCHEMA);
    if wrong.key == JSON && wrong.value.get("schema").is_some_and(|schema| schema.get("$ref").is_some()) {
        added.repair(Repair::Write { at: format!("{at}/schema/$ref"), value: ERROR_SCHEMA.into() });
    } else if wrong.key != JSON && content.iter().any(|entry| entry.key == JSON) {
        added.remove();
    } else if wrong.key != JSON && has_error_schema {
        added.rename(JSON);
    }
}

/// The schema of the body of each error, and its media type.
const ERROR_SCHEMA: &str = "#/components/schemas/Error";
const JSON: &str = "application/json";

fn is_not_error_schema(media_type: &Entry) -> bool {
    let schema = media_type.value.get("schema").and_then(|schema| schema.get("$ref")?.as_str());
    media_type.key != JSON || schema != Some(ERROR_SCHEMA)
}
