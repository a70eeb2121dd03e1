//! Objects in requests are closed and bounded, objects in responses are open.

use std::collections::HashSet;

use crate::document::Node;

use crate::openapi::{Id, Kind, Model, Object};
use crate::rule::{Findings, rules};

rules! {
    CLOSED: Strict Error "closed-request-objects", "this project",
        "An object in a request has `additionalProperties: false`, so that a misspelt property is an error.";
    OPEN: Strict Error "open-responses", "this project",
        "An object that occurs only in responses does not have `additionalProperties: false`, so that \
         properties can be added.";
    BOUNDED: Strict Error "bounded-request-values", "this project",
        "A value in a request is bounded: strings by length, arrays by number of items, numbers by range.";
}

/// Parameters that need no bounds: the service generates a cursor and refuses any other value.
const UNBOUNDED: &[&str] = &["cursor"];

/// Formats that limit the length.
const BOUNDED_FORMATS: &[&str] = &["date", "date-time", "uuid", "ipv4", "ipv6"];

pub(crate) fn check(model: &Model<'_>, findings: &mut Findings) {
    let sent = reachable(model, |object| {
        let name = object.text("name").unwrap_or_default();
        match object.kind() {
            Kind::Parameter => !UNBOUNDED.contains(&name),
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
                format!("{} cannot get another property without breaking clients.", schema.subject());
            let fix = "Remove `additionalProperties`; clients ignore unknown properties.";
            findings.add(&OPEN, schema.key_spot("additionalProperties"), message, fix);
        }
    }
}

/// The schemas that can be reached from the objects that `is_root` selects.
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
    // Closed parts of an `allOf` would refuse each other's properties.
    let composed = schema.has("allOf") || matches!(schema.keyword(), "allOf" | "not");
    let is_map = schema.get("additionalProperties").is_some_and(|other| !other.entries().is_empty());
    let settled = is_closed(schema) || (is_map && schema.has("maxProperties"));
    if is_object && !composed && !settled {
        let message = format!("{} is part of a request and allows any property.", schema.subject());
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
        let message = format!("{} is part of a request and has no bounds.", schema.subject());
        findings.add(&BOUNDED, schema.spot(), message, fix);
    }
}
