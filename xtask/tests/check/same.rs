//! The file says the same in other words, another order or another layout: quiet.

use crate::document::{TEXT, code, edit, findings, told};

fn accepted(text: &str) {
    let findings = findings(text, code());
    assert!(findings.is_empty(), "{:?}", told(&findings));
}

#[test]
fn the_document_itself() {
    accepted(TEXT);
}

#[test]
fn words() {
    for (after, old, new) in [
        (["info:"].as_slice(), "title: Animal Store", "title: Shop"),
        (&["info:"], "name: The Animal Store maintainers", "name: Somebody"),
        (&["info:"], "license:", "termsOfService: https://example.com\n  license:"),
        (&["servers:"], "description: Production", "description: Live"),
        (&["servers:"], "https://animals.example.com/v1", "https://other.example.org/store/v1"),
        (&["tags:"], "description: The animals", "description: All animals"),
        (&["listPets"], "summary: List animals", "summary: Animals"),
        (&["listPets"], "tags:", "externalDocs: {url: https://example.com}\n      tags:"),
        (&["name: limit"], "example: 50", "example: 51"),
        (&["'200':"], "description: A page of animals", "description: Animals"),
        (&["twoAnimals:"], "name: Rex", "name: Max"),
        (&["securitySchemes:"], "bearerFormat: ask_", "bearerFormat: opaque"),
        (&["    Pet:"], "description: An animal", "title: Animal\n      description: One animal"),
        (&["    RequestId:"], "example: 1f0c", "example: 2f0c"),
        (&["    Pet:"], "type: object", "x-internal: [1, 2]\n      type: object"),
        (&[], "paths:", "x-owner: {team: animals}\npaths:"),
    ] {
        accepted(&edit(after, old, new).text);
    }
}

#[test]
fn order() {
    for (after, old, new) in [
        (["    Pet:"].as_slice(), "[id, name, categoryId]", "[categoryId, id, name]"),
        (&["    PetStatus:"], "[available, pending, sold]", "[sold, available, pending]"),
        (
            &["    Pet:"],
            "type: object\n      description: An animal in the store's catalogue.",
            "description: An animal.\n      type: object",
        ),
    ] {
        accepted(&edit(after, old, new).text);
    }
    let (before, rest) = TEXT.split_once("        - name: limit\n").unwrap();
    let (limit, rest) = rest.split_once("        - name: status\n").unwrap();
    let (status, rest) = rest.split_once("        - name: cursor\n").unwrap();
    let swapped = format!(
        "{before}        - name: status\n{status}        - name: limit\n{limit}        - name: cursor\n{rest}"
    );
    accepted(&swapped);
}

#[test]
fn layout_and_spelling() {
    for (after, old, new) in [
        (["createPet", "responses:"].as_slice(), "'201':", "201:"),
        (
            &["    PetStatus:"],
            "enum: [available, pending, sold]",
            "enum:\n        - available\n        - 'pending'\n        - \"sold\"",
        ),
        (&["name: limit"], "maximum: 100", "maximum: 1e2"),
        (&["name: limit"], "maximum: 100", "maximum: 0x64"),
        (&["'201':"], "Location:", "location:"),
        (&[], "openapi: 3.0.3", "# words\nopenapi: '3.0.3'"),
    ] {
        accepted(&edit(after, old, new).text);
    }
    accepted(&TEXT.replace('\n', "\r\n"));
    accepted(&format!("---\n{TEXT}...\n"));
    let json = contract::document::read(TEXT).unwrap().to_json();
    accepted(&serde_json::to_string(&json).unwrap());
    accepted(&serde_json::to_string_pretty(&json).unwrap());
}

#[test]
fn defaults_written_out() {
    for (after, old, new) in [
        (
            ["name: status"].as_slice(),
            "in: query",
            "in: query\n          required: false\n          deprecated: false",
        ),
        (&["name: status"], "in: query", "in: query\n          style: form\n          explode: true"),
        (&["name: petId"], "in: path", "in: path\n          style: simple\n          explode: false"),
        (&["    RequestId:"], "required: true", "required: true\n      style: simple\n      explode: false"),
        (
            &["    Pet:"],
            "type: object",
            "type: object\n      additionalProperties: true\n      nullable: false",
        ),
        (
            &["    Pet:"],
            "type: object",
            "type: object\n      additionalProperties: {}\n      minProperties: 0",
        ),
        (&["    Pets:"], "maxItems: 100", "maxItems: 100\n      minItems: 0\n      uniqueItems: false"),
        (&[], "operationId: listPets", "operationId: listPets\n      deprecated: false"),
    ] {
        accepted(&edit(after, old, new).text);
    }
}

#[test]
fn references_and_what_they_refer_to() {
    let inlined = edit(
        &["'201':"],
        "$ref: '#/components/headers/RequestId'",
        "required: true\n              schema: {type: string}",
    );
    accepted(&inlined.text);
    let chained = edit(
        &["  headers:\n"],
        "    RequestId:",
        "    RequestId:\n      $ref: '#/components/headers/Id'\n    Id:",
    );
    accepted(&chained.text);
    let wrapped = edit(
        &["    Pet:", "        status:"],
        "$ref: '#/components/schemas/PetStatus'",
        "allOf:\n            - $ref: '#/components/schemas/PetStatus'\n          description: Whether it can be had.",
    );
    accepted(&wrapped.text);
    let own_security =
        edit(&[], "operationId: getPet", "operationId: getPet\n      security: [{apiKey: []}]");
    accepted(&own_security.text);
    let shared = edit(
        &[],
        "  /pets/{petId}:\n",
        "  /pets/{petId}:\n    parameters:\n      - {name: petId, in: path, required: true, schema: {type: string}}\n",
    );
    accepted(&shared.text);
}
