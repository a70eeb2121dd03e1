//! Validation of a value against a Schema Object.
//!
//! The assertions of a schema are a validator of the library `jsonschema`, which is built once. The schemas
//! that a schema applies are visited here, because a few lines of schemas that reference each other twice can
//! take exponential time, and every visit is counted.

use std::collections::HashMap;

use jsonschema::{Draft, ValidationError, error::ValidationErrorKind};
use serde_json::Value;

use super::assertions::{Direction, assertions, is_base64};
use crate::document::pointer;
use crate::finding::shortened as shown;
use crate::lint::items;
use crate::lint::rules::patterns::{self, Patterns};
use crate::openapi::{Id, Kind, Object, Schema};

/// The most tests for one value. The unit is one test of a value by one keyword.
const ONE: usize = 200_000;
/// The most tests for all values together.
const ALL: usize = 2_000_000;
/// The deepest nesting of schemas and values.
const DEEPEST: usize = 300;

/// What does not match a schema.
pub(crate) struct Mismatch {
    /// The JSON pointer within the value.
    pub(crate) pointer: String,
    /// The end of a sentence that begins with the name of the value.
    pub(crate) message: String,
    pub(crate) fix: &'static str,
}

pub(crate) struct Validator<'a> {
    assertions: HashMap<(Id, Direction), Result<jsonschema::Validator, String>>,
    patterns: Patterns<'a>,
    /// How many more tests all values together may take.
    left: usize,
    /// How many more the current value may take.
    left_for_one: usize,
}

/// A value within the one that is validated.
#[derive(Clone, Copy)]
struct Place<'v> {
    value: &'v Value,
    pointer: &'v str,
    direction: Direction,
    /// The number of schemas and values around it.
    depth: usize,
}

impl<'a> Validator<'a> {
    pub(crate) fn new() -> Self {
        Self { assertions: HashMap::new(), patterns: Patterns::default(), left: ALL, left_for_one: 0 }
    }

    /// Whether the limit for all values together is reached.
    pub(crate) fn is_exhausted(&self) -> bool {
        self.left == 0
    }

    /// Where a value does not match a schema; `None` if that would take too long.
    pub(crate) fn mismatches(
        &mut self,
        schema: Object<'a>,
        direction: Direction,
        value: &Value,
    ) -> Option<Vec<Mismatch>> {
        let most = self.left.min(ONE);
        self.left_for_one = most;
        let mut found = Vec::new();
        let place = Place { value, pointer: "", direction, depth: 0 };
        let done = self.visit(schema, place, &mut found);
        self.left -= most - self.left_for_one;
        done.map(|()| found)
    }

    fn visit(&mut self, schema: Object<'a>, place: Place<'_>, found: &mut Vec<Mismatch>) -> Option<()> {
        let Some(schema) = schema.resolved() else { return Some(()) };
        let Place { value, pointer, direction, depth } = place;
        self.spend(schema, place)?;
        self.assert(schema, place, found);
        // How many schemas of `anyOf` and `oneOf` match.
        let (mut any, mut one) = (0, 0);
        for part in schema.parts().filter(|part| part.kind() == Kind::Schema) {
            let below = Place { depth: depth + 1, ..place };
            match part.keyword() {
                "allOf" => self.visit(part, below, found)?,
                keyword @ ("anyOf" | "oneOf" | "not") => {
                    let mut mismatches = Vec::new();
                    self.visit(part, below, &mut mismatches)?;
                    match (keyword, mismatches.is_empty()) {
                        ("anyOf", true) => any += 1,
                        ("oneOf", true) => one += 1,
                        ("not", true) => found.push(mismatch(pointer, "matches the schema of `not`")),
                        _ => {}
                    }
                }
                "properties" if direction.excludes(part) => {}
                keyword => {
                    for (key, value) in applied(schema, keyword, part, value) {
                        let mut pointer = pointer.to_owned();
                        pointer::push(&mut pointer, &key);
                        self.visit(part, Place { value, pointer: &pointer, ..below }, found)?;
                    }
                }
            }
        }
        if any == 0 && schema.child("anyOf").is_some() {
            found.push(mismatch(pointer, "matches no schema of `anyOf`"));
        }
        if one != 1 && schema.child("oneOf").is_some() {
            found.push(mismatch(pointer, &format!("matches {one} schemas of `oneOf` instead of one")));
        }
        Some(())
    }

    /// Counts the tests of one visit; `None` if the limit is reached.
    fn spend(&mut self, schema: Object<'_>, Place { value, pointer, depth, .. }: Place<'_>) -> Option<()> {
        let lists = items(schema, "enum").len() + items(schema, "required").len();
        let pattern = schema.text("pattern").map_or(0, str::len);
        let text = value.as_str().map_or(0, str::len);
        let bytes = text / 100 * pattern + pointer.len() / 100;
        let cost = 1 + schema.parts().count() + lists + bytes;
        let left = self.left_for_one.checked_sub(cost);
        self.left_for_one = left.unwrap_or_default();
        left.filter(|_| depth <= DEEPEST).map(drop)
    }

    /// Tests a value by the assertions of a schema.
    fn assert(&mut self, schema: Object<'a>, place: Place<'_>, found: &mut Vec<Mismatch>) {
        let Place { value, pointer, direction, .. } = place;
        let patterns = &mut self.patterns;
        let validator = self.assertions.entry((schema.id, direction)).or_insert_with(|| {
            let options = patterns::validator().with_draft(Draft::Draft201909);
            let options = options.with_format("byte", is_base64).should_validate_formats(true);
            let schema = assertions(Schema::new(schema), direction, patterns).into();
            options.build(&schema).map_err(|error| error.to_string())
        });
        match validator {
            Ok(validator) => {
                for error in validator.iter_errors(value) {
                    let pointer = format!("{pointer}{}", error.instance_path());
                    found.extend(described(&error, &pointer));
                }
            }
            Err(reason) => found.push(mismatch(pointer, &format!("cannot be validated: {reason}"))),
        }
    }
}

/// The values in a value that `part`, the schema under a keyword of `schema`, applies to, with their keys.
fn applied<'v>(
    schema: Object<'_>,
    keyword: &str,
    part: Object<'_>,
    value: &'v Value,
) -> Vec<(String, &'v Value)> {
    let members = value.as_object().into_iter().flatten();
    match keyword {
        "properties" => {
            value.get(part.name()).map(|value| (part.name().to_owned(), value)).into_iter().collect()
        }
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

fn mismatch(pointer: &str, message: &str) -> Mismatch {
    let message = format!("does not match its schema: it {}", shown(message));
    Mismatch { pointer: pointer.to_owned(), message, fix: "Correct the example or the schema." }
}

/// Describes an error of the library.
fn described(error: &ValidationError<'_>, pointer: &str) -> Vec<Mismatch> {
    let pointer = pointer.to_owned();
    let (message, fix) = match error.kind() {
        ValidationErrorKind::AdditionalProperties { unexpected } => {
            let each = |key: &String| {
                let message = "is not allowed by the schema".to_owned();
                let mut pointer = pointer.clone();
                pointer::push(&mut pointer, key);
                Mismatch { pointer, message, fix: "Remove it, or add it to the schema." }
            };
            return unexpected.iter().map(each).collect();
        }
        ValidationErrorKind::Required { property } => {
            let property = property.as_str().unwrap_or_default();
            (format!("has no `{}`, which is required", shown(property)), "Add it.")
        }
        ValidationErrorKind::FalseSchema => (
            "is `readOnly` in a request, or `writeOnly` in a response".to_owned(),
            "Correct the example or the schema.",
        ),
        _ => (
            format!("does not match its schema: {}", shown(&error.masked().to_string())),
            "Correct the example or the schema.",
        ),
    };
    vec![Mismatch { pointer, message, fix }]
}
