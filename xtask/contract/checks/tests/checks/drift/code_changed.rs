//! Edits of the document of the code: each is reported at the place in the written document.

use checks::drift::compare;
use fixtures::LIBRARY;
use serde_json::{Value, json};

use super::document::{JSON, parsed};

/// Returns the rule and the line of each finding after setting the value at `pointer` of the code's document. `None`
/// removes the value.
fn changed(pointer: &str, value: Option<Value>) -> Vec<(String, String)> {
    let mut code = JSON.clone();
    let (owner, key) = pointer.rsplit_once('/').unwrap();
    let key = key.replace("~1", "/");
    let owner = code.pointer_mut(owner).unwrap_or_else(|| panic!("{owner} is not in the code's document"));
    match (owner, value) {
        (Value::Object(owner), Some(value)) => drop(owner.insert(key, value)),
        (Value::Object(owner), None) => assert!(owner.remove(&key).is_some(), "{pointer}"),
        (Value::Array(owner), Some(value)) => owner[key.parse::<usize>().unwrap()] = value,
        (Value::Array(owner), None) => drop(owner.remove(key.parse().unwrap())),
        (owner, _) => panic!("{owner} has nothing below it"),
    }
    let code = parsed(&code.to_string());
    let findings = compare(&parsed(LIBRARY), &code);
    assert!(findings.iter().all(|finding| finding.span.line > 0));
    let line = |line: usize| LIBRARY.lines().nth(line - 1).unwrap().trim().to_owned();
    findings.iter().map(|finding| (finding.rule.clone(), line(finding.span.line))).collect()
}

fn reported_once(pointer: &str, value: Option<Value>, rule: &str, line: &str) {
    let reported = changed(pointer, value);
    assert_eq!(reported, [(rule.to_owned(), line.to_owned())], "{pointer}");
}

const LIST: &str = "/paths/~1books/get";
const ADD: &str = "/paths/~1books/post";
const GET: &str = "/paths/~1books~1{bookId}/get";

#[test]
fn a_removed_security_requirement_is_reported() {
    reported_once(&format!("{LIST}/security"), Some(json!([])), "operation-security", "- apiKey: []");
    reported_once(&format!("{GET}/security"), None, "operation-security", "- apiKey: []");
}

#[test]
fn another_status_is_reported() {
    reported_once(&format!("{ADD}/responses/413"), None, "response-not-in-code", "'413':");
    let response = JSON.pointer(&format!("{ADD}/responses/413")).unwrap().clone();
    reported_once(&format!("{ADD}/responses/409"), Some(response), "response-not-in-document", "responses:");
}

#[test]
fn other_headers_are_reported() {
    let header = json!({"required": true, "schema": {"type": "string"}});
    reported_once(&format!("{GET}/responses/404/headers/Sunset"), None, "header-not-in-code", "Sunset:");
    reported_once(
        &format!("{ADD}/responses/201/headers/ETag"),
        Some(header),
        "header-not-in-document",
        "headers:",
    );
    reported_once(
        &format!("{LIST}/responses/200/headers/Link/required"),
        Some(json!(true)),
        "header-differs",
        "Link:",
    );
}

#[test]
fn other_parameters_and_bodies_are_reported() {
    let parameters = JSON.pointer(&format!("{LIST}/parameters")).unwrap().as_array().unwrap();
    let limit = parameters.iter().position(|parameter| parameter["name"] == "limit").unwrap();
    let limit = format!("{LIST}/parameters/{limit}");
    reported_once(&format!("{limit}/schema/maximum"), Some(json!(1000)), "schema-differs", "maximum: 100");
    reported_once(&format!("{limit}/schema/default"), None, "schema-differs", "default: 20");
    reported_once(&format!("{limit}/required"), Some(json!(true)), "parameter-differs", "- name: limit");
    reported_once(&format!("{limit}/x-new"), Some(json!(1)), "parameter-differs", "- name: limit");
    reported_once(&limit, None, "parameter-not-in-code", "- name: limit");
    reported_once(&format!("{ADD}/requestBody"), None, "request-body-not-in-code", "requestBody:");
    let body = json!({"content": {}});
    reported_once(&format!("{GET}/requestBody"), Some(body), "request-body-not-in-document", "get:");
}

#[test]
fn other_operations_are_reported() {
    reported_once(ADD, None, "operation-not-in-code", "post:");
    reported_once(
        &format!("{ADD}/operationId"),
        Some(json!("addBook")),
        "operation-differs",
        "operationId: createBook",
    );
    reported_once(&format!("{GET}/deprecated"), None, "operation-differs", "deprecated: true");
    reported_once("/paths/~1books~1{bookId}", None, "path-not-in-code", "/books/{bookId}:");
    reported_once("/paths/~1keys", Some(json!({})), "path-not-in-document", "paths:");
    reported_once(
        &format!("{ADD}/tags"),
        Some(json!(["books", "new"])),
        "operation-differs",
        "tags: [books]",
    );
}

#[test]
fn other_schemas_are_reported() {
    let schema = "/components/schemas";
    reported_once(&format!("{schema}/Book/properties/id/format"), None, "schema-differs", "format: int64");
    reported_once(
        &format!("{schema}/Book/properties/name/maxLength"),
        Some(json!(9)),
        "schema-differs",
        "maxLength: 255",
    );
    reported_once(
        &format!("{schema}/Book/required"),
        Some(json!(["id", "name"])),
        "schema-differs",
        "required: [id, name, shelfId]",
    );
    reported_once(
        &format!("{schema}/Book/properties/age"),
        Some(json!({})),
        "property-not-in-document",
        "properties:",
    );
    reported_once(
        &format!("{schema}/NewBook/additionalProperties"),
        None,
        "schema-differs",
        "additionalProperties: false",
    );
    reported_once(&format!("{schema}/NewBook/frobnicate"), Some(json!(1)), "schema-differs", "NewBook:");
    reported_once(
        &format!("{schema}/BookStatus/enum/0"),
        Some(json!("free")),
        "schema-differs",
        "enum: [available, pending, sold]",
    );
    reported_once(
        &format!("{schema}/Spare"),
        Some(json!({"type": "string"})),
        "schema-not-in-document",
        "schemas:",
    );
    reported_once(
        &format!("{schema}/Books/items"),
        Some(json!({"type": "string"})),
        "schema-reference",
        "$ref: '#/components/schemas/Book'",
    );
}

#[test]
fn another_base_path_or_scheme_is_reported() {
    reported_once("/openapi", Some(json!("3.0.2")), "document-differs", "openapi: 3.0.3");
    reported_once(
        "/components/securitySchemes/apiKey/scheme",
        Some(json!("basic")),
        "security-scheme-differs",
        "scheme: bearer",
    );
    let reported = changed("/servers/0/url", Some(json!("/v2")));
    assert_eq!(
        reported.iter().map(|(rule, _)| rule.as_str()).collect::<Vec<_>>(),
        ["server-url", "server-url"]
    );
}

#[test]
fn prose_in_the_code_is_not_compared() {
    assert_eq!(changed("/components/schemas/Book/description", Some(json!("other"))), []);
    assert_eq!(changed(&format!("{ADD}/summary"), Some(json!("other"))), []);
}
