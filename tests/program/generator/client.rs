//! Generates the typed client of the tests with progenitor, and names the parts of a document that progenitor cannot process.

use std::panic;

use progenitor::{GenerationSettings, Generator, InterfaceStyle};
use serde_json::{Value, json};

/// Returns the code of a client for a document in JSON, or a message that names the operations and schemas which
/// progenitor cannot process.
pub(crate) fn client(json: &str) -> Result<String, String> {
    let document: Value = serde_json::from_str(json).map_err(|error| error.to_string())?;
    generated(&document).map_err(|reason| {
        let culprits = culprits(&document);
        let parts =
            if culprits.is_empty() { "the document as a whole".to_owned() } else { culprits.join(", ") };
        format!("progenitor cannot generate a client for {parts}: {reason}; openapi/README.md has its limits")
    })
}

/// Returns the code of a client. progenitor panics on some documents.
fn generated(document: &Value) -> Result<String, String> {
    let document: openapiv3::OpenAPI =
        serde_json::from_value(document.clone()).map_err(|error| error.to_string())?;
    let result = panic::catch_unwind(|| {
        let mut settings = GenerationSettings::new();
        settings.with_interface(InterfaceStyle::Builder);
        Generator::new(&settings).generate_tokens(&document).map_err(|error| error.to_string())
    });
    match result {
        Ok(tokens) => Ok(tokens?.to_string()),
        Err(panic) => {
            let text = panic.downcast_ref::<String>().map(String::as_str);
            Err(text
                .or_else(|| panic.downcast_ref::<&str>().copied())
                .unwrap_or("no reason given")
                .to_owned())
        }
    }
}

const METHODS: [&str; 8] = ["get", "put", "post", "delete", "options", "head", "patch", "trace"];

/// Returns the schemas that progenitor cannot process where all others are `{}`, or else the operations that it cannot
/// process alone.
fn culprits(document: &Value) -> Vec<String> {
    let fails = |document: &Value| generated(document).is_err();
    let mut bare = document.clone();
    bare["paths"] = json!({});
    let schemas = document.pointer("/components/schemas").and_then(Value::as_object);
    for (name, _) in schemas.into_iter().flatten() {
        bare["components"]["schemas"][name] = json!({});
    }
    if fails(&bare) {
        return Vec::new();
    }
    let mut found = Vec::new();
    for (name, schema) in schemas.into_iter().flatten() {
        let mut one = bare.clone();
        one["components"]["schemas"][name] = schema.clone();
        if fails(&one) {
            found.push(format!("schema `{name}`"));
        }
    }
    let items = document["paths"].as_object().filter(|_| found.is_empty());
    for (path, item) in items.into_iter().flatten() {
        for method in METHODS.into_iter().filter(|method| item.get(method).is_some()) {
            let mut one = document.clone();
            one["paths"] = json!({ path: { method: item[method] } });
            if let Some(parameters) = item.get("parameters") {
                one["paths"][path]["parameters"] = parameters.clone();
            }
            if fails(&one) {
                found.push(format!("`{} {path}`", method.to_ascii_uppercase()));
            }
        }
    }
    found
}
