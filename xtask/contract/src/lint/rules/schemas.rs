//! Schemas without contradictions: `required`, `enum`, `type`, `format`, bounds.

use std::collections::HashSet;

use crate::document::{Node, Value};

use crate::finding::shortened as shown;
use crate::openapi::shapes::{text_of, type_of};
use crate::openapi::{Kind, Model, Object, Step, in_place};
use crate::rule::{Findings, rules};

rules! {
    REQUIRED: Recommended Error "no-required-schema-properties-undefined",
        "Redocly: no-required-schema-properties-undefined",
        "Each name in `required` is that of a property of the schema.";
    ENUM_TYPE: Recommended Error "typed-enum", "Spectral: typed-enum; Redocly: no-enum-type-mismatch",
        "The values of an `enum` have the `type` of their schema.";
    ENUM_TWICE: Recommended Error "duplicated-entry-in-enum",
        "JSON Schema draft Wright-00, 5.20; Spectral: duplicated-entry-in-enum",
        "An `enum` is not empty and has no duplicates.";
    KEYWORDS: Recommended Error "no-schema-type-mismatch", "Redocly: no-schema-type-mismatch",
        "A schema has only keywords that apply to its `type`.";
    FORMAT: Recommended Error "format-matches-type", "OpenAPI 3.0.3, 4.4",
        "The `format` of a schema applies to its `type`.";
    BOUNDS: Recommended Error "bounds-in-order", "this tool",
        "The lower bound of a schema does not exceed its upper bound.";
}

/// The types that a keyword applies to.
const TYPES: &[(&str, &[&str])] = &[
    ("multipleOf", &["number", "integer"]),
    ("maximum", &["number", "integer"]),
    ("exclusiveMaximum", &["number", "integer"]),
    ("minimum", &["number", "integer"]),
    ("exclusiveMinimum", &["number", "integer"]),
    ("maxLength", &["string"]),
    ("minLength", &["string"]),
    ("pattern", &["string"]),
    ("items", &["array"]),
    ("maxItems", &["array"]),
    ("minItems", &["array"]),
    ("uniqueItems", &["array"]),
    ("properties", &["object"]),
    ("additionalProperties", &["object"]),
    ("required", &["object"]),
    ("maxProperties", &["object"]),
    ("minProperties", &["object"]),
];

/// The formats of OpenAPI and the common ones of JSON Schema.
const FORMATS: &[(&str, &[&str])] = &[
    ("int32", &["integer"]),
    ("int64", &["integer"]),
    ("float", &["number"]),
    ("double", &["number"]),
    ("byte", &["string"]),
    ("binary", &["string"]),
    ("date", &["string"]),
    ("date-time", &["string"]),
    ("password", &["string"]),
    ("uuid", &["string"]),
    ("uri", &["string"]),
    ("email", &["string"]),
    ("hostname", &["string"]),
    ("ipv4", &["string"]),
    ("ipv6", &["string"]),
];

const PAIRS: &[(&str, &str)] = &[
    ("minimum", "maximum"),
    ("minLength", "maxLength"),
    ("minItems", "maxItems"),
    ("minProperties", "maxProperties"),
];

pub(crate) fn check(model: &Model<'_>, findings: &mut Findings) {
    for schema in model.all(Kind::Schema) {
        if findings.is_full() {
            return;
        }
        required(schema, findings);
        values(schema, findings);
        bounds(schema, findings);
        let Some(kind) = schema.text("type") else { continue };
        for entry in schema.node().entries() {
            let types = TYPES.iter().find(|(keyword, _)| *keyword == entry.key);
            if types.is_some_and(|(_, types)| !types.contains(&kind)) {
                let message = format!("`{}` does not apply to `type: {}`.", entry.key, shown(kind));
                let fix = "Remove it, or correct the `type`.";
                findings.add(&KEYWORDS, schema.key_spot(&entry.key), message, fix);
            }
        }
        let format = schema.text("format");
        let types = format.and_then(|format| FORMATS.iter().find(|(name, _)| *name == format));
        if let Some((format, types)) = types.filter(|(_, types)| !types.contains(&kind)) {
            let message = format!("`format: {format}` does not apply to `type: {}`.", shown(kind));
            let fix = format!("Write `type: {}`, or another format.", types[0]);
            findings.add(&FORMAT, schema.value_spot("format"), message, fix);
        }
    }
}

/// The most schemas of a composition that are searched for a name. Larger compositions are not checked.
const MOST_COMPOSED: usize = 100;
/// The most parts of each of those.
const MOST_PARTS: usize = 1_000;

fn required(schema: Object<'_>, findings: &mut Findings) {
    let items = schema.get("required").map(Node::items).unwrap_or_default();
    if items.is_empty() {
        return;
    }
    // One part of a composition may require what another part defines.
    let mut whole = schema;
    while let Some(owner) = whole.parent().filter(|_| matches!(whole.keyword(), "allOf" | "anyOf" | "oneOf"))
    {
        whole = owner;
    }
    let mut open = vec![whole];
    let mut seen = HashSet::new();
    let mut names = HashSet::new();
    while let Some(object) = open.pop() {
        let Some(object) = object.resolved().filter(|object| seen.insert(object.id)) else { continue };
        if seen.len() > MOST_COMPOSED || object.parts().nth(MOST_PARTS).is_some() {
            return;
        }
        names.extend(
            object.get("properties").map(Node::entries).unwrap_or_default().iter().map(|entry| &*entry.key),
        );
        open.extend(in_place(object));
    }
    for (number, item) in items.iter().enumerate() {
        if let Some(name) = item.as_str().filter(|name| !names.contains(name)) {
            let message = format!(
                "{} requires `{}`, which is not one of its properties.",
                schema.subject(),
                shown(name)
            );
            let spot = schema.spot_at(&[Step::Key("required"), Step::Item(number)], item.span);
            findings.add(&REQUIRED, spot, message, "Correct the name, or add the property.");
        }
    }
}

fn values(schema: Object<'_>, findings: &mut Findings) {
    let items = schema.get("enum").map(Node::items).unwrap_or_default();
    if schema
        .get("enum")
        .is_some_and(|list| matches!(&list.value, Value::Sequence(items) if items.is_empty()))
    {
        let message = format!("The `enum` of {} is empty, so no value is valid.", schema.subject());
        findings.add(&ENUM_TWICE, schema.value_spot("enum"), message, "Add the values, or remove `enum`.");
    }
    let mut seen = HashSet::new();
    for (number, item) in items.iter().enumerate() {
        let spot = || schema.spot_at(&[Step::Key("enum"), Step::Item(number)], crate::openapi::head(item));
        if !seen.insert(item.to_json().to_string()) {
            let message =
                format!("`{}` occurs twice in the `enum` of {}.", shown(&text_of(item)), schema.subject());
            findings.add(&ENUM_TWICE, spot(), message, "Remove one.");
        }
        let Some(kind) = schema.text("type") else { continue };
        let null = matches!(item.value, Value::Null) && schema.flag("nullable");
        if !null && !is_of_type(item, kind) {
            let message = format!(
                "`{}` in the `enum` is {}, not of `type: {}`.",
                shown(&text_of(item)),
                type_of(item),
                shown(kind)
            );
            let fix = "Correct the value or the `type`; quote a string that looks like a number or boolean.";
            findings.add(&ENUM_TYPE, spot(), message, fix);
        }
    }
}

fn is_of_type(node: &Node, kind: &str) -> bool {
    match (&node.value, kind) {
        (Value::String(_), "string")
        | (Value::Bool(_), "boolean")
        | (Value::Number(_), "number")
        | (Value::Sequence(_), "array")
        | (Value::Mapping(_), "object") => true,
        (Value::Number(number), "integer") => number.is_i64() || number.is_u64(),
        // `struct-value` reports an unknown `type`.
        _ => !["string", "boolean", "number", "integer", "array", "object"].contains(&kind),
    }
}

fn bounds(schema: Object<'_>, findings: &mut Findings) {
    let number = |keyword: &str| match &schema.get(keyword)?.value {
        Value::Number(number) => Some(number),
        _ => None,
    };
    for (low, high) in PAIRS {
        let Some((least, most)) = number(low).zip(number(high)) else { continue };
        let above = match (least.as_i64(), most.as_i64()) {
            (Some(least), Some(most)) => least > most,
            _ => least.as_f64().zip(most.as_f64()).is_some_and(|(least, most)| least > most),
        };
        if above {
            let message =
                format!("`{low}` of {} is {least}, which exceeds its `{high}` of {most}.", schema.subject());
            findings.add(&BOUNDS, schema.value_spot(low), message, "Correct one of them.");
        }
    }
}
