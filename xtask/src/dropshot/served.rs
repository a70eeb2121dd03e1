//! The code's document: dropshot's document of the operations, completed with what dropshot omits.
//!
//! dropshot describes paths, parameters, request bodies and successful responses. The rest comes from the values that
//! the running service uses:
//!
//! | in the document | from |
//! | --- | --- |
//! | `servers` | [`BASE_PATH`], which the router strips from each path |
//! | security, error statuses | the operation's context, error type and extractors, by [`openapi`](animal_store::http::endpoint::ApiDescription::openapi) |
//! | headers of errors | [`ErrorCode::headers`] |
//! | headers of every response | [`router::headers`] |
//! | a parameter's `default` | `x-default`, because dropshot drops `default` |

use std::collections::BTreeMap;

use animal_store::http::authentication::{SCHEME, SCHEME_NAME, SCHEME_TYPE};
use animal_store::http::endpoint::CODES_KEYWORD;
use animal_store::http::error_code::{ErrorCode, HeaderField, HeaderSchema};
use animal_store::http::{BASE_PATH, router};
use animal_store::operations;
use semver::Version;
use serde_json::{Map, Value, json};

/// Returns the OpenAPI document of the service as JSON.
///
/// # Errors
/// A message, if the code cannot be described by an OpenAPI document.
pub fn document() -> Result<Value, String> {
    let api = operations::api().map_err(|error| format!("two operations conflict: {error}"))?;
    // Only the written document has a version.
    let document = api.openapi("Animal Store", Version::new(0, 0, 0));
    completed(document.map_err(|error| error.to_string())?)
}

/// Completes the document that dropshot generates.
///
/// # Errors
/// A message, if it contains error codes that the service does not have.
pub fn completed(mut document: Value) -> Result<Value, String> {
    document["servers"] = json!([{ "url": BASE_PATH }]);
    let components = &mut document["components"];
    components["securitySchemes"] = json!({ SCHEME_NAME: { "type": SCHEME_TYPE, "scheme": SCHEME } });
    // Responses are inlined, because each operation gets its own.
    let shared = components.as_object_mut().and_then(|components| components.remove("responses"));
    let shared = json!({ "components": { "responses": shared.unwrap_or_default() } });
    let items = document["paths"].as_object_mut().into_iter().flatten();
    for (_, operation) in items.filter_map(|(_, item)| item.as_object_mut()).flatten() {
        let id = operation["operationId"].as_str().unwrap_or("?").to_owned();
        complete(operation, &shared).map_err(|problem| format!("{id}: {problem}"))?;
    }
    Ok(document)
}

fn complete(operation: &mut Value, shared: &Value) -> Result<(), String> {
    let codes = take_codes(operation)?;
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
    for (status, headers) in by_status(&codes) {
        let mut response = error.clone();
        add_headers(&mut response, &headers);
        responses.insert(status.to_string(), response);
    }
    for response in responses.values_mut() {
        add_headers(response, &router::headers(deprecated));
    }
    operation["responses"] = responses.into();
    Ok(())
}

/// Removes the error codes of an operation, and returns them.
fn take_codes(operation: &mut Value) -> Result<Vec<ErrorCode>, String> {
    let words = operation.as_object_mut().and_then(|operation| operation.remove(CODES_KEYWORD));
    let words = words.ok_or(format!("it has no {CODES_KEYWORD}"))?;
    let code = |word: &Value| {
        let code = word.as_str().and_then(ErrorCode::from_word);
        code.ok_or(format!("{word} is not a code of the service"))
    };
    words.as_array().into_iter().flatten().map(code).collect()
}

/// Returns the headers of each status. A header that not every code of the status has is optional.
fn by_status(codes: &[ErrorCode]) -> BTreeMap<u16, Vec<HeaderField>> {
    let mut statuses: BTreeMap<u16, Vec<HeaderField>> = BTreeMap::new();
    for code in codes {
        let status = code.status();
        let same = || codes.iter().filter(|code| code.status() == status);
        let headers = statuses.entry(status.as_u16()).or_default();
        for field in code.headers() {
            let always = same().all(|code| code.headers().iter().any(|other| other.name == field.name));
            if headers.iter().all(|known| known.name != field.name) {
                headers.push(HeaderField { required: field.required && always, ..*field });
            }
        }
    }
    statuses
}

/// Adds headers to a response. A header of the same name is replaced.
fn add_headers(response: &mut Value, fields: &[HeaderField]) {
    for field in fields {
        let schema = match field.schema {
            HeaderSchema::String => json!({ "type": "string" }),
            HeaderSchema::Integer { minimum } => json!({ "type": "integer", "minimum": minimum }),
        };
        let mut headers = response["headers"].as_object().cloned().unwrap_or_default();
        headers.retain(|name, _| !name.eq_ignore_ascii_case(field.name));
        headers.insert(field.name.to_owned(), json!({ "required": field.required, "schema": schema }));
        response["headers"] = headers.into();
    }
}

fn resolved(response: &Value, shared: &Value) -> Result<Value, String> {
    let Some(reference) = response["$ref"].as_str() else { return Ok(response.clone()) };
    let target = reference.strip_prefix('#').and_then(|pointer| shared.pointer(pointer));
    target.cloned().ok_or(format!("dropshot's document has no {reference}"))
}
