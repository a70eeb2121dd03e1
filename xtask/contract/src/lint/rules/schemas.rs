//! Schemas that say what can be: names that exist, values that fit, bounds that leave room.

use std::collections::HashSet;

use crate::document::{Node, Value};

use crate::finding::Severity;
use crate::finding::shortened as shown;
use crate::openapi::Kind;
use crate::openapi::in_place;
use crate::openapi::shapes::{text_of, type_of};
use crate::openapi::{Model, Object, Step};
use crate::rule::{Findings, Rule};

const REQUIRED: Rule = Rule::recommended(
    "no-required-schema-properties-undefined",
    Severity::Error,
    "Redocly",
    "The names in `required` are those of properties.",
);
const ENUM_TYPE: Rule = Rule::recommended(
    "typed-enum",
    Severity::Error,
    "Spectral",
    "The values of an `enum` have the `type` beside it (Redocly: `no-enum-type-mismatch`).",
);
const ENUM_TWICE: Rule = Rule::recommended(
    "duplicated-entry-in-enum",
    Severity::Error,
    "Spectral",
    "No value is in an `enum` twice.",
);
const KEYWORDS: Rule = Rule::recommended(
    "no-schema-type-mismatch",
    Severity::Error,
    "Redocly",
    "Keywords stand only beside the `type` that they say something about.",
);
const FORMAT: Rule =
    Rule::spec("format-of-type", "OpenAPI 3.0.3", "`format` is one of the `type` beside it (section 4.4).");
const BOUNDS: Rule = Rule::strict(
    "bounds-in-order",
    Severity::Error,
    "this project",
    "No lower bound is above its upper bound.",
);

pub(crate) const RULES: &[&Rule] = &[&REQUIRED, &ENUM_TYPE, &ENUM_TWICE, &KEYWORDS, &FORMAT, &BOUNDS];

/// Which types a keyword says something about.
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

/// The formats of OpenAPI, and those of JSON Schema that are common.
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
                let message = format!("`{}` says nothing about `type: {}`.", entry.key, shown(kind));
                findings.add(
                    &KEYWORDS,
                    schema.key_spot(&entry.key),
                    message,
                    "Take it out, or correct the `type`.",
                );
            }
        }
        let format = schema.text("format");
        let types = format.and_then(|format| FORMATS.iter().find(|(name, _)| *name == format));
        if let Some((format, types)) = types.filter(|(_, types)| !types.contains(&kind)) {
            let message = format!("`format: {format}` is none of `type: {}`.", shown(kind));
            let fix = format!("Write `type: {}`, or another format.", types[0]);
            findings.add(&FORMAT, schema.value_spot("format"), message, fix);
        }
    }
}

/// Schemas that are looked through for one name. Who composes more is given the benefit of the doubt.
const MOST_COMPOSED: usize = 100;
/// How many parts each of those may have.
const MOST_PARTS: usize = 1_000;

fn required(schema: Object<'_>, findings: &mut Findings) {
    let items = schema.get("required").map(Node::items).unwrap_or_default();
    if items.is_empty() {
        return;
    }
    // What a part of a composition requires, another part may define.
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
            let message =
                format!("{} requires `{}`, which is none of its properties.", schema.subject(), shown(name));
            let spot = schema.spot_at(&[Step::Key("required"), Step::Item(number)], item.span);
            findings.add(&REQUIRED, spot, message, "Correct the name, or add the property.");
        }
    }
}

fn values(schema: Object<'_>, findings: &mut Findings) {
    let items = schema.get("enum").map(Node::items).unwrap_or_default();
    let mut seen = HashSet::new();
    for (number, item) in items.iter().enumerate() {
        let spot = || schema.spot_at(&[Step::Key("enum"), Step::Item(number)], crate::openapi::head(item));
        if !seen.insert(item.to_json().to_string()) {
            let message =
                format!("`{}` is in the `enum` of {} twice.", shown(&text_of(item)), schema.subject());
            findings.add(&ENUM_TWICE, spot(), message, "Take one out.");
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
            findings.add(
                &ENUM_TYPE,
                spot(),
                message,
                "Correct the value or the `type`; text that looks like a number wants quotes.",
            );
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
        // A `type` that is none is told of elsewhere.
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
                format!("`{low}` of {} is {least}, above its `{high}` of {most}.", schema.subject());
            findings.add(&BOUNDS, schema.value_spot(low), message, "Correct one of them.");
        }
    }
}
