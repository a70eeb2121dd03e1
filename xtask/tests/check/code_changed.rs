//! The code changed and the file did not.

use serde_json::{Value, json};

use crate::document::{TEXT, code, findings, told};

/// What is told when the value at `pointer` of the code's document becomes `value`; `None` removes it.
fn changed(pointer: &str, value: Option<Value>) -> Vec<(String, String)> {
    let mut code = code().clone();
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
    let findings = findings(TEXT, &code);
    assert!(findings.iter().all(|finding| finding.span.line > 0));
    let line = |line: usize| TEXT.lines().nth(line - 1).unwrap().trim().to_owned();
    findings.iter().map(|finding| (finding.rule.clone(), line(finding.span.line))).collect()
}

fn told_once(pointer: &str, value: Option<Value>, rule: &str, line: &str) {
    let told = changed(pointer, value);
    assert_eq!(told, [(rule.to_owned(), line.to_owned())], "{pointer}");
}

const LIST: &str = "/paths/~1pets/get";
const ADD: &str = "/paths/~1pets/post";
const GET: &str = "/paths/~1pets~1{petId}/get";

#[test]
fn dropping_the_key_check_is_seen() {
    told_once(&format!("{LIST}/security"), Some(json!([])), "operation-security", "- apiKey: []");
    told_once(&format!("{GET}/security"), None, "operation-security", "- apiKey: []");
}

#[test]
fn answering_another_status_is_seen() {
    told_once(&format!("{ADD}/responses/413"), None, "response-not-in-code", "'413':");
    let response = code().pointer(&format!("{ADD}/responses/413")).unwrap().clone();
    told_once(&format!("{ADD}/responses/409"), Some(response), "response-not-in-file", "responses:");
}

#[test]
fn other_headers_are_seen() {
    let header = json!({"required": true, "schema": {"type": "string"}});
    told_once(&format!("{GET}/responses/404/headers/Sunset"), None, "header-not-in-code", "Sunset:");
    told_once(&format!("{ADD}/responses/201/headers/ETag"), Some(header), "header-not-in-file", "headers:");
    told_once(
        &format!("{LIST}/responses/200/headers/Link/required"),
        Some(json!(true)),
        "header-required",
        "Link:",
    );
}

#[test]
fn other_parameters_and_bodies_are_seen() {
    let parameters = code().pointer(&format!("{LIST}/parameters")).unwrap().as_array().unwrap();
    let limit = parameters.iter().position(|parameter| parameter["name"] == "limit").unwrap();
    let limit = format!("{LIST}/parameters/{limit}");
    told_once(&format!("{limit}/schema/maximum"), Some(json!(1000)), "schema-maximum", "maximum: 100");
    told_once(&format!("{limit}/schema/default"), None, "schema-default", "default: 20");
    told_once(&format!("{limit}/required"), Some(json!(true)), "parameter-required", "- name: limit");
    told_once(&format!("{limit}/x-new"), Some(json!(1)), "parameter-x-new", "- name: limit");
    told_once(&limit, None, "parameter-not-in-code", "- name: limit");
    told_once(&format!("{ADD}/requestBody"), None, "request-body-not-in-code", "requestBody:");
    let body = json!({"content": {}});
    told_once(&format!("{GET}/requestBody"), Some(body), "request-body-not-in-file", "get:");
}

#[test]
fn other_operations_are_seen() {
    told_once(ADD, None, "operation-not-in-code", "post:");
    told_once(&format!("{ADD}/operationId"), Some(json!("addPet")), "operation-id", "operationId: createPet");
    told_once(&format!("{GET}/deprecated"), None, "operation-deprecated", "deprecated: true");
    told_once("/paths/~1pets~1{petId}", None, "path-not-in-code", "/pets/{petId}:");
    told_once("/paths/~1keys", Some(json!({})), "path-not-in-file", "paths:");
    told_once(&format!("{ADD}/tags"), Some(json!(["animals", "new"])), "operation-tags", "tags: [animals]");
}

#[test]
fn other_schemas_are_seen() {
    let schema = "/components/schemas";
    told_once(&format!("{schema}/Pet/properties/id/format"), None, "schema-format", "format: int64");
    told_once(
        &format!("{schema}/Pet/properties/name/maxLength"),
        Some(json!(9)),
        "schema-max-length",
        "maxLength: 255",
    );
    told_once(
        &format!("{schema}/Pet/required"),
        Some(json!(["id", "name"])),
        "schema-required",
        "required: [id, name, categoryId]",
    );
    told_once(
        &format!("{schema}/Pet/properties/age"),
        Some(json!({})),
        "property-not-in-file",
        "properties:",
    );
    told_once(
        &format!("{schema}/NewPet/additionalProperties"),
        None,
        "schema-additional-properties",
        "additionalProperties: false",
    );
    told_once(&format!("{schema}/NewPet/frobnicate"), Some(json!(1)), "schema-unknown-keyword", "NewPet:");
    told_once(
        &format!("{schema}/PetStatus/enum/0"),
        Some(json!("free")),
        "schema-enum",
        "enum: [available, pending, sold]",
    );
    told_once(&format!("{schema}/Spare"), Some(json!({"type": "string"})), "schema-not-in-file", "schemas:");
    told_once(
        &format!("{schema}/Pets/items"),
        Some(json!({"type": "string"})),
        "schema-reference",
        "$ref: '#/components/schemas/Pet'",
    );
}

#[test]
fn another_version_base_path_or_scheme_is_seen() {
    told_once("/info/version", Some(json!("1.1.0")), "info-version", "version: 1.0.0");
    told_once("/openapi", Some(json!("3.1.0")), "document-openapi", "openapi: 3.0.3");
    told_once(
        "/components/securitySchemes/apiKey/scheme",
        Some(json!("basic")),
        "security-scheme-scheme",
        "scheme: bearer",
    );
    let told = changed("/servers/0/url", Some(json!("/v2")));
    assert_eq!(told.iter().map(|(rule, _)| rule.as_str()).collect::<Vec<_>>(), ["server-url", "server-url"]);
}

#[test]
fn words_of_the_code_are_not_compared() {
    assert_eq!(changed("/components/schemas/Pet/description", Some(json!("other"))), []);
    assert_eq!(changed(&format!("{ADD}/summary"), Some(json!("other"))), []);
    let findings = findings(TEXT, code());
    assert!(findings.is_empty(), "{:?}", told(&findings));
}
