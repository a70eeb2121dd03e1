//! The order in which a person wrote the properties of a schema.
//!
//! serde_json sorts keys, so the order is kept beside them, under a key that means nothing to OpenAPI.

use contract::document::Node;
use serde_json::{Map, Value};

const KEY: &str = "x-order-of-properties";

/// A document as JSON, with the order of its properties.
pub(super) fn keep(node: &Node) -> Value {
    if !node.items().is_empty() {
        return Value::Array(node.items().iter().map(keep).collect());
    }
    if node.entries().is_empty() {
        return node.to_json();
    }
    let mut object: Map<String, Value> =
        node.entries().iter().map(|entry| (entry.key.clone(), keep(&entry.value))).collect();
    if let Some(properties) = node.get("properties") {
        let names = properties.entries().iter().map(|entry| Value::from(entry.key.as_str()));
        object.insert(KEY.to_owned(), names.collect());
    }
    Value::Object(object)
}

/// The properties of a schema, in the order of the document.
pub(super) fn of(schema: &Value) -> Vec<&str> {
    let properties = schema.get("properties").and_then(Value::as_object);
    let is_property = |name: &&str| properties.is_some_and(|properties| properties.contains_key(*name));
    let kept = schema.get(KEY).and_then(Value::as_array);
    kept.into_iter().flatten().filter_map(Value::as_str).filter(is_property).collect()
}
