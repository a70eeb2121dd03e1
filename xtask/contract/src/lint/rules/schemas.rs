//! Schemas without contradictions: `required`, `enum`, `type`, `format`, bounds.

use std::collections::HashSet;

use crate::document::{Node, Value};

use crate::finding::shortened as shown;
use crate::lint::{item_spot, items};
use crate::openapi::shapes::{text_of, type_of};
use crate::openapi::{Kind, Model, Object, in_place};
use crate::rule::{Findings, rules};

rules! {
    REQUIRED: Recommended Error "no-required-schema-properties-undefined",
        "Redocly: no-required-schema-properties-undefined",
        "Each name in `required` is that of a property of the schema.";
    ENUM_TYPE: Recommended Error "typed-enum", "Spectral: typed-enum; Redocly: no-enum-type-mismatch",
        "The values of an `enum` have the `type` of their schema.";
    KEYWORDS: Recommended Error "no-schema-type-mismatch", "Redocly: no-schema-type-mismatch",
        "A schema has only keywords that apply to its `type`.";
    FORMAT: Recommended Error "format-matches-type", "OpenAPI 3.0.3, 4.4",
        "The `format` of a schema applies to its `type`.";
    BOUNDS: Recommended Error "bounds-in-order", "this tool",
        "The lower bound of a schema does not exceed its upper bound.";
}

/// Types with the keywords that apply only to them.
pub(crate) const KEYWORDS_OF: &[(&[&str], &[&str])] = &[
    (&["string"], &["minLength", "maxLength", "pattern"]),
    (&["number", "integer"], &["minimum", "maximum", "multipleOf", "exclusiveMinimum", "exclusiveMaximum"]),
    (&["array"], &["items", "minItems", "maxItems", "uniqueItems"]),
    (&["object"], &["properties", "required", "additionalProperties", "minProperties", "maxProperties"]),
];

/// Types with the formats that apply only to them: those of OpenAPI and the common ones of JSON Schema.
const FORMATS_OF: &[(&str, &[&str])] = &[
    ("integer", &["int32", "int64"]),
    ("number", &["float", "double"]),
    ("string", &["byte", "binary", "date", "date-time", "password", "uuid", "uri", "email"]),
    ("string", &["hostname", "ipv4", "ipv6"]),
];

const PAIRS: &[(&str, &str)] = &[
    ("minimum", "maximum"),
    ("minLength", "maxLength"),
    ("minItems", "maxItems"),
    ("minProperties", "maxProperties"),
];

pub(crate) fn check(model: &Model<'_>, findings: &mut Findings) {
    for schema in model.all(Kind::Schema) {
        required(schema, findings);
        values(schema, findings);
        bounds(schema, findings);
        let Some(kind) = schema.text("type") else { continue };
        let others = KEYWORDS_OF.iter().filter(|(types, _)| !types.contains(&kind));
        for keyword in others.flat_map(|(_, keywords)| *keywords).filter(|keyword| schema.has(keyword)) {
            let message = format!("`{keyword}` does not apply to `type: {}`.", shown(kind));
            findings.add(&KEYWORDS, schema.key_spot(keyword), message, "Remove it, or correct the `type`.");
        }
        let format = schema.text("format").unwrap_or_default();
        let right = FORMATS_OF.iter().find(|(_, formats)| formats.contains(&format)).map(|(kind, _)| *kind);
        if let Some(right) = right.filter(|right| *right != kind) {
            let message = format!("`format: {format}` does not apply to `type: {}`.", shown(kind));
            let fix = format!("Write `type: {right}`, or another format.");
            findings.add(&FORMAT, schema.value_spot("format"), message, fix);
        }
    }
}

/// The most schemas of a composition that are searched for a name. Larger compositions are not checked.
const MOST_COMPOSED: usize = 100;
/// The most parts of each of those.
const MOST_PARTS: usize = 1_000;

fn required(schema: Object<'_>, findings: &mut Findings) {
    let items = items(schema, "required");
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
        names.extend(object.get("properties").into_iter().flat_map(Node::entries).map(|entry| &*entry.key));
        open.extend(in_place(object));
    }
    for (number, item) in items.iter().enumerate() {
        if let Some(name) = item.as_str().filter(|name| !names.contains(name)) {
            let (subject, name) = (schema.subject(), shown(name));
            let message = format!("{subject} requires `{name}`, which is not one of its properties.");
            let spot = item_spot(schema, "required", number);
            findings.add(&REQUIRED, spot, message, "Correct the name, or add the property.");
        }
    }
}

fn values(schema: Object<'_>, findings: &mut Findings) {
    let Some(kind) = schema.text("type") else { return };
    for (number, item) in items(schema, "enum").iter().enumerate() {
        let is_right = match (&item.value, kind) {
            (Value::Null, _) if schema.flag("nullable") => true,
            (Value::String(_), "string")
            | (Value::Bool(_), "boolean")
            | (Value::Number(_), "number")
            | (Value::Sequence(_), "array")
            | (Value::Mapping(_), "object") => true,
            (Value::Number(number), "integer") => number.is_i64() || number.is_u64(),
            // `struct-value` reports an unknown `type`.
            _ => !["string", "boolean", "number", "integer", "array", "object"].contains(&kind),
        };
        if !is_right {
            let (value, other) = (shown(&text_of(item)), type_of(item));
            let message = format!("`{value}` in the `enum` is {other}, not of `type: {}`.", shown(kind));
            let fix = "Correct the value or the `type`; quote a string that looks like a number or boolean.";
            findings.add(&ENUM_TYPE, item_spot(schema, "enum", number), message, fix);
        }
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
