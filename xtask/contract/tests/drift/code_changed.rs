//! The code changed and the document did not.

use contract::drift::{Help, compare};
use serde_json::{Value, json};

use crate::document::{JSON, TEXT, parsed};

/// The rule and the line of each finding when the value at `pointer` of the code's document becomes `value`; `None` removes it.
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
    let findings = compare(&parsed(TEXT), &code, Help::default());
    assert!(findings.iter().all(|finding| finding.span.line > 0));
    let line = |line: usize| TEXT.lines().nth(line - 1).unwrap().trim().to_owned();
    findings.iter().map(|finding| (finding.rule.clone(), line(finding.span.line))).collect()
}

fn told_once(pointer: &str, value: Option<Value>, rule: &str, line: &str) {
    let told = changed(pointer, value);
    assert_eq!(told, [(rule.to_owned(), line.to_owned())], "{pointer}");
}

const LIST: &str = "/paths/~1books/get";
const ADD: &str = "/paths/~1books/post";
const GET: &str = "/paths/~1books~1{bookId}/get";

#[test]
fn dropping_the_key_check_is_seen() {
    told_once(&format!("{LIST}/security"), Some(json!([])), "operation-security", "- apiKey: []");
    told_once(&format!("{GET}/security"), None, "operation-security", "- apiKey: []");
}

#[test]
fn answering_another_status_is_seen() {
    told_once(&format!("{ADD}/responses/413"), None, "response-not-in-code", "'413':");
    let response = JSON.pointer(&format!("{ADD}/responses/413")).unwrap().clone();
    told_once(&format!("{ADD}/responses/409"), Some(response), "response-not-in-document", "responses:");
}

#[test]
fn other_headers_are_seen() {
    let header = json!({"required": true, "schema": {"type": "string"}});
    told_once(&format!("{GET}/responses/404/headers/Sunset"), None, "header-not-in-code", "Sunset:");
    told_once(
        &format!("{ADD}/responses/201/headers/ETag"),
        Some(header),
        "header-not-in-document",
        "headers:",
    );
    told_once(
        &format!("{LIST}/responses/200/headers/Link/required"),
        Some(json!(true)),
        "header-differs",
        "Link:",
    );
}

#[test]
fn other_parameters_and_bodies_are_seen() {
    let parameters = JSON.pointer(&format!("{LIST}/parameters")).unwrap().as_array().unwrap();
    let limit = parameters.iter().position(|parameter| parameter["name"] == "limit").unwrap();
    let limit = format!("{LIST}/parameters/{limit}");
    told_once(&format!("{limit}/schema/maximum"), Some(json!(1000)), "schema-differs", "maximum: 100");
    told_once(&format!("{limit}/schema/default"), None, "schema-differs", "default: 20");
    told_once(&format!("{limit}/required"), Some(json!(true)), "parameter-differs", "- name: limit");
    told_once(&format!("{limit}/x-new"), Some(json!(1)), "parameter-differs", "- name: limit");
    told_once(&limit, None, "parameter-not-in-code", "- name: limit");
    told_once(&format!("{ADD}/requestBody"), None, "request-body-not-in-code", "requestBody:");
    let body = json!({"content": {}});
    told_once(&format!("{GET}/requestBody"), Some(body), "request-body-not-in-document", "get:");
}

#[test]
fn other_operations_are_seen() {
    told_once(ADD, None, "operation-not-in-code", "post:");
    told_once(
        &format!("{ADD}/operationId"),
        Some(json!("addBook")),
        "operation-differs",
        "operationId: createBook",
    );
    told_once(&format!("{GET}/deprecated"), None, "operation-differs", "deprecated: true");
    told_once("/paths/~1books~1{bookId}", None, "path-not-in-code", "/books/{bookId}:");
    told_once("/paths/~1keys", Some(json!({})), "path-not-in-document", "paths:");
    told_once(&format!("{ADD}/tags"), Some(json!(["books", "new"])), "operation-differs", "tags: [books]");
}

#[test]
fn other_schemas_are_seen() {
    let schema = "/components/schemas";
    told_once(&format!("{schema}/Book/properties/id/format"), None, "schema-differs", "format: int64");
    told_once(
        &format!("{schema}/Book/properties/name/maxLength"),
        Some(json!(9)),
        "schema-differs",
        "maxLength: 255",
    );
    told_once(
        &format!("{schema}/Book/required"),
        Some(json!(["id", "name"])),
        "schema-differs",
        "required: [id, name, shelfId]",
    );
    told_once(
        &format!("{schema}/Book/properties/age"),
        Some(json!({})),
        "property-not-in-document",
        "properties:",
    );
    told_once(
        &format!("{schema}/NewBook/additionalProperties"),
        None,
        "schema-differs",
        "additionalProperties: false",
    );
    told_once(&format!("{schema}/NewBook/frobnicate"), Some(json!(1)), "unknown-keyword", "NewBook:");
    told_once(
        &format!("{schema}/BookStatus/enum/0"),
        Some(json!("free")),
        "schema-differs",
        "enum: [available, pending, sold]",
    );
    told_once(
        &format!("{schema}/Spare"),
        Some(json!({"type": "string"})),
        "schema-not-in-document",
        "schemas:",
    );
    told_once(
        &format!("{schema}/Books/items"),
        Some(json!({"type": "string"})),
        "schema-reference",
        "$ref: '#/components/schemas/Book'",
    );
}

#[test]
fn another_base_path_or_scheme_is_seen() {
    told_once("/openapi", Some(json!("3.0.2")), "document-differs", "openapi: 3.0.3");
    told_once(
        "/components/securitySchemes/apiKey/scheme",
        Some(json!("basic")),
        "security-scheme-differs",
        "scheme: bearer",
    );
    let told = changed("/servers/0/url", Some(json!("/v2")));
    assert_eq!(told.iter().map(|(rule, _)| rule.as_str()).collect::<Vec<_>>(), ["server-url", "server-url"]);
}

#[test]
fn words_of_the_code_are_not_compared() {
    assert_eq!(changed("/components/schemas/Book/description", Some(json!("other"))), []);
    assert_eq!(changed(&format!("{ADD}/summary"), Some(json!("other"))), []);
}
