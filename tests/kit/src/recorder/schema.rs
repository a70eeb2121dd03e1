//! Builds JSON Schema validators from schemas of the document.
//!
//! OpenAPI 3.0 schemas are based on JSON Schema draft Wright-00. They are converted to draft 4, where `nullable` and the
//! integer formats are expressed by other keywords. In one point the result is stricter than the document: a response
//! object may only have listed properties, because an undocumented property is not part of the contract.

use jsonschema::{Draft, Validator};
use serde_json::{Map, Value, json};

/// Returns a validator for `schema`, which may refer to `components`.
pub(super) fn validator(schema: &Value, components: &Value, closed: bool) -> Validator {
    let convert = |schema: &Value| converted(schema, closed);
    let schemas: Map<_, _> = components["schemas"]
        .as_object()
        .map(|schemas| schemas.iter().map(|(name, schema)| (name.clone(), convert(schema))).collect())
        .unwrap_or_default();
    let root = json!({ "allOf": [convert(schema)], "components": { "schemas": schemas } });
    jsonschema::options()
        .with_draft(Draft::Draft4)
        .build(&root)
        .unwrap_or_else(|error| panic!("the schema {schema} is invalid: {error}"))
}

/// Returns the violations of a schema by `value`.
pub(super) fn problems(validator: &Validator, value: &Value) -> Vec<String> {
    validator.iter_errors(value).map(|error| format!("{error} at \"{}\"", error.instance_path())).collect()
}

fn converted(schema: &Value, closed: bool) -> Value {
    let Value::Object(keywords) = schema else { return schema.clone() };
    let mut made: Map<String, Value> = keywords
        .iter()
        .map(|(keyword, value)| {
            let value = match keyword.as_str() {
                "properties" => each(value, closed),
                "items" | "additionalProperties" | "not" => converted(value, closed),
                "allOf" | "oneOf" | "anyOf" => all(value, closed),
                _ => value.clone(),
            };
            (keyword.clone(), value)
        })
        .collect();
    let integer = |bound: i64| json!(bound);
    let bounds = match keywords.get("format").and_then(Value::as_str) {
        Some("int32") => Some((integer(i32::MIN.into()), integer(i32::MAX.into()))),
        Some("int64") => Some((integer(i64::MIN), integer(i64::MAX))),
        _ => None,
    };
    if let Some((minimum, maximum)) = bounds {
        made.entry("minimum").or_insert(minimum);
        made.entry("maximum").or_insert(maximum);
    }
    if keywords.get("nullable") == Some(&Value::Bool(true))
        && let Some(kind) = keywords.get("type")
    {
        made.insert("type".to_owned(), json!([kind, "null"]));
    }
    if closed && keywords.contains_key("properties") && !keywords.contains_key("additionalProperties") {
        made.insert("additionalProperties".to_owned(), Value::Bool(false));
    }
    Value::Object(made)
}

fn each(schemas: &Value, closed: bool) -> Value {
    let Value::Object(schemas) = schemas else { return schemas.clone() };
    schemas.iter().map(|(name, schema)| (name.clone(), converted(schema, closed))).collect()
}

fn all(schemas: &Value, closed: bool) -> Value {
    let Value::Array(schemas) = schemas else { return schemas.clone() };
    schemas.iter().map(|schema| converted(schema, closed)).collect()
}
