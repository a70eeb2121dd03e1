//! Objects in requests are closed and bounded.

use document::openapi::{Additional, Kind, Model, Object, Schema};
use document::repair::Repair;
use document::rule::{Findings, rules};

use super::components::reachable;

rules! {
    CLOSED: Strict Error "closed-request-objects", "this tool",
        "An object in a request has `additionalProperties: false`, so that a misspelt property is an error.";
    BOUNDED: Strict Error "bounded-request-values", "this tool",
        "A value in a request is bounded: strings by length, arrays by number of items, numbers by range.";
}

/// Formats that limit the length.
const BOUNDED_FORMATS: &[&str] = &["date", "date-time", "uuid", "ipv4", "ipv6"];

pub(crate) fn check(model: &Model<'_>, findings: &mut Findings) {
    let target = |object: Object<'_>| model.target(object.id).into_iter().collect();
    let in_requests = reachable(model.all(Kind::RequestBody).chain(model.all(Kind::Parameter)), target);
    let schemas = model.all(Kind::Schema).filter(|schema| in_requests.contains(&schema.id));
    for schema in schemas.map(Schema::new) {
        closed(schema, findings);
        bounded(schema, findings);
    }
}

fn closed(schema: Schema<'_>, findings: &mut Findings) {
    let is_object = schema.type_name() == Some("object") || schema.has("properties");
    // Closed parts of an `allOf` would reject each other's properties.
    let composed = schema.has("allOf") || matches!(schema.keyword(), "allOf" | "not");
    let (is_closed, fix) = match schema.additional_properties() {
        Additional::None => (true, ""),
        Additional::Schema(other) if !other.node().entries().is_empty() => {
            (schema.has("maxProperties"), "Add `maxProperties`.")
        }
        _ => (false, "Add `additionalProperties: false`."),
    };
    if is_object && !composed && !is_closed {
        let message = format!("{} is part of a request and allows any property.", schema.subject());
        let added = findings.add(&CLOSED, schema.key_spot("additionalProperties"), message, fix);
        match schema.additional_properties() {
            Additional::Any if schema.has("additionalProperties") => drop(added.write(false)),
            Additional::Any => {
                let (key, value) = ("additionalProperties".to_owned(), false.into());
                added.repair(Repair::Add { at: schema.pointer(), key, value });
            }
            // It needs a limit, which somebody must choose.
            Additional::None | Additional::Schema(_) => {}
        }
    }
}

fn bounded(schema: Schema<'_>, findings: &mut Findings) {
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
        let added = findings.add(&BOUNDED, schema.spot(), message, fix);
        if schema.text("type") == Some("integer") && !schema.has("format") {
            let (key, value) = ("format".to_owned(), "int64".into());
            added.repair(Repair::Add { at: schema.pointer(), key, value });
        }
    }
}
