//! The OpenAPI document of the code: dropshot's document of the operations, from the types of their functions, completed
//! with what dropshot omits. `cargo xtask check` compares it with the hand-written document.
//!
//! dropshot describes paths, parameters, request bodies and successful responses. The rest comes from the values that
//! the running service uses:
//!
//! | in the document | from |
//! | --- | --- |
//! | `servers` | [`BASE_PATH`], which the router strips from each path |
//! | security | [`SCHEME_NAME`]: the router authenticates each request |
//! | error statuses | the codes of the operation and of its inputs |
//! | headers of errors | [`ErrorCode::headers`] |
//! | headers of every response | [`response_headers`] |
//! | a parameter's `default` | `x-default`, because dropshot drops `default` |
//!
//! The formats of unsigned integers are removed: OpenAPI does not define them, and `minimum` says the same.

use std::collections::{BTreeMap, BTreeSet};

use dropshot::{ApiDescription, EndpointTagPolicy, TagConfig, TagDetails, semver};
use http::Method;
use serde_json::{Value, json};

use super::checks::{SCHEME, SCHEME_NAME, SCHEME_TYPE};
use super::error::ErrorCode;
use super::operation::{BASE_PATH, Operation};
use super::router::response_headers;

/// The error codes of an operation, which are not in dropshot's document, and its method, on which their headers depend.
type Codes = (Method, BTreeSet<ErrorCode>);

/// Returns the document of operations as JSON.
///
/// # Errors
/// One line, if an operation cannot be described.
pub fn describe(operations: Vec<Operation>) -> Result<Value, String> {
    let (document, codes) = by_dropshot(operations)?;
    completed(document, &codes)
}

/// Returns dropshot's document of operations, and their error codes by `operationId`.
fn by_dropshot(operations: Vec<Operation>) -> Result<(Value, BTreeMap<String, Codes>), String> {
    let tags = operations.iter().flat_map(|operation| operation.description.tags.iter().cloned());
    let mut api = ApiDescription::new().tag_config(TagConfig {
        allow_other_tags: false,
        policy: EndpointTagPolicy::AtLeastOne,
        tags: tags.map(|tag| (tag, TagDetails::default())).collect(),
    });
    let mut all = BTreeMap::new();
    for Operation { description, codes, .. } in operations {
        let codes = (description.method.clone(), codes.into_iter().collect());
        all.insert(description.operation_id.clone(), codes);
        api.register(description).map_err(|error| error.to_string())?;
    }
    // Only the written document has a version.
    let document = api.openapi("Animal Store", semver::Version::new(0, 0, 0)).json();
    Ok((document.map_err(|error| error.to_string())?, all))
}

/// Completes the document that dropshot generates.
fn completed(mut document: Value, codes: &BTreeMap<String, Codes>) -> Result<Value, String> {
    document["servers"] = json!([{ "url": BASE_PATH }]);
    remove_unsigned_formats(&mut document);
    let components = &mut document["components"];
    components["securitySchemes"] = json!({ SCHEME_NAME: { "type": SCHEME_TYPE, "scheme": SCHEME } });
    // The only one is that of errors. It is inlined, because its headers depend on the status and the operation.
    let shared = components.as_object_mut().and_then(|components| components.remove("responses"));
    let error = shared.as_ref().and_then(|shared| shared.as_object()?.values().next());
    let error = error.ok_or("dropshot's document has no error response")?;
    let items = document["paths"].as_object_mut().into_iter().flatten();
    for (_, operation) in items.filter_map(|(_, item)| item.as_object_mut()).flatten() {
        let id = operation["operationId"].as_str().unwrap_or("?").to_owned();
        let codes = codes.get(&id).ok_or_else(|| format!("{id} has no error codes"))?;
        complete(operation, codes, error);
    }
    Ok(document)
}

fn remove_unsigned_formats(value: &mut Value) {
    match value {
        Value::Object(members) => {
            let format = members.get("format").and_then(Value::as_str);
            if format.is_some_and(|format| format.starts_with("uint")) {
                members.remove("format");
            }
            members.values_mut().for_each(remove_unsigned_formats);
        }
        Value::Array(items) => items.iter_mut().for_each(remove_unsigned_formats),
        _ => {}
    }
}

fn complete(operation: &mut Value, codes: &Codes, error: &Value) {
    operation["security"] = json!([{ SCHEME_NAME: [] }]);
    let parameters = operation.get_mut("parameters").and_then(Value::as_array_mut).into_iter().flatten();
    for schema in parameters.filter_map(|parameter| parameter.get_mut("schema")?.as_object_mut()) {
        if let Some(default) = schema.remove("x-default") {
            schema.insert("default".to_owned(), default);
        }
    }
    let deprecated = operation["deprecated"].as_bool().unwrap_or_default();
    let mut responses = operation["responses"].as_object().cloned().unwrap_or_default();
    responses.retain(|status, _| !status.starts_with(['4', '5']));
    for (status, headers) in by_status(codes) {
        let mut response = error.clone();
        add_headers(&mut response, headers);
        responses.insert(status.to_string(), response);
    }
    for response in responses.values_mut() {
        add_headers(response, response_headers(deprecated).iter().map(|name| (*name, true)));
    }
    operation["responses"] = responses.into();
}

/// Returns the headers of each status, and whether every code of the status has them.
fn by_status((method, codes): &Codes) -> BTreeMap<u16, BTreeMap<&'static str, bool>> {
    let mut statuses: BTreeMap<u16, BTreeMap<_, _>> = BTreeMap::new();
    for code in codes {
        let headers = statuses.entry(code.status().as_u16()).or_default();
        for name in code.headers(method) {
            let mut same = codes.iter().filter(|other| other.status() == code.status());
            headers.insert(name, same.all(|other| other.headers(method).contains(&name)));
        }
    }
    statuses
}

/// Adds headers to a response, each with whether it is required. A header of the same name is replaced.
fn add_headers(response: &mut Value, headers: impl IntoIterator<Item = (&'static str, bool)>) {
    let mut all = response["headers"].as_object().cloned().unwrap_or_default();
    for (name, required) in headers {
        let schema = match name {
            "Retry-After" => json!({ "type": "integer", "minimum": 1 }),
            _ => json!({ "type": "string" }),
        };
        all.retain(|known, _| !known.eq_ignore_ascii_case(name));
        all.insert(name.to_owned(), json!({ "required": required, "schema": schema }));
    }
    response["headers"] = all.into();
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::operations;

    /// Returns the document of the operations without one code of one of them.
    fn without(operation: &str, code: ErrorCode) -> Value {
        let (document, mut codes) = by_dropshot(operations::all()).unwrap();
        codes.get_mut(operation).unwrap().1.retain(|other| *other != code);
        completed(document, &codes).unwrap()
    }

    fn operation<'a>(document: &'a Value, id: &str) -> &'a Value {
        let items = document["paths"].as_object().unwrap().values();
        let mut operations = items.flat_map(|item| item.as_object().unwrap().values());
        operations.find(|operation| operation["operationId"] == id).unwrap()
    }

    #[test]
    fn each_code_of_an_operation_is_a_status_with_its_headers() {
        let document = describe(operations::all()).unwrap();
        let mut tested = 0;
        for (id, (method, codes)) in by_dropshot(operations::all()).unwrap().1 {
            assert_eq!(operation(&document, &id)["security"], json!([{ SCHEME_NAME: [] }]));
            for code in &codes {
                let status = code.status();
                let responses = &operation(&document, &id)["responses"];
                for name in code.headers(&method) {
                    assert!(responses[status.as_str()]["headers"][name].is_object(), "{id} {code:?} {name}");
                }
                let is_shared = codes.iter().filter(|other| other.status() == status).count() > 1;
                let without = without(&id, *code);
                let rest = operation(&without, &id)["responses"].as_object().unwrap();
                assert_eq!(rest.contains_key(status.as_str()), is_shared, "{id} {code:?}");
                tested += 1;
            }
        }
        assert!(tested > 12, "{tested}");
    }

    #[test]
    fn defaults_servers_and_integers_are_those_of_openapi() {
        let document = describe(operations::all()).unwrap();
        assert_eq!(document["servers"], json!([{ "url": BASE_PATH }]));
        let parameters = operation(&document, "listPets")["parameters"].as_array().unwrap();
        let limit = parameters.iter().find(|parameter| parameter["name"] == "limit").unwrap();
        assert_eq!(limit["schema"]["default"], json!(20));
        assert!(!document.to_string().contains("uint"), "{document}");
    }
}
