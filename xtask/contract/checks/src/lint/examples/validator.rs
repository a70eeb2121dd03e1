//! Validation of a value against a Schema Object.
//!
//! A validator of the library `jsonschema` checks the assertions of each schema, and is built once. This module
//! visits the schemas that a schema applies and counts every visit, because a few lines of schemas that reference
//! each other twice can take exponential time.

use std::collections::{BTreeSet, HashMap};

use document::Value::Number;
use document::openapi::shapes::wrong_value;
use document::openapi::{Id, Kind, Object, Shape};
use document::{Node, pointer, shortened};
use jsonschema::{Draft, ValidationError, error::ValidationErrorKind};
use serde_json::{Map, Value, json};

use crate::lint::items;
use crate::pattern::Patterns;
use crate::subschema::{Budget, is_base64};

/// The limit of nested schemas and values.
const MAX_DEPTH: usize = 300;

/// The keyword of the properties that a value does not have: `readOnly` in requests, `writeOnly` in responses.
pub(crate) type Excluded = Option<&'static str>;

/// A value that does not match a schema.
pub(crate) struct Mismatch {
    /// The JSON pointer within the value.
    pub(crate) pointer: String,
    /// The end of a sentence that begins with the name of the value.
    pub(crate) message: String,
    pub(crate) fix: &'static str,
}

pub(crate) struct Validator {
    assertions: HashMap<(Id, Excluded), Result<jsonschema::Validator, String>>,
    patterns: Patterns,
    /// A step is one test of a value by one keyword.
    budget: Budget,
}

/// A value that is nested in the validated one.
#[derive(Clone, Copy)]
struct Instance<'v> {
    value: &'v Value,
    pointer: &'v str,
    excluded: Excluded,
    /// The number of schemas and values that enclose it.
    depth: usize,
}

impl Validator {
    pub(crate) fn new(budget: Budget) -> Self {
        Self { assertions: HashMap::new(), patterns: Patterns::default(), budget }
    }

    /// Returns the places where a value does not match a schema; `None` if that would take too long.
    pub(crate) fn mismatches(
        &mut self,
        schema: Object<'_>,
        excluded: Excluded,
        value: &Value,
    ) -> Option<Vec<Mismatch>> {
        self.budget.begin();
        let mut found = Vec::new();
        let instance = Instance { value, pointer: "", excluded, depth: 0 };
        self.visit(schema, instance, &mut found).map(|()| found)
    }

    fn visit(&mut self, schema: Object<'_>, instance: Instance<'_>, found: &mut Vec<Mismatch>) -> Option<()> {
        let Some(schema) = schema.resolved() else { return Some(()) };
        let Instance { value, pointer, excluded, depth } = instance;
        if depth > MAX_DEPTH || !self.budget.spend(cost(schema, value, pointer)) {
            return None;
        }
        self.assert(schema, instance, found);
        // The number of schemas of `anyOf` and `oneOf` that match.
        let (mut any, mut one) = (0, 0);
        for part in schema.parts().filter(|part| part.kind() == Kind::Schema) {
            let inner = Instance { depth: depth + 1, ..instance };
            match part.keyword() {
                "allOf" => self.visit(part, inner, found)?,
                keyword @ ("anyOf" | "oneOf" | "not") => {
                    let mut mismatches = Vec::new();
                    self.visit(part, inner, &mut mismatches)?;
                    match (keyword, mismatches.is_empty()) {
                        ("anyOf", true) => any += 1,
                        ("oneOf", true) => one += 1,
                        ("not", true) => found.push(unmatched(pointer, "it matches the schema of `not`")),
                        _ => {}
                    }
                }
                keyword => {
                    let is_excluded = keyword == "properties" && is_excluded(part, excluded);
                    for (key, value) in applied(schema, keyword, part.name(), value) {
                        let pointer = &pointer::below(pointer, &key);
                        if is_excluded {
                            found.push(mismatch(pointer, EXCLUDED, CORRECT));
                        } else {
                            self.visit(part, Instance { value, pointer, ..inner }, found)?;
                        }
                    }
                }
            }
        }
        if schema.get("additionalProperties").and_then(Node::as_bool) == Some(false) {
            for (key, _) in applied(schema, "additionalProperties", "", value) {
                let message = "is not allowed by the schema";
                let fix = "Remove it, or add it to the schema.";
                found.push(mismatch(&pointer::below(pointer, &key), message, fix));
            }
        }
        if any == 0 && schema.child("anyOf").is_some() {
            found.push(unmatched(pointer, "it matches no schema of `anyOf`"));
        }
        if one != 1 && schema.child("oneOf").is_some() {
            found.push(unmatched(pointer, &format!("it matches {one} schemas of `oneOf`, not one")));
        }
        Some(())
    }

    /// Tests a value by the assertions of a schema.
    fn assert(&mut self, schema: Object<'_>, instance: Instance<'_>, found: &mut Vec<Mismatch>) {
        let Instance { value, pointer, excluded, .. } = instance;
        let validator = self.assertions.entry((schema.id, excluded)).or_insert_with(|| {
            let options = jsonschema::options().with_draft(Draft::Draft201909);
            // OpenAPI 3.0 has no format `duration`, so its authors may mean any.
            let options = options.with_format("byte", is_base64).with_format("duration", |_| true);
            let options = options.should_validate_formats(true);
            options.build(&assertions(schema, excluded).into()).map_err(|error| error.to_string())
        });
        match validator {
            Ok(validator) => {
                found.extend(validator.iter_errors(value).map(|error| described(&error, pointer)));
            }
            Err(reason) => {
                found.push(mismatch(pointer, &format!("cannot be validated: {}", shortened(reason)), CORRECT))
            }
        }
        if let Some(pattern) = schema.text("pattern")
            && self.patterns.matches(pattern, value) == Some(false)
        {
            found.push(unmatched(pointer, &format!("it does not match `{}`", shortened(pattern))));
        }
    }
}

const CORRECT: &str = "Correct the example or the schema.";
const EXCLUDED: &str = "is `readOnly` in a request, or `writeOnly` in a response";

/// Returns the values in `value` to which the schema under a keyword of `schema` applies, with their keys. `name`
/// is the name of a property.
fn applied<'v>(schema: Object<'_>, keyword: &str, name: &str, value: &'v Value) -> Vec<(String, &'v Value)> {
    let members = value.as_object().into_iter().flatten();
    match keyword {
        "properties" => value.get(name).map(|value| (name.to_owned(), value)).into_iter().collect(),
        "additionalProperties" => {
            let named = schema.get("properties");
            let is_other = |key: &str| named.is_none_or(|named| named.get(key).is_none());
            members.filter(|(key, _)| is_other(key)).map(|(key, value)| (key.clone(), value)).collect()
        }
        "items" => {
            let items = value.as_array().into_iter().flatten().enumerate();
            items.map(|(number, value)| (number.to_string(), value)).collect()
        }
        _ => Vec::new(),
    }
}

/// Returns the number of steps of one visit.
fn cost(schema: Object<'_>, value: &Value, pointer: &str) -> usize {
    let lists = items(schema, "enum").len() + items(schema, "required").len();
    let pattern = schema.text("pattern").map_or(0, str::len);
    let bytes = value.as_str().map_or(0, str::len) / 100 * pattern + pointer.len() / 100;
    let members = value.as_object().map_or(0, Map::len) + value.as_array().map_or(0, Vec::len);
    1 + schema.parts().count() + lists + bytes + members
}

fn mismatch(pointer: &str, message: &str, fix: &'static str) -> Mismatch {
    Mismatch { pointer: pointer.to_owned(), message: message.to_owned(), fix }
}

fn unmatched(pointer: &str, reason: &str) -> Mismatch {
    mismatch(pointer, &format!("does not match its schema: {reason}"), CORRECT)
}

/// Describes an error of the library.
fn described(error: &ValidationError<'_>, pointer: &str) -> Mismatch {
    let pointer = format!("{pointer}{}", error.instance_path());
    match error.kind() {
        ValidationErrorKind::Required { property } => {
            let property = property.as_str().unwrap_or_default();
            mismatch(&pointer, &format!("has no `{}`, which is required", shortened(property)), "Add it.")
        }
        _ => unmatched(&pointer, &shortened(&error.masked().to_string())),
    }
}

/// Whether a property is not sent.
fn is_excluded(property: Object<'_>, excluded: Excluded) -> bool {
    excluded.zip(property.resolved()).is_some_and(|(keyword, property)| property.flag(keyword))
}

/// Returns the assertions of a schema, the keywords that contain no other schema, as a JSON Schema without `pattern`.
/// OpenAPI 3.0 adds to its draft of JSON Schema: `nullable`, the integer formats, `readOnly` and `writeOnly`. Keywords with
/// an invalid value, which other rules report, are left out.
fn assertions(schema: Object<'_>, excluded: Excluded) -> Map<String, Value> {
    let mut made = Map::new();
    for (keyword, _, shape) in Kind::Schema.table().keywords {
        let Some(node) = schema.get(keyword).filter(|node| wrong_value(shape, node).is_none()) else {
            continue;
        };
        let value = match *keyword {
            "multipleOf" if !matches!(&node.value, Number(number) if number.as_f64() > Some(0.0)) => continue,
            "enum" if node.items().is_empty() => continue,
            // Authors leave null out of the list.
            "enum" if schema.flag("nullable") => {
                node.items().iter().map(Node::to_json).chain([Value::Null]).collect()
            }
            "type" if schema.flag("nullable") => json!([node.to_json(), "null"]),
            "enum" | "type" | "uniqueItems" | "format" => node.to_json(),
            _ if matches!(shape, Shape::Count | Shape::Number) => node.to_json(),
            _ => continue,
        };
        made.insert((*keyword).to_owned(), value);
    }
    for (bound, exclusive) in [("minimum", "exclusiveMinimum"), ("maximum", "exclusiveMaximum")] {
        if schema.flag(exclusive)
            && let Some(limit) = made.remove(bound)
        {
            made.insert(exclusive.to_owned(), limit);
        }
    }
    let mut add = |keyword: &str, value: Value| made.insert(keyword.to_owned(), value);
    match schema.text("format") {
        Some("int32") => drop(add("allOf", json!([{ "minimum": i32::MIN, "maximum": i32::MAX }]))),
        Some("int64") => drop(add("allOf", json!([{ "minimum": i64::MIN, "maximum": i64::MAX }]))),
        _ => {}
    }
    let mut required: BTreeSet<&str> = items(schema, "required").iter().filter_map(Node::as_str).collect();
    for property in schema.children("properties").filter(|property| is_excluded(*property, excluded)) {
        required.remove(property.name());
    }
    if !required.is_empty() {
        add("required", required.into_iter().collect());
    }
    made
}
