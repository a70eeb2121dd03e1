//! Validation of a value against a Schema Object.
//!
//! A validator of the library `jsonschema` checks the assertions of each schema, and is built once. This module
//! visits the schemas that a schema applies and counts every visit, because a few lines of schemas that reference
//! each other twice can take exponential time.

use std::collections::HashMap;

use document::Node;
use document::openapi::{Id, Kind, Object};
use document::pointer;
use document::shortened;
use jsonschema::{Draft, ValidationError, error::ValidationErrorKind};
use serde_json::{Map, Value};

use super::assertions::{Direction, assertions};
use crate::lint::items;
use crate::pattern::{self, Fault, Patterns};
use crate::subschema::is_base64;

/// The limit of tests for one value. The unit is one test of a value by one keyword.
pub(super) const MAX_TESTS: usize = 200_000;
/// The limit of tests for all values together.
pub(super) const MAX_TESTS_OF_ALL: usize = 2_000_000;
/// The limit of nested schemas and values.
const MAX_DEPTH: usize = 300;

/// A value that does not match a schema.
pub(crate) struct Mismatch {
    /// The JSON pointer within the value.
    pub(crate) pointer: String,
    /// The end of a sentence that begins with the name of the value.
    pub(crate) message: String,
    pub(crate) fix: &'static str,
}

pub(crate) struct Validator {
    assertions: HashMap<(Id, Direction), Result<jsonschema::Validator, String>>,
    patterns: Patterns,
    /// The number of tests that remain for all values together.
    left: usize,
    /// The number of tests that remain for the current value.
    left_for_one: usize,
}

/// A value that is nested in the validated one.
#[derive(Clone, Copy)]
struct Instance<'v> {
    value: &'v Value,
    pointer: &'v str,
    direction: Direction,
    /// The number of schemas and values that enclose it.
    depth: usize,
}

impl Validator {
    pub(crate) fn new() -> Self {
        Self {
            assertions: HashMap::new(),
            patterns: Patterns::default(),
            left: MAX_TESTS_OF_ALL,
            left_for_one: 0,
        }
    }

    /// Whether the limit for all values together is reached.
    pub(crate) fn is_exhausted(&self) -> bool {
        self.left == 0
    }

    /// Returns the places where a value does not match a schema; `None` if that would take too long.
    pub(crate) fn mismatches(
        &mut self,
        schema: Object<'_>,
        direction: Direction,
        value: &Value,
    ) -> Option<Vec<Mismatch>> {
        let most = self.left.min(MAX_TESTS);
        self.left_for_one = most;
        let mut found = Vec::new();
        let instance = Instance { value, pointer: "", direction, depth: 0 };
        let done = self.visit(schema, instance, &mut found);
        self.left -= most - self.left_for_one;
        done.map(|()| found)
    }

    fn visit(&mut self, schema: Object<'_>, instance: Instance<'_>, found: &mut Vec<Mismatch>) -> Option<()> {
        let Some(schema) = schema.resolved() else { return Some(()) };
        let Instance { value, pointer, direction, depth } = instance;
        self.spend(schema, instance)?;
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
                        ("not", true) => found.push(mismatch(pointer, NOT, CORRECT)),
                        _ => {}
                    }
                }
                keyword => {
                    let is_excluded = keyword == "properties" && direction.excludes(part);
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
            let message = "does not match its schema: it matches no schema of `anyOf`";
            found.push(mismatch(pointer, message, CORRECT));
        }
        if one != 1 && schema.child("oneOf").is_some() {
            let message = format!("does not match its schema: it matches {one} schemas of `oneOf`, not one");
            found.push(mismatch(pointer, &message, CORRECT));
        }
        Some(())
    }

    /// Counts the tests of one visit; `None` if the limit is reached.
    fn spend(
        &mut self,
        schema: Object<'_>,
        Instance { value, pointer, depth, .. }: Instance<'_>,
    ) -> Option<()> {
        let lists = items(schema, "enum").len() + items(schema, "required").len();
        let pattern = schema.text("pattern").map_or(0, str::len);
        let text = value.as_str().map_or(0, str::len);
        let bytes = text / 100 * pattern + pointer.len() / 100;
        let members = value.as_object().map_or(0, Map::len) + value.as_array().map_or(0, Vec::len);
        let cost = 1 + schema.parts().count() + lists + bytes + members;
        let left = self.left_for_one.checked_sub(cost);
        self.left_for_one = left.unwrap_or_default();
        left.filter(|_| depth <= MAX_DEPTH).map(drop)
    }

    /// Tests a value by the assertions of a schema.
    fn assert(&mut self, schema: Object<'_>, instance: Instance<'_>, found: &mut Vec<Mismatch>) {
        let Instance { value, pointer, direction, .. } = instance;
        let patterns = &mut self.patterns;
        let validator = self.assertions.entry((schema.id, direction)).or_insert_with(|| {
            let options = pattern::options().with_draft(Draft::Draft201909);
            // OpenAPI 3.0 has no format `duration`, so its authors may mean any.
            let options = options.with_format("byte", is_base64).with_format("duration", |_| true);
            let options = options.should_validate_formats(true);
            let schema = assertions(schema, direction, patterns).into();
            options.build(&schema).map_err(|error| error.to_string())
        });
        match validator {
            Ok(validator) => {
                found.extend(validator.iter_errors(value).map(|error| described(&error, pointer)));
            }
            Err(reason) => {
                found.push(mismatch(pointer, &format!("cannot be validated: {}", shortened(reason)), CORRECT))
            }
        }
        // The validator has only patterns that take linear time.
        let pattern =
            schema.text("pattern").filter(|pattern| patterns.fault(pattern) == Some(Fault::Backtracks));
        if let Some(pattern) = pattern.filter(|pattern| patterns.matches(pattern, value) == Some(false)) {
            let message = format!("does not match its schema: it does not match `{}`", shortened(pattern));
            found.push(mismatch(pointer, &message, CORRECT));
        }
    }
}

const CORRECT: &str = "Correct the example or the schema.";
const EXCLUDED: &str = "is `readOnly` in a request, or `writeOnly` in a response";
const NOT: &str = "does not match its schema: it matches the schema of `not`";

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

fn mismatch(pointer: &str, message: &str, fix: &'static str) -> Mismatch {
    Mismatch { pointer: pointer.to_owned(), message: message.to_owned(), fix }
}

/// Describes an error of the library.
fn described(error: &ValidationError<'_>, pointer: &str) -> Mismatch {
    let pointer = format!("{pointer}{}", error.instance_path());
    match error.kind() {
        ValidationErrorKind::Required { property } => {
            let property = property.as_str().unwrap_or_default();
            mismatch(&pointer, &format!("has no `{}`, which is required", shortened(property)), "Add it.")
        }
        _ => {
            let message = format!("does not match its schema: {}", shortened(&error.masked().to_string()));
            mismatch(&pointer, &message, CORRECT)
        }
    }
}
