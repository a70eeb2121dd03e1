//! Converts the assertions of a Schema Object, the keywords that contain no other schema, to JSON Schema.
//!
//! OpenAPI 3.0 adds to its draft of JSON Schema: `nullable`, the integer formats, `readOnly` and `writeOnly`.
//! Keywords with an invalid value, which other rules report, and patterns that need backtracking are left out.

use std::collections::BTreeSet;

use document::Node;
use document::Value::Number;
use document::openapi::shapes::wrong_value;
use document::openapi::{Kind, Object, Shape};
use serde_json::{Map, Value, json};

use crate::lint::items;
use crate::pattern::Patterns;

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

    /// Whether a property is not sent in this direction.
    pub(crate) fn excludes(self, property: Object<'_>) -> bool {
        property.resolved().is_some_and(|property| match self {
            Self::Request => property.flag("readOnly"),
            Self::Response => property.flag("writeOnly"),
            Self::Either => false,
        })
    }
}

/// Returns the assertions of a schema as a JSON Schema.
pub(crate) fn assertions(
    schema: Object<'_>,
    direction: Direction,
    patterns: &mut Patterns,
) -> Map<String, Value> {
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
            "pattern" if schema.text("pattern").is_none_or(|text| patterns.fault(text).is_some()) => {
                continue;
            }
            "multipleOf" | "enum" | "type" | "pattern" | "uniqueItems" | "format" => node.to_json(),
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
    for property in schema.children("properties").filter(|property| direction.excludes(*property)) {
        required.remove(property.name());
    }
    if !required.is_empty() {
        add("required", required.into_iter().collect());
    }
    made
}
