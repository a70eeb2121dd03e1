//! Schemas without contradictions: `required`, `enum`, `type`, `format`, bounds, patterns, and all keywords together.

use std::collections::{BTreeSet, HashSet};

use document::openapi::shapes::{text_of, type_of};
use document::openapi::{Kind, Model, Object, in_place};
use document::{Node, Value, shortened};

use super::combinations::ENUM;
use crate::lint::{item_spot, items};
use crate::pattern::{Fault, MAX_COMPILED_BYTES, MAX_HEAVY, MAX_LENGTH, MAX_PATTERNS, Patterns};
use crate::rule::{Added, Findings, rules};
use crate::subschema::{Budget, Schemas};

rules! {
    REQUIRED: Recommended Error fix Unsafe "no-required-schema-properties-undefined",
        "Redocly: no-required-schema-properties-undefined",
        "Each name in `required` is the name of a property of the schema.";
    ENUM_TYPE: Recommended Error "typed-enum", "Spectral: typed-enum; Redocly: no-enum-type-mismatch",
        "The values of an `enum` have the `type` of their schema.";
    DEFAULT_TYPE: Spec Error "default-type", "OpenAPI 3.0.3, 4.7.24.1",
        "The `default` of a schema has the `type` of the schema.";
    KEYWORDS: Recommended Error fix Unsafe "no-schema-type-mismatch", "Redocly: no-schema-type-mismatch",
        "A schema has only keywords that apply to its `type`.";
    FORMAT: Recommended Error "format-matches-type", "OpenAPI 3.0.3, 4.4",
        "The `format` of a schema applies to its `type`.";
    BOUNDS: Recommended Error "bounds-in-order", "this tool",
        "The lower bound of a schema does not exceed its upper bound.";
    PATTERN: Recommended Error "valid-pattern", "JSON Schema draft Wright-00, 5.8",
        "A `pattern` is a regular expression of ECMA 262.";
    LINEAR: Strict Error "linear-pattern", "this tool",
        "A `pattern` can be matched in linear time: it is short, has bounded repetitions, and neither \
         lookaround nor back references.";
    CONTRADICTION: Recommended Warning "no-contradictory-schemas", "this tool",
        "A value can match each schema: its keywords do not exclude each other.";
}

/// Types with the keywords that apply only to them.
const KEYWORDS_OF: &[(&[&str], &[&str])] = &[
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
            let message = format!("`{keyword}` does not apply to `type: {}`.", shortened(kind));
            findings
                .add(&KEYWORDS, schema.key_spot(keyword), message, "Remove it, or correct the `type`.")
                .remove();
        }
        let format = schema.text("format").unwrap_or_default();
        let right = FORMATS_OF.iter().find(|(_, formats)| formats.contains(&format)).map(|(kind, _)| *kind);
        if let Some(right) = right.filter(|right| *right != kind) {
            let message = format!("`format: {format}` does not apply to `type: {}`.", shortened(kind));
            let fix = format!("Write `type: {right}`, or another format.");
            findings.add(&FORMAT, schema.value_spot("format"), message, fix);
        }
    }
    if findings.wants(&[&PATTERN, &LINEAR]) {
        patterns(model, findings);
    }
    if findings.wants(&[&CONTRADICTION]) {
        contradictions(model, findings);
    }
}

/// The limit of schemas of a composition to search for a name. Larger compositions are not checked.
const MAX_COMPOSED: usize = 100;
/// The limit of parts of each of these schemas.
const MAX_PARTS: usize = 1_000;

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
    if whole.keyword() == "not" {
        // It says what an object must not have.
        return;
    }
    let Some(names) = property_names(whole) else { return };
    for (number, item) in items.iter().enumerate() {
        if let Some(name) = item.as_str().filter(|name| !names.contains(name)) {
            let (subject, shown) = (schema.subject(), shortened(name));
            let message = format!("{subject} requires `{shown}`, which is not one of its properties.");
            let spot = item_spot(schema, "required", number);
            let added = findings.add(&REQUIRED, spot, message, "Correct the name, or add the property.");
            added.meant(name, names.iter().copied(), Added::write);
        }
    }
}

/// Returns the names of the properties of a schema and of the schemas that it is composed of. `None` if they are
/// too many, or a reference has no target.
pub(super) fn property_names(schema: Object<'_>) -> Option<HashSet<&str>> {
    let mut open = vec![schema];
    let mut seen = HashSet::new();
    let mut names = HashSet::new();
    while let Some(object) = open.pop() {
        let object = object.resolved()?;
        if !seen.insert(object.id) {
            continue;
        }
        if seen.len() > MAX_COMPOSED || object.parts().nth(MAX_PARTS).is_some() {
            return None;
        }
        names.extend(object.get("properties").into_iter().flat_map(Node::entries).map(|entry| &*entry.key));
        open.extend(in_place(object));
    }
    Some(names)
}

fn values(schema: Object<'_>, findings: &mut Findings) {
    let kind = shortened(schema.text("type").unwrap_or_default());
    let items = items(schema, "enum").iter().enumerate().map(|(number, item)| {
        let name = format!("The `enum` value `{}`", shortened(&text_of(item)));
        (&ENUM_TYPE, name, item, item_spot(schema, "enum", number))
    });
    let default = schema.get("default").map(|default| {
        let name = format!("The `default` of {}", schema.subject());
        (&DEFAULT_TYPE, name, default, schema.value_spot("default"))
    });
    for (rule, name, value, spot) in items.chain(default).filter(|(_, _, value, _)| !has_type(schema, value))
    {
        let message = format!("{name} is {}, but the `type` is `{kind}`.", type_of(value));
        let fix = "Correct the value or the `type`; quote a string that looks like a number or boolean.";
        findings.add(rule, spot, message, fix);
    }
}

/// Whether a value has the `type` of a schema.
pub(crate) fn has_type(schema: Object<'_>, value: &Node) -> bool {
    match (&value.value, schema.text("type").unwrap_or_default()) {
        (Value::Null, _) if schema.flag("nullable") => true,
        (Value::String(_), "string")
        | (Value::Bool(_), "boolean")
        | (Value::Number(_), "number")
        | (Value::Sequence(_), "array")
        | (Value::Mapping(_), "object") => true,
        // Integers of more than 64 bits are read as floating point.
        (Value::Number(number), "integer") => {
            number.is_i64() || number.is_u64() || number.as_f64().is_some_and(|number| number.abs() >= 1e18)
        }
        // `struct-value` reports an unknown `type`.
        (_, kind) => !["string", "boolean", "number", "integer", "array", "object"].contains(&kind),
    }
}

fn bounds(schema: Object<'_>, findings: &mut Findings) {
    let number = |keyword: &str| match &schema.get(keyword)?.value {
        Value::Number(number) => Some((number, number.as_f64()?)),
        _ => None,
    };
    for (low, high) in PAIRS {
        let Some(((least, lower), (most, upper))) = number(low).zip(number(high)) else { continue };
        if lower > upper {
            let message =
                format!("`{low}` of {} is {least}, which exceeds its `{high}` of {most}.", schema.subject());
            findings.add(&BOUNDS, schema.value_spot(low), message, "Correct one of them.");
        }
    }
}

fn patterns(model: &Model<'_>, findings: &mut Findings) {
    let mut patterns = Patterns::default();
    for schema in model.all(Kind::Schema) {
        let Some(pattern) = schema.text("pattern") else { continue };
        let Some(fault) = patterns.fault(pattern) else { continue };
        let (rule, what, fix) = match fault {
            Fault::Syntax => (
                &PATTERN,
                "is not a regular expression of ECMA 262".to_owned(),
                "Correct it; the syntax is that of JavaScript.",
            ),
            Fault::Backtracks => (
                &LINEAR,
                "has a lookaround or a back reference".to_owned(),
                "Write it without, and describe the rest in `description`.",
            ),
            Fault::TooLarge => (
                &LINEAR,
                format!(
                    "has more than {MAX_LENGTH} bytes, needs more than {} MiB, or comes after {MAX_PATTERNS} patterns \
                     or {MAX_HEAVY} large ones",
                    MAX_COMPILED_BYTES >> 20
                ),
                "Shorten it, lower its numbers of repetitions, or use fewer patterns.",
            ),
        };
        let message = format!("The pattern `{}` {what}.", shortened(pattern));
        findings.add(rule, schema.value_spot("pattern"), message, fix);
    }
}

fn contradictions(model: &Model<'_>, findings: &mut Findings) {
    // Schemas beyond the limit of steps count as satisfiable.
    let mut schemas = Schemas::new(model, model, Budget::of(model.len()));
    let known = findings.places(&[&BOUNDS, &ENUM, &ENUM_TYPE, &REQUIRED]);
    for schema in model.all(Kind::Schema).filter(|schema| !schema.has("not")) {
        let is_known = || is_at_or_below(&known, &schema.pointer());
        if schemas.accepts_nothing(schema) && !is_known() && !contains_the_cause(&mut schemas, schema) {
            let message = format!("No value matches {}: its keywords exclude each other.", schema.subject());
            let fix = "Correct the bound, `format`, `enum` or part of `allOf` that excludes the others.";
            findings.add(&CONTRADICTION, schema.spot(), message, fix);
        }
    }
}

/// Whether one of the places is this one or below it.
fn is_at_or_below(places: &BTreeSet<String>, at: &str) -> bool {
    let below = format!("{at}/");
    places.contains(at) || places.range(below.clone()..).next().is_some_and(|next| next.starts_with(&below))
}

/// Whether a schema inside of this one, such as that of a required property, matches no value either.
fn contains_the_cause<'a>(schemas: &mut Schemas<'a>, schema: Object<'a>) -> bool {
    schema.parts().filter_map(|part| part.resolved()).any(|part| schemas.accepts_nothing(part))
}
