//! What the code says: the document that dropshot makes of the operations, and what it cannot say.
//!
//! dropshot knows paths, parameters, bodies and successes. Security, the statuses of errors, their headers
//! and the base path it has no words for, so they are lifted from the very values that enforce them:
//!
//! | in the document | from |
//! | --- | --- |
//! | `servers` | [`operations::BASE_PATH`], which the edge strips |
//! | security and error statuses | the codes that a `Call` leaves in a parameter named `Authorization` |
//! | headers of errors | [`Code::headers`] |
//! | headers of every answer | [`edge::headers`] |
//! | a parameter's `default` | `x-default`, since dropshot drops the other |
//!
//! An operation that does not take a `Call` leaves nothing, and has no security here.

use animal_store::edge;
use animal_store::keys::{SCHEME, SCHEME_NAME, SCHEME_TYPE};
use animal_store::operations;
use animal_store::responses::{Code, HeaderField, HeaderSchema};
use openapiv3::{
    Components, Header, OpenAPI, Operation, Parameter, ParameterData, ParameterSchemaOrContent, PathItem,
    ReferenceOr, Response, SecurityRequirement, Server, StatusCode,
};
use serde_json::{Value, json};

/// The header parameter that OpenAPI says to ignore (3.0.3, Parameter Object).
const CARRIER: &str = "Authorization";

/// dropshot requires a version. The code has none: it is written in the document alone and not compared.
const NO_VERSION: &str = "0.0.0";

/// The document that the code stands for, as JSON.
///
/// # Errors
/// A sentence, when the code says something that no document can hold.
pub fn document() -> Result<Value, String> {
    completed(by_dropshot()?)
}

/// The document that dropshot makes of the operations.
///
/// # Errors
/// A sentence, when it can make none.
pub fn by_dropshot() -> Result<Value, String> {
    let api = operations::api().map_err(|error| format!("two operations clash: {error}"))?;
    let version = NO_VERSION.parse().map_err(|error| format!("{NO_VERSION} is not a version: {error}"))?;
    api.openapi("Animal Store", version).json().map_err(|error| error.to_string())
}

/// dropshot's document with what it cannot say.
///
/// # Errors
/// A sentence, when what the code left in it for us makes no sense.
pub fn completed(by_dropshot: Value) -> Result<Value, String> {
    let document = serde_json::from_value(by_dropshot).map_err(|error| error.to_string())?;
    serde_json::to_value(complete(document)?).map_err(|error| error.to_string())
}

fn complete(mut document: OpenAPI) -> Result<OpenAPI, String> {
    document.servers = vec![Server { url: operations::BASE_PATH.to_owned(), ..Server::default() }];
    let mut components = document.components.take().unwrap_or_default();
    let scheme = serde_json::from_value(json!({ "type": SCHEME_TYPE, "scheme": SCHEME }));
    let scheme = scheme.map_err(|error| format!("the security scheme is none: {error}"))?;
    components.security_schemes.insert(SCHEME_NAME.to_owned(), ReferenceOr::Item(scheme));
    for item in document.paths.paths.values_mut() {
        let ReferenceOr::Item(item) = item else { continue };
        for operation in operations_of(item) {
            complete_operation(operation, &components).map_err(|problem| {
                format!("{}: {problem}", operation.operation_id.as_deref().unwrap_or("?"))
            })?;
        }
    }
    components.responses.clear();
    document.components = Some(components);
    Ok(document)
}

fn operations_of(item: &mut PathItem) -> impl Iterator<Item = &mut Operation> {
    let PathItem { get, put, post, delete, options, head, patch, trace, .. } = item;
    [get, put, post, delete, options, head, patch, trace].into_iter().flatten()
}

fn complete_operation(operation: &mut Operation, components: &Components) -> Result<(), String> {
    for parameter in &mut operation.parameters {
        let ReferenceOr::Item(parameter) = parameter else { continue };
        if let ParameterSchemaOrContent::Schema(ReferenceOr::Item(schema)) = &mut data_of(parameter).format
            && let Some(default) = schema.schema_data.extensions.shift_remove("x-default")
        {
            schema.schema_data.default = Some(default);
        }
    }
    let codes = take_codes(operation)?;
    let errors: Vec<StatusCode> =
        operation.responses.responses.keys().filter(|s| is_error(s)).cloned().collect();
    let mut error = None;
    for status in errors {
        if let Some(response) = operation.responses.responses.shift_remove(&status) {
            let response = resolve(response, components)?;
            if codes.is_none() {
                operation.responses.responses.insert(status, ReferenceOr::Item(response.clone()));
            }
            error = Some(response);
        }
    }
    if let Some(codes) = codes {
        let requirement: SecurityRequirement = [(SCHEME_NAME.to_owned(), Vec::new())].into_iter().collect();
        operation.security = Some(vec![requirement]);
        let error = error.ok_or("dropshot's document says nothing of its errors")?;
        for (status, headers) in by_status(&codes) {
            let mut response = error.clone();
            add_headers(&mut response, &headers)?;
            operation.responses.responses.insert(StatusCode::Code(status), ReferenceOr::Item(response));
        }
    } else {
        operation.security = Some(Vec::new());
    }
    let everywhere = edge::headers(operation.deprecated);
    for response in operation.responses.responses.values_mut() {
        if let ReferenceOr::Item(response) = response {
            add_headers(response, &everywhere)?;
        }
    }
    Ok(())
}

fn data_of(parameter: &mut Parameter) -> &mut ParameterData {
    match parameter {
        Parameter::Query { parameter_data, .. }
        | Parameter::Header { parameter_data, .. }
        | Parameter::Path { parameter_data, .. }
        | Parameter::Cookie { parameter_data, .. } => parameter_data,
    }
}

fn is_error(status: &StatusCode) -> bool {
    matches!(status, StatusCode::Code(400..) | StatusCode::Range(4..))
}

/// The codes that the operation's `Call` declares; `None` without one.
fn take_codes(operation: &mut Operation) -> Result<Option<Vec<Code>>, String> {
    let carrier = operation.parameters.iter().position(|parameter| {
        matches!(parameter, ReferenceOr::Item(Parameter::Header { parameter_data, .. })
            if parameter_data.name == CARRIER)
    });
    let Some(carrier) = carrier else { return Ok(None) };
    let ReferenceOr::Item(carrier) = operation.parameters.remove(carrier) else { return Ok(None) };
    let ParameterSchemaOrContent::Schema(ReferenceOr::Item(schema)) = carrier.parameter_data().format else {
        return Err(format!("the parameter {CARRIER} has no schema of its own"));
    };
    let words = schema.schema_data.extensions.get("x-codes").and_then(Value::as_array);
    let words = words.ok_or(format!("the parameter {CARRIER} declares no x-codes"))?;
    let code = |word: &Value| {
        let code = word.as_str().and_then(Code::from_word);
        code.ok_or(format!("{word} is no code that the service has"))
    };
    words.iter().map(code).collect::<Result<_, _>>().map(Some)
}

/// One entry for each status, with its headers: one that not every code of the status has is optional.
fn by_status(codes: &[Code]) -> Vec<(u16, Vec<HeaderField>)> {
    let mut statuses: Vec<u16> = codes.iter().map(|code| code.status().as_u16()).collect();
    statuses.sort_unstable();
    statuses.dedup();
    let entry = |status: u16| {
        let codes: Vec<_> = codes.iter().filter(|code| code.status().as_u16() == status).collect();
        let mut headers: Vec<HeaderField> = Vec::new();
        for field in codes.iter().flat_map(|code| code.headers()) {
            if headers.iter().any(|known| known.name == field.name) {
                continue;
            }
            let always = codes.iter().all(|code| code.headers().iter().any(|other| other.name == field.name));
            headers.push(HeaderField { required: field.required && always, ..*field });
        }
        (status, headers)
    };
    statuses.into_iter().map(entry).collect()
}

/// What is added replaces a header of the same name, as it does on the wire.
fn add_headers(response: &mut Response, fields: &[HeaderField]) -> Result<(), String> {
    for field in fields {
        response.headers.retain(|name, _| !name.eq_ignore_ascii_case(field.name));
        response.headers.insert(field.name.to_owned(), ReferenceOr::Item(header(field)?));
    }
    Ok(())
}

fn header(field: &HeaderField) -> Result<Header, String> {
    let schema = match field.schema {
        HeaderSchema::String => json!({ "type": "string" }),
        HeaderSchema::Integer { minimum } => json!({ "type": "integer", "minimum": minimum }),
    };
    let header = json!({ "required": field.required, "schema": schema });
    serde_json::from_value(header).map_err(|error| format!("the header {} has no form: {error}", field.name))
}

fn resolve(response: ReferenceOr<Response>, components: &Components) -> Result<Response, String> {
    let reference = match response {
        ReferenceOr::Item(response) => return Ok(response),
        ReferenceOr::Reference { reference } => reference,
    };
    let name = reference.strip_prefix("#/components/responses/");
    let response = name.and_then(|name| components.responses.get(name)?.as_item());
    response.cloned().ok_or(format!("dropshot's document refers to {reference} and lacks it"))
}
