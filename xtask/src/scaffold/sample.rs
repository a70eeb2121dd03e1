//! Values that a schema allows, for the test of an operation.

use serde_json::{Map, Value, json};

use super::types::{Scope, only_member};

/// How deep a made-up value may be.
const MAX_DEPTH: usize = 8;

/// The example of a media type, or one made up from its schema.
pub(super) fn of_media(scope: &Scope<'_>, media: &Value, schema: &Value) -> Value {
    let examples = media.get("examples").and_then(Value::as_object);
    let named = examples.and_then(|examples| scope.resolve(examples.values().next()?).get("value").cloned());
    media.get("example").cloned().or(named).unwrap_or_else(|| of_schema(scope, schema, 0))
}

/// The example of a parameter, or a value made up from its schema.
pub(super) fn of_parameter(scope: &Scope<'_>, parameter: &Value, schema: &Value) -> Value {
    parameter.get("example").cloned().unwrap_or_else(|| of_schema(scope, schema, 0))
}

fn of_schema(scope: &Scope<'_>, schema: &Value, depth: usize) -> Value {
    let schema = scope.resolve(only_member(schema));
    let said = ["example", "default"].iter().find_map(|keyword| schema.get(*keyword));
    let first = schema.get("enum").and_then(|words| words.get(0));
    if let Some(said) = said.or(first) {
        return said.clone();
    }
    if depth == MAX_DEPTH {
        return Value::Null;
    }
    let number = |key: &str| schema.get(key).and_then(Value::as_u64);
    match schema.get("type").and_then(Value::as_str) {
        Some("boolean") => json!(true),
        Some("integer") => schema.get("minimum").cloned().unwrap_or_else(|| json!(1)),
        Some("number") => schema.get("minimum").cloned().unwrap_or_else(|| json!(1.5)),
        Some("array") => {
            let least = number("minItems").unwrap_or(1).min(100);
            let item = schema.get("items").map(|items| of_schema(scope, items, depth + 1));
            Value::Array((0..least).map(|_| item.clone().unwrap_or_default()).collect())
        }
        Some("object") => {
            let nothing = Map::new();
            let properties = schema.get("properties").and_then(Value::as_object).unwrap_or(&nothing);
            let all = properties
                .iter()
                .map(|(name, property)| (name.clone(), of_schema(scope, property, depth + 1)));
            Value::Object(all.collect())
        }
        _ => match schema.get("format").and_then(Value::as_str) {
            Some("date-time") => json!("2026-11-21T00:00:00Z"),
            Some("date") => json!("2026-11-21"),
            Some("uuid") => json!("1f0c6b7e-5f0e-4b8e-9a55-3d8f6f6b7c11"),
            _ => json!(
                "a".repeat(usize::try_from(number("minLength").unwrap_or(1).clamp(1, 1000)).unwrap_or(1))
            ),
        },
    }
}

/// Percent-encoded for a path or a query (RFC 3986, section 2.1).
pub(super) fn encoded(text: &str) -> String {
    let unreserved = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~".contains(&byte);
    text.bytes()
        .map(|byte| if unreserved(byte) { char::from(byte).to_string() } else { format!("%{byte:02X}") })
        .collect()
}
