//! The code's document: dropshot's document of the operations, completed with what dropshot omits.
//!
//! dropshot describes paths, parameters, request bodies and successful responses. The rest comes from the values that
//! the running service uses:
//!
//! | in the document | from |
//! | --- | --- |
//! | `servers` | [`BASE_PATH`], which the router strips from each path |
//! | security | [`SCHEME_NAME`]: the router authenticates each request |
//! | error statuses | the operation's error type and extractors, by [`openapi()`] |
//! | headers of errors | [`ErrorCode::headers`] |
//! | headers of every response | [`response_headers`] |
//! | a parameter's `default` | `x-default`, because dropshot drops `default` |
//!
//! The formats of unsigned integers are removed: OpenAPI does not define them, and `minimum` says the same.

use std::collections::BTreeMap;

use animal_store::http::{BASE_PATH, Codes, SCHEME, SCHEME_NAME, SCHEME_TYPE, openapi, response_headers};
use animal_store::operations;
use serde_json::{Map, Value, json};

/// Returns the OpenAPI document of the service as JSON.
///
/// # Errors
/// A message, if the code cannot be described by an OpenAPI document.
pub fn document() -> Result<Value, String> {
    let (document, codes) = openapi(operations::all())?;
    completed(document, &codes)
}

/// Completes the document that dropshot generates with the error codes of its operations.
///
/// # Errors
/// A message, if an operation has no error response.
pub fn completed(mut document: Value, codes: &BTreeMap<String, Codes>) -> Result<Value, String> {
    document["servers"] = json!([{ "url": BASE_PATH }]);
    remove_unsigned_formats(&mut document);
    let components = &mut document["components"];
    components["securitySchemes"] = json!({ SCHEME_NAME: { "type": SCHEME_TYPE, "scheme": SCHEME } });
    // Responses are inlined, because each operation gets its own.
    let shared = components.as_object_mut().and_then(|components| components.remove("responses"));
    let shared = json!({ "components": { "responses": shared.unwrap_or_default() } });
    let items = document["paths"].as_object_mut().into_iter().flatten();
    for (_, operation) in items.filter_map(|(_, item)| item.as_object_mut()).flatten() {
        let id = operation["operationId"].as_str().unwrap_or("?").to_owned();
        let codes = codes.get(&id).ok_or_else(|| format!("{id} has no error codes"))?;
        complete(operation, codes, &shared).map_err(|problem| format!("{id}: {problem}"))?;
    }
    Ok(document)
}

fn remove_unsigned_formats(value: &mut Value) {
    match value {
        Value::Object(members) => {
            let is_unsigned = members.get("format").is_some_and(|it| it.as_str().is_some_and(is_unsigned));
            if is_unsigned {
                members.remove("format");
            }
            members.values_mut().for_each(remove_unsigned_formats);
        }
        Value::Array(items) => items.iter_mut().for_each(remove_unsigned_formats),
        _ => {}
    }
}

fn is_unsigned(format: &str) -> bool {
    format.starts_with("uint")
}

fn complete(operation: &mut Value, codes: &Codes, shared: &Value) -> Result<(), String> {
    operation["security"] = json!([{ SCHEME_NAME: [] }]);
    let parameters = operation.get_mut("parameters").and_then(Value::as_array_mut).into_iter().flatten();
    for schema in parameters.filter_map(|parameter| parameter.get_mut("schema")?.as_object_mut()) {
        if let Some(default) = schema.remove("x-default") {
            schema.insert("default".to_owned(), default);
        }
    }
    let deprecated = operation["deprecated"].as_bool().unwrap_or_default();
    let mut responses = Map::new();
    for (status, response) in operation["responses"].as_object().into_iter().flatten() {
        responses.insert(status.clone(), resolved(response, shared)?);
    }
    let is_error = |status: &str| status.starts_with(['4', '5']);
    let error = responses.iter().find(|(status, _)| is_error(status)).map(|(_, error)| error.clone());
    let error = error.ok_or("dropshot's document has no error response")?;
    responses.retain(|status, _| !is_error(status));
    for (status, headers) in by_status(codes) {
        let mut response = error.clone();
        add_headers(&mut response, headers);
        responses.insert(status.to_string(), response);
    }
    for response in responses.values_mut() {
        add_headers(response, response_headers(deprecated).iter().map(|name| (*name, true)));
    }
    operation["responses"] = responses.into();
    Ok(())
}

/// Returns the headers of each status, and whether every code of the status has them.
fn by_status(Codes { method, codes }: &Codes) -> BTreeMap<u16, Vec<(&'static str, bool)>> {
    let mut statuses: BTreeMap<u16, Vec<_>> = BTreeMap::new();
    for code in codes {
        let status = code.status();
        let same = || codes.iter().filter(|code| code.status() == status);
        let headers = statuses.entry(status.as_u16()).or_default();
        for name in code.headers(method) {
            if headers.iter().all(|(known, _)| *known != name) {
                headers.push((name, same().all(|code| code.headers(method).contains(&name))));
            }
        }
    }
    statuses
}

/// Adds headers to a response, each with whether it is required. A header of the same name is replaced.
fn add_headers(response: &mut Value, headers: impl IntoIterator<Item = (&'static str, bool)>) {
    for (name, required) in headers {
        let schema = match name {
            "Retry-After" => json!({ "type": "integer", "minimum": 1 }),
            _ => json!({ "type": "string" }),
        };
        let mut headers = response["headers"].as_object().cloned().unwrap_or_default();
        headers.retain(|known, _| !known.eq_ignore_ascii_case(name));
        headers.insert(name.to_owned(), json!({ "required": required, "schema": schema }));
        response["headers"] = headers.into();
    }
}

fn resolved(response: &Value, shared: &Value) -> Result<Value, String> {
    let Some(reference) = response["$ref"].as_str() else { return Ok(response.clone()) };
    let target = reference.strip_prefix('#').and_then(|pointer| shared.pointer(pointer));
    target.cloned().ok_or(format!("dropshot's document has no {reference}"))
}
