//! Objects in requests are closed and bounded.

use document::Node;
use document::openapi::{Kind, Model, Object};

use super::components::reachable;
use crate::rule::{Findings, rules};

rules! {
    CLOSED: Strict Error "closed-request-objects", "this tool",
        "An object in a request has `additionalProperties: false`, so that a misspelt property is an error.";
    BOUNDED: Strict Error "bounded-request-values", "this tool",
        "A value in a request is bounded: strings by length, arrays by number of items, numbers by range.";
}

/// By type: the keywords that bound a value together, the formats that bound it too, and what to add.
const BOUNDS: &[(&str, &[&str], &[&str], &str)] = &[
    (
        "string",
        &["maxLength"],
        &["date", "date-time", "uuid", "ipv4", "ipv6"],
        "Add `maxLength`, an `enum`, or a format of fixed length.",
    ),
    (
        "integer",
        &["minimum", "maximum"],
        &["int32", "int64"],
        "Add `minimum` and `maximum`, or `format: int64`.",
    ),
    ("number", &["minimum", "maximum"], &[], "Add `minimum` and `maximum`."),
    ("array", &["maxItems"], &[], "Add `maxItems`."),
];

pub(crate) fn check(model: &Model<'_>, findings: &mut Findings) {
    let target = |object: Object<'_>| model.target(object.id).into_iter().collect();
    let in_requests = reachable(model.all(Kind::RequestBody).chain(model.all(Kind::Parameter)), target);
    for schema in model.all(Kind::Schema).filter(|schema| in_requests.contains(&schema.id)) {
        closed(schema, findings);
        bounded(schema, findings);
    }
}

fn closed(schema: Object<'_>, findings: &mut Findings) {
    let is_object = schema.text("type") == Some("object") || schema.has("properties");
    // Closed parts of an `allOf` would reject each other's properties.
    let composed = schema.has("allOf") || matches!(schema.keyword(), "allOf" | "not");
    let additional = schema.get("additionalProperties");
    let (is_closed, fix) = if additional.is_some_and(|schema| !schema.entries().is_empty()) {
        (schema.has("maxProperties"), "Add `maxProperties`.")
    } else {
        let is_closed = additional.and_then(Node::as_bool) == Some(false);
        (is_closed, "Write `additionalProperties: false`.")
    };
    if is_object && !composed && !is_closed {
        let message = format!("{} is part of a request and allows any property.", schema.subject());
        findings.add(&CLOSED, schema.key_spot("additionalProperties"), message, fix);
    }
}

fn bounded(schema: Object<'_>, findings: &mut Findings) {
    let kind = schema.text("type");
    let Some((_, keywords, formats, fix)) = BOUNDS.iter().find(|row| Some(row.0) == kind) else { return };
    let is_bounded = keywords.iter().all(|keyword| schema.has(keyword))
        || schema.text("format").is_some_and(|format| formats.contains(&format));
    if !is_bounded && !schema.has("enum") && schema.keyword() != "not" {
        let message = format!("{} is part of a request and has no bounds.", schema.subject());
        findings.add(&BOUNDED, schema.spot(), message, *fix);
    }
}
