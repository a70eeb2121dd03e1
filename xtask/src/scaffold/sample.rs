//! Derives a valid request from the document, for the test of an operation.

use document::openapi::{Object, Operation, Schema};
use fluent_uri::pct_enc::EString;
use fluent_uri::pct_enc::encoder::{Data, Query};
use serde_json::{Value, json};

use super::newtype::number;
use super::types::only_member;

/// The maximum nesting of a derived value.
const MAX_DEPTH: usize = 8;

/// A request: target and body.
pub(super) struct Request {
    pub(super) target: String,
    pub(super) body: Option<Value>,
}

/// Returns a request from the examples of the document, or with values derived from its schemas.
///
/// # Errors
/// The parameter or body for which no value can be derived, with the reason.
pub(super) fn request(operation: Operation<'_>) -> Result<Request, String> {
    let mut target = operation.path().to_owned();
    let mut separator = '?';
    for parameter in operation.parameters() {
        let Some(schema) = parameter.schema().filter(|_| parameter.is_required()) else { continue };
        let value = of_example(*parameter, schema)
            .map_err(|reason| format!("parameter `{}`: {reason}", parameter.name()))?;
        let text = encoded(&value.as_str().map_or_else(|| value.to_string(), str::to_owned));
        if parameter.location() == "path" {
            target = target.replace(&format!("{{{}}}", parameter.name()), &text);
        } else {
            target.push_str(&format!("{separator}{}={text}", encoded(parameter.name())));
            separator = '&';
        }
    }
    let media = operation.request_body().and_then(|body| body.content().next());
    let body = media.and_then(|media| Some(of_example(*media, media.schema()?)));
    let body = body.transpose().map_err(|reason| format!("request body: {reason}"))?;
    Ok(Request { target, body })
}

/// Returns the example of a parameter or a media type, or a value derived from its schema.
fn of_example(object: Object<'_>, schema: Schema<'_>) -> Result<Value, String> {
    let named = object.resolved_children("examples").find_map(|example| example.get("value"));
    match object.get("example").or(named) {
        Some(example) => Ok(example.to_json()),
        None => of_schema(schema, 0),
    }
}

fn of_schema(schema: Schema<'_>, depth: usize) -> Result<Value, String> {
    let Some(schema) = only_member(schema).resolved().map(only_member) else { return Ok(Value::Null) };
    let first = schema.get("enum").and_then(|values| values.items().first());
    if let Some(given) = schema.get("example").or(schema.get("default")).or(first) {
        return Ok(given.to_json());
    }
    if depth == MAX_DEPTH {
        return Err("the schema is nested too deeply".to_owned());
    }
    match schema.type_name() {
        Some("boolean") => Ok(json!(true)),
        Some("integer" | "number") => Ok(of_number(schema)),
        Some("array") => {
            let least = schema.get("minItems").and_then(number).unwrap_or_default().min(100.0) as usize;
            let item = schema.items().filter(|_| least > 0).map(|items| of_schema(items, depth + 1));
            Ok(item.transpose()?.map(|item| vec![item; least]).unwrap_or_default().into())
        }
        Some("object") => {
            let required: Vec<&str> = schema.required().collect();
            let needed = schema.properties().filter(|(name, _)| required.contains(name));
            needed.map(|(name, property)| Ok((name.to_owned(), of_schema(property, depth + 1)?))).collect()
        }
        _ => of_text(schema),
    }
}

fn of_number(schema: Schema<'_>) -> Value {
    let bound = |key| schema.get(key).and_then(number);
    let value = bound("minimum").or(bound("maximum")).unwrap_or(1.0);
    if schema.type_name() == Some("integer") { json!(value as i64) } else { json!(value) }
}

fn of_text(schema: Schema<'_>) -> Result<Value, String> {
    let length = |key: &str| schema.get(key).and_then(number);
    if schema.has("pattern") {
        return Err("no text can be derived from its `pattern`".to_owned());
    }
    Ok(match schema.format() {
        Some("date-time") => json!("2026-11-21T00:00:00Z"),
        Some("date") => json!("2026-11-21"),
        Some("uuid") => json!("1f0c6b7e-5f0e-4b8e-9a55-3d8f6f6b7c11"),
        Some("email") => json!("someone@example.com"),
        Some("uri") => json!("https://example.com/"),
        None | Some("password" | "byte" | "binary") => {
            let most = length("maxLength").unwrap_or(1.0).min(4.0);
            json!("a".repeat(length("minLength").unwrap_or(most).min(1000.0) as usize))
        }
        Some(format) => return Err(format!("no text can be derived from `format: {format}`")),
    })
}

/// Percent-encodes text for a path or a query (RFC 3986, section 2.1).
fn encoded(text: &str) -> String {
    let mut encoded = EString::<Query>::new();
    encoded.encode_str::<Data>(text);
    encoded.into_string()
}
