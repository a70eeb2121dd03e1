//! Requests are closed and bounded, answers are open.

use std::collections::HashSet;

use crate::document::Node;

use crate::finding::Severity;
use crate::openapi::Kind;
use crate::openapi::{Id, Model, Object};
use crate::rule::{Findings, Rule};

const CLOSED: Rule = Rule::strict(
    "closed-requests",
    Severity::Error,
    "this project",
    "An object that a client sends has `additionalProperties: false`, so that a misspelt field is not lost.",
);
const OPEN: Rule = Rule::strict(
    "open-answers",
    Severity::Error,
    "this project",
    "An object that only the service sends has no `additionalProperties: false`, so that it can grow.",
);
const BOUNDED: Rule = Rule::strict(
    "bounded-requests",
    Severity::Error,
    "this project",
    "Whatever a client sends has bounds: text a length, a list a number of items, a number a range.",
);

pub(crate) const RULES: &[&Rule] = &[&CLOSED, &OPEN, &BOUNDED];

/// Parameters without bounds, and why they need none.
const UNBOUNDED: &[(&str, &str)] =
    &[("cursor", "it is opaque: the service made it, and refuses whatever it did not make")];

/// Formats that leave only so many texts.
const BOUNDED_FORMATS: &[&str] = &["date", "date-time", "uuid", "ipv4", "ipv6"];

pub(crate) fn check(model: &Model<'_>, findings: &mut Findings) {
    let sent = reachable(model, |object| {
        let name = object.text("name").unwrap_or_default();
        let unbounded = UNBOUNDED.iter().any(|(parameter, _)| *parameter == name);
        match object.kind() {
            Kind::Parameter => !unbounded,
            Kind::RequestBody => true,
            _ => false,
        }
    });
    let answered = reachable(model, |object| object.kind() == Kind::Response);
    for schema in model.all(Kind::Schema) {
        if sent.contains(&schema.id) {
            closed(schema, findings);
            bounded(schema, findings);
        } else if answered.contains(&schema.id)
            && is_closed(schema)
            && schema.node().get("properties").is_some()
        {
            let message =
                format!("{} can never get another property without breaking clients.", schema.subject());
            let spot = schema.key_spot("additionalProperties");
            findings.add(
                &OPEN,
                spot,
                message,
                "Take `additionalProperties` out; clients ignore what they do not know.",
            );
        }
    }
}

/// The schemas that what is in some objects is described by.
fn reachable(model: &Model<'_>, is_root: impl Fn(&Object<'_>) -> bool) -> HashSet<Id> {
    let mut open: Vec<Id> = model
        .everything()
        .filter(|object| !object.is_reference())
        .filter(is_root)
        .map(|root| root.id)
        .collect();
    let mut seen = HashSet::new();
    while let Some(id) = open.pop() {
        if seen.insert(id) {
            open.extend(model.object(id).parts().map(|part| part.id));
            open.extend(model.target(id).map(|target| target.id));
        }
    }
    seen
}

fn is_closed(schema: Object<'_>) -> bool {
    schema.get("additionalProperties").and_then(Node::as_bool) == Some(false)
}

fn closed(schema: Object<'_>, findings: &mut Findings) {
    let is_object = schema.text("type") == Some("object") || schema.has("properties");
    // Parts of a composition would refuse each other's properties.
    let composed = schema.has("allOf") || matches!(schema.keyword(), "allOf" | "not");
    let is_map = schema.get("additionalProperties").is_some_and(|other| !other.entries().is_empty());
    let settled = is_closed(schema) || (is_map && schema.has("maxProperties"));
    if is_object && !composed && !settled {
        let message = format!("{} is sent by clients and takes any property.", schema.subject());
        let fix = if is_map { "Add `maxProperties`." } else { "Add `additionalProperties: false`." };
        findings.add(&CLOSED, schema.key_spot("additionalProperties"), message, fix);
    }
}

fn bounded(schema: Object<'_>, findings: &mut Findings) {
    let has_all = |keywords: &[&str]| keywords.iter().all(|keyword| schema.has(keyword));
    let format = schema.text("format").unwrap_or_default();
    let (bounded, fix) = match schema.text("type") {
        Some("string") => (
            schema.has("maxLength") || BOUNDED_FORMATS.contains(&format),
            "Add `maxLength`, an `enum`, or a format of fixed length.",
        ),
        Some("integer") => (
            has_all(&["minimum", "maximum"]) || matches!(format, "int32" | "int64"),
            "Add `minimum` and `maximum`, or `format: int64`.",
        ),
        Some("number") => (has_all(&["minimum", "maximum"]), "Add `minimum` and `maximum`."),
        Some("array") => (schema.has("maxItems"), "Add `maxItems`."),
        _ => return,
    };
    if !bounded && !schema.has("enum") && schema.keyword() != "not" {
        let message = format!("{} is sent by clients and has no bounds.", schema.subject());
        findings.add(&BOUNDED, schema.spot(), message, fix);
    }
}
