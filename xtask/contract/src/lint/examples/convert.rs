//! Conversion of Schema Objects to JSON Schema.
//!
//! OpenAPI 3.0 adds to its draft of JSON Schema: `nullable`, the integer formats, `readOnly` and `writeOnly`.
//! Left out are keywords with an invalid value, which other rules report, and patterns that need backtracking.

use std::collections::{BTreeSet, HashMap};

use crate::document::Node;
use serde_json::{Map, Value, json};

use super::super::rules::patterns::Patterns;
use super::cost::Walk;
use crate::openapi::{Id, Kind, Model, Object, Schema};

/// The direction in which a value is sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Direction {
    /// From client to service: without `readOnly`.
    Request,
    /// From service to client: without `writeOnly`.
    Response,
    Either,
}

impl Direction {
    pub(crate) fn of(object: Object<'_>) -> Self {
        let direction = object.ancestors().find_map(|object| match object.kind() {
            Kind::RequestBody | Kind::Parameter => Some(Self::Request),
            Kind::Response => Some(Self::Response),
            _ => None,
        });
        direction.unwrap_or(Self::Either)
    }
}

type Key = (Id, Direction);

pub(crate) struct Converter<'w, 'a> {
    model: &'a Model<'a>,
    walk: &'w Walk<'a>,
    /// The numbers of the definitions.
    numbers: HashMap<Key, usize>,
    /// Definitions that have been referenced and not yet converted.
    open: Vec<Key>,
    patterns: Patterns<'a>,
}

impl<'w, 'a> Converter<'w, 'a> {
    pub(crate) fn new(model: &'a Model<'a>, walk: &'w Walk<'a>) -> Self {
        Self { model, walk, numbers: HashMap::new(), open: Vec::new(), patterns: Patterns::default() }
    }

    /// A reference to the definition of a schema; `true` if no example needs it.
    pub(crate) fn reference(&mut self, schema: Id, direction: Direction) -> Value {
        if !self.walk.needs(schema) {
            return Value::Bool(true);
        }
        let number = self.numbers.len();
        let number = *self.numbers.entry((schema, direction)).or_insert_with(|| {
            self.open.push((schema, direction));
            number
        });
        json!({ "$ref": format!("#/definitions/{number}") })
    }

    /// All definitions that have been referenced, and those that they reference.
    pub(crate) fn definitions(&mut self) -> Value {
        let mut definitions = Map::new();
        while let Some((id, direction)) = self.open.pop() {
            let number = self.numbers[&(id, direction)].to_string();
            let schema = self.schema(self.model.object(id), direction);
            definitions.insert(number, schema);
        }
        Value::Object(definitions)
    }

    fn part(&mut self, part: Object<'a>, direction: Direction) -> Value {
        if !part.is_reference() {
            return self.schema(part, direction);
        }
        part.resolved().map_or(Value::Bool(true), |target| self.reference(target.id, direction))
    }

    fn schema(&mut self, schema: Object<'a>, direction: Direction) -> Value {
        if !self.walk.needs(schema.id) {
            return Value::Bool(true);
        }
        let mut made = Map::new();
        for (keyword, is_right) in COPIED {
            let value = schema.get(keyword).map(Node::to_json).filter(is_right);
            made.extend(value.map(|value| ((*keyword).to_owned(), value)));
        }
        for (bound, exclusive) in [("minimum", "exclusiveMinimum"), ("maximum", "exclusiveMaximum")] {
            if schema.flag(exclusive)
                && let Some(limit) = made.remove(bound)
            {
                made.insert(exclusive.to_owned(), limit);
            }
        }
        if let Some(pattern) = schema.text("pattern")
            && self.patterns.problem(pattern).is_none()
        {
            made.insert("pattern".to_owned(), pattern.into());
        }
        if let Some(kind) = schema.text("type").filter(|kind| TYPES.contains(kind)) {
            let kind = if schema.flag("nullable") { json!([kind, "null"]) } else { kind.into() };
            made.insert("type".to_owned(), kind);
        }
        self.applied(schema, direction, &mut made);
        let bounds = match schema.text("format") {
            Some("int32") => Some(json!({ "minimum": i32::MIN, "maximum": i32::MAX })),
            Some("int64") => Some(json!({ "minimum": i64::MIN, "maximum": i64::MAX })),
            _ => None,
        };
        if let Some(bounds) = bounds {
            append(&mut made, "allOf", bounds);
        }
        Value::Object(made)
    }

    /// The keywords that hold schemas.
    fn applied(&mut self, schema: Object<'a>, direction: Direction, made: &mut Map<String, Value>) {
        let mut required: BTreeSet<&str> = Schema::new(schema).required().collect();
        let mut properties = Map::new();
        for part in schema.parts().filter(|part| part.kind() == Kind::Schema) {
            match part.keyword() {
                "properties" => {
                    let resolved = part.resolved();
                    let one_way = |keyword: &str| resolved.is_some_and(|property| property.flag(keyword));
                    let read = direction == Direction::Request && one_way("readOnly");
                    let write = direction == Direction::Response && one_way("writeOnly");
                    let converted = if read || write {
                        required.remove(part.name());
                        Value::Bool(false)
                    } else {
                        self.part(part, direction)
                    };
                    properties.insert(part.name().to_owned(), converted);
                }
                keyword @ ("allOf" | "anyOf" | "oneOf") => {
                    append(made, keyword, self.part(part, direction));
                }
                keyword @ ("not" | "items" | "additionalProperties") => {
                    let converted = self.part(part, direction);
                    made.insert(keyword.to_owned(), converted);
                }
                _ => {}
            }
        }
        if let Some(open) = schema.get("additionalProperties").and_then(Node::as_bool) {
            made.insert("additionalProperties".to_owned(), open.into());
        }
        if !properties.is_empty() {
            made.insert("properties".to_owned(), properties.into());
        }
        if !required.is_empty() {
            made.insert("required".to_owned(), required.into_iter().collect());
        }
    }
}

/// Appends a schema to a list of schemas.
fn append(made: &mut Map<String, Value>, keyword: &str, schema: Value) {
    if let Value::Array(parts) = made.entry(keyword).or_insert_with(|| json!([])) {
        parts.push(schema);
    }
}

type IsRight = fn(&Value) -> bool;

/// The keywords that are copied if their value is valid.
const COPIED: &[(&str, IsRight)] = &[
    ("maxLength", Value::is_u64),
    ("minLength", Value::is_u64),
    ("maxItems", Value::is_u64),
    ("minItems", Value::is_u64),
    ("maxProperties", Value::is_u64),
    ("minProperties", Value::is_u64),
    ("minimum", Value::is_number),
    ("maximum", Value::is_number),
    ("uniqueItems", Value::is_boolean),
    ("format", Value::is_string),
    ("multipleOf", |number| number.as_f64().is_some_and(|number| number > 0.0)),
    ("enum", |values| values.as_array().is_some_and(|values| !values.is_empty())),
];

const TYPES: &[&str] = &["string", "number", "integer", "boolean", "array", "object"];

/// `format: byte`, RFC 4648 section 4.
pub(crate) fn is_base64(text: &str) -> bool {
    let data = text.trim_end_matches('=');
    let padding = text.len() - data.len();
    let digits = data.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"+/".contains(&byte));
    digits && padding <= 2 && text.len().is_multiple_of(4)
}
