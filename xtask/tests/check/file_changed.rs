//! The file changed and the code did not: one finding, or one for each side of a name, at the line.

use crate::document::{Edited, code, edit, findings, told};

/// Rules that tell of a name's other half, where the file has not got it.
fn is_other_half(rule: &str) -> bool {
    rule.ends_with("-not-in-file")
}

fn refused(rule: &str, edited: &Edited) {
    let findings = findings(&edited.text, code());
    let here: Vec<_> = findings.iter().filter(|finding| finding.rule == rule).collect();
    assert_eq!(here.len(), 1, "{rule} at {}: {:?}", edited.line, told(&findings));
    assert_eq!(here[0].span.line, edited.line, "{rule}: {:?}", told(&findings));
    let others = findings.iter().filter(|finding| finding.rule != rule && !is_other_half(&finding.rule));
    assert_eq!(others.count(), 0, "{rule}: {:?}", told(&findings));
    assert!(findings.len() <= 2, "{rule}: {:?}", told(&findings));
    for finding in &findings {
        assert!(finding.message.ends_with('.') && finding.fix.ends_with(['.', '?']), "{finding:?}");
    }
}

#[test]
fn document_info_servers_and_tags() {
    refused("document-openapi", &edit(&[], "3.0.3", "3.0.2"));
    refused("info-version", &edit(&["info:"], "version: 1.0.0", "version: 1.0.1"));
    refused("info-unknown-keyword", &edit(&["info:"], "license:", "licence:"));
    refused("document-unknown-keyword", &edit(&[], "servers:", "webhooks: {}\nservers:"));
    refused("server-url", &edit(&["base_url:"], "com/v1", "com/v2"));
    refused("server-url", &edit(&["staging_base_url:"], "com/v1", "com/v1/"));
    refused("server-variable-undefined", &edit(&[], "url: '{base_url}'", "url: '{base_url}/{version}'"));
    refused("server-unknown-keyword", &edit(&[], "url: '{base_url}'", "url: '{base_url}'\n    region: eu"));
    refused("tag-not-in-code", &edit(&["tags:"], "- name: animals", "- name: pets"));
    refused("operation-tags", &edit(&["listPets"], "tags: [animals]", "tags: [pets]"));
    refused("operation-tags", &edit(&["createPet"], "tags: [animals]", "tags: [animals, new]"));
}

#[test]
fn paths_and_operations() {
    refused("path-not-in-code", &edit(&[], "  /pets/{petId}:", "  /pets/{id}:"));
    refused("path-not-in-code", &edit(&[], "  /pets/{petId}:", "  /pets/{petId}/:"));
    refused("path-unknown-keyword", &edit(&[], "  /pets:\n", "  /pets:\n    gett: {}\n"));
    refused(
        "operation-not-in-code",
        &edit(&["createPet"], "  /pets/{petId}:\n    get:", "  /pets/{petId}:\n    put:"),
    );
    refused("operation-id", &edit(&[], "operationId: getPet", "operationId: getAnimal"));
    refused("operation-deprecated", &edit(&["getPet"], "deprecated: true", "deprecated: false"));
    refused(
        "operation-deprecated",
        &edit(&[], "operationId: listPets", "deprecated: true\n      operationId: listPets"),
    );
    refused("operation-unknown-keyword", &edit(&["listPets"], "summary:", "sumary:"));
    refused(
        "operation-callbacks",
        &edit(&[], "operationId: listPets", "callbacks: {}\n      operationId: listPets"),
    );
    refused(
        "server-url",
        &edit(&[], "operationId: listPets", "servers: [{url: /v2}]\n      operationId: listPets"),
    );
}

#[test]
fn security() {
    refused("operation-security", &edit(&["security:"], "apiKey: []", "apiKey: [read]"));
    refused("operation-security", &edit(&["security:"], "- apiKey: []", "- apiKey: []\n  - {}"));
    refused(
        "operation-security",
        &edit(&[], "operationId: getPet", "security: []\n      operationId: getPet"),
    );
    refused(
        "operation-security",
        &edit(&[], "operationId: getPet", "security: [{}]\n      operationId: getPet"),
    );
    refused("security-scheme-scheme", &edit(&["securitySchemes:"], "scheme: bearer", "scheme: basic"));
    refused("security-scheme-type", &edit(&["securitySchemes:"], "type: http", "type: apiKey"));
    refused("security-scheme-not-in-code", &edit(&["securitySchemes:"], "    apiKey:", "    key:"));
    refused("security-scheme-in", &edit(&["securitySchemes:"], "type: http", "in: header\n      type: http"));
    let without = edit(&[], "security:\n  - apiKey: []\n", "");
    let findings = findings(&without.text, code());
    assert_eq!(findings.len(), 1, "{:?}", told(&findings));
    assert_eq!(findings[0].operations, ["listPets", "createPet", "getPet"]);
    assert_eq!(findings[0].rule, "operation-security");
}

#[test]
fn parameters() {
    refused("parameter-not-in-code", &edit(&[], "- name: limit", "- name: limits"));
    refused("parameter-in", &edit(&["name: status"], "in: query", "in: header"));
    refused(
        "parameter-required",
        &edit(&["name: status"], "in: query", "required: true\n          in: query"),
    );
    refused("parameter-required", &edit(&["name: petId"], "required: true", "required: false"));
    refused(
        "parameter-deprecated",
        &edit(&["name: status"], "in: query", "deprecated: true\n          in: query"),
    );
    refused(
        "parameter-style",
        &edit(&["name: status"], "in: query", "style: spaceDelimited\n          in: query"),
    );
    refused(
        "parameter-explode",
        &edit(&["name: status"], "in: query", "explode: false\n          in: query"),
    );
    refused("parameter-explode", &edit(&["name: petId"], "in: path", "explode: true\n          in: path"));
    refused(
        "parameter-allow-reserved",
        &edit(&["name: cursor"], "in: query", "allowReserved: true\n          in: query"),
    );
    refused(
        "parameter-allow-empty-value",
        &edit(&["name: cursor"], "in: query", "allowEmptyValue: true\n          in: query"),
    );
    refused(
        "parameter-unknown-keyword",
        &edit(&["name: cursor"], "in: query", "requierd: true\n          in: query"),
    );
    refused(
        "parameter-repeated",
        &edit(
            &["name: limit", "example: 50"],
            "\n        - name: status",
            "\n        - {name: limit, in: query}\n        - name: status",
        ),
    );
    refused("schema-default", &edit(&["name: limit"], "default: 20", "default: 10"));
    refused("schema-minimum", &edit(&["name: limit"], "minimum: 1", "minimum: 0"));
    refused(
        "schema-exclusive-maximum",
        &edit(&["name: limit"], "maximum: 100", "exclusiveMaximum: true\n            maximum: 100"),
    );
    refused(
        "schema-multiple-of",
        &edit(&["name: limit"], "maximum: 100", "multipleOf: 5\n            maximum: 100"),
    );
    refused(
        "schema-reference",
        &edit(&["name: status"], "$ref: '#/components/schemas/PetStatus'", "type: string"),
    );
    refused("schema-reference", &edit(&["name: status"], "schemas/PetStatus", "schemas/Error"));
    refused(
        "reference-sibling",
        &edit(&["name: status"], "$ref: '#", "nullable: true\n            $ref: '#"),
    );
    refused(
        "schema-unknown-keyword",
        &edit(&["name: cursor"], "type: string", "maxLenght: 5\n            type: string"),
    );
    let extra = "parameters:\n        - {name: X-Trace, in: header, schema: {type: string}}";
    refused("parameter-not-in-code", &edit(&["getPet"], "parameters:", extra));
}

#[test]
fn bodies_and_media_types() {
    refused(
        "request-body-not-in-code",
        &edit(&[], "operationId: getPet", "requestBody: {content: {}}\n      operationId: getPet"),
    );
    refused("request-body-required", &edit(&["requestBody:"], "required: true", "required: false"));
    refused(
        "request-body-unknown-keyword",
        &edit(&["requestBody:"], "required: true", "required: true\n        schema: {}"),
    );
    refused("media-type-not-in-code", &edit(&["requestBody:"], "application/json", "application/xml"));
    refused(
        "media-type-not-in-code",
        &edit(&["requestBody:"], "application/json", "application/json; charset=utf-8"),
    );
    refused(
        "media-type-encoding",
        &edit(&["requestBody:", "application/json:"], "schema:", "encoding: {}\n            schema:"),
    );
    refused("schema-reference", &edit(&["requestBody:"], "schemas/NewPet", "schemas/Pet"));
}

#[test]
fn responses_and_headers() {
    refused("response-not-in-code", &edit(&["createPet"], "'201':", "'200':"));
    refused("response-not-in-code", &edit(&["getPet"], "'404':", "4XX:"));
    refused("response-not-in-code", &edit(&["getPet"], "'404':", "default:"));
    refused("response-links", &edit(&["'201':"], "headers:", "links: {}\n          headers:"));
    refused("header-not-in-code", &edit(&["'201':"], "Location:", "Place:"));
    refused("header-required", &edit(&["Location:"], "required: true", "required: false"));
    refused("header-required", &edit(&["    RequestId:"], "required: true", "required: false"));
    refused("header-required", &edit(&["Link:"], "schema:", "required: true\n              schema:"));
    refused("schema-type", &edit(&["    RetryAfter:"], "type: integer", "type: string"));
    refused("schema-minimum", &edit(&["    RetryAfter:"], "minimum: 1", "minimum: 0"));
    refused(
        "schema-format",
        &edit(&["    RequestId:"], "type: string", "format: uuid\n        type: string"),
    );
    refused(
        "header-not-in-code",
        &edit(&["  responses:\n    InvalidParameter:"], "x-request-id:", "request-id:"),
    );
    refused(
        "response-unknown-keyword",
        &edit(&["    Internal:"], "content:", "contents: {}\n      content:"),
    );
    refused("schema-reference", &edit(&["    Internal:"], "schemas/Error", "schemas/Pet"));
    refused(
        "component-unused",
        &edit(&["components:"], "  headers:\n", "  headers:\n    Spare: {schema: {type: string}}\n"),
    );
}

#[test]
fn schemas() {
    refused("schema-not-in-code", &edit(&["components:"], "    Pets:", "    PetList:"));
    refused(
        "schema-not-in-code",
        &edit(&["components:"], "    Pets:", "    Spare: {type: string}\n    Pets:"),
    );
    refused("property-not-in-code", &edit(&["    Pet:"], "        name:", "        nam:"));
    refused(
        "property-not-in-code",
        &edit(&["    Error:"], "        code:", "        detail: {type: string}\n        code:"),
    );
    refused(
        "schema-required",
        &edit(&["    Pet:"], "id, name, categoryId]", "id, name, categoryId, status]"),
    );
    refused("schema-required", &edit(&["    Pet:"], "[id, name, categoryId]", "[name, categoryId]"));
    refused(
        "schema-additional-properties",
        &edit(&["    NewPet:"], "additionalProperties: false", "additionalProperties: true"),
    );
    refused(
        "schema-additional-properties",
        &edit(&["    Pet:"], "properties:", "additionalProperties: false\n      properties:"),
    );
    refused("schema-min-length", &edit(&["    Pet:"], "minLength: 1", "minLength: 2"));
    refused("schema-max-length", &edit(&["    NewPet:"], "maxLength: 255", "maxLength: 256"));
    refused("schema-pattern", &edit(&["    NewPet:"], "pattern: '^[^\\u0000]*$'", "pattern: '^.*$'"));
    refused("schema-max-items", &edit(&["    Pets:"], "maxItems: 100", "maxItems: 99"));
    refused("schema-min-items", &edit(&["    Pets:"], "maxItems: 100", "minItems: 1\n      maxItems: 100"));
    refused(
        "schema-unique-items",
        &edit(&["    Pets:"], "maxItems: 100", "uniqueItems: true\n      maxItems: 100"),
    );
    refused("schema-reference", &edit(&["    Pets:"], "schemas/Pet'", "schemas/NewPet'"));
    refused("schema-enum", &edit(&["    PetStatus:"], "pending, ", ""));
    refused("schema-enum", &edit(&["    PetStatus:"], "available, pending", "available, Pending"));
    refused("schema-enum", &edit(&["    PetStatus:"], "sold]", "sold, lost]"));
    refused("schema-enum", &edit(&["    PetStatus:"], "sold]", "sold, sold]"));
    refused(
        "schema-nullable",
        &edit(&["    Pet:", "categoryId:"], "type: integer", "nullable: true\n          type: integer"),
    );
    refused(
        "schema-read-only",
        &edit(&["    Pet:", "        id:"], "type: integer", "readOnly: true\n          type: integer"),
    );
    refused(
        "schema-write-only",
        &edit(&["    NewPet:", "        name:"], "type: string", "writeOnly: true\n          type: string"),
    );
    refused(
        "schema-deprecated",
        &edit(&["    Pet:", "        id:"], "type: integer", "deprecated: true\n          type: integer"),
    );
    refused(
        "schema-discriminator",
        &edit(&["    Pet:"], "properties:", "discriminator: {propertyName: name}\n      properties:"),
    );
    refused(
        "schema-all-of",
        &edit(&["    Pet:"], "properties:", "allOf: [{type: object}]\n      properties:"),
    );
    refused(
        "schema-one-of",
        &edit(&["    Pet:"], "properties:", "oneOf: [{type: object}]\n      properties:"),
    );
    refused("schema-not", &edit(&["    Pet:"], "properties:", "not: {type: string}\n      properties:"));
    refused(
        "schema-min-properties",
        &edit(&["    Pet:"], "properties:", "minProperties: 1\n      properties:"),
    );
    refused("schema-maximum", &edit(&["    Error:"], "maximum: 599", "maximum: 599.5"));
    refused(
        "schema-unknown-keyword",
        &edit(&["    Pet:"], "properties:", "patternProperties: {}\n      properties:"),
    );
}

#[test]
fn a_renamed_schema_is_told_of_without_its_references() {
    let renamed = edit(&["components:"], "    PetStatus:", "    Status:");
    let findings = findings(&renamed.text, code());
    assert_eq!(
        told(&findings).iter().map(|(rule, _)| *rule).collect::<Vec<_>>(),
        ["schema-not-in-file", "schema-not-in-code"]
    );
    assert_eq!(findings[1].span.line, renamed.line);
    assert_eq!(findings[1].fix, "Did you mean `PetStatus`, which the code has?");
}

#[test]
fn a_shared_component_is_told_of_once_with_all_its_users() {
    let edited = edit(&["    Unauthorized:"], "        WWW-Authenticate:", "        WWW-Authentication:");
    let findings = findings(&edited.text, code());
    assert_eq!(
        told(&findings).iter().map(|(rule, _)| *rule).collect::<Vec<_>>(),
        ["header-not-in-file", "header-not-in-code"]
    );
    assert_eq!(findings[1].operations, ["listPets", "createPet"]);
    assert_eq!(findings[1].pointer, "/components/responses/Unauthorized/headers/WWW-Authentication");
}

#[test]
fn what_the_file_lacks_is_told_of_at_its_owner() {
    for (rule, after, removed, owner) in [
        ("schema-maximum", ["name: limit"].as_slice(), "            maximum: 100\n", "schema:"),
        (
            "schema-pattern",
            &["    NewPet:", "        name:"],
            "          pattern: '^[^\\u0000]*$'\n",
            "        name:",
        ),
        (
            "schema-additional-properties",
            &["    NewPet:"],
            "      additionalProperties: false\n",
            "    NewPet:",
        ),
        (
            "schema-items",
            &["    Pets:"],
            "      items:\n        $ref: '#/components/schemas/Pet'\n",
            "    Pets:",
        ),
        ("operation-id", &["paths:"], "      operationId: listPets\n", "    get:"),
        ("parameter-required", &["name: petId"], "          required: true\n", "        - name: petId"),
    ] {
        let edited = edit(after, removed, "");
        let text = edited.text;
        let findings = findings(&text, code());
        let found = findings.iter().find(|finding| finding.rule == rule);
        let found = found.unwrap_or_else(|| panic!("{rule}: {:?}", told(&findings)));
        let line = text.lines().nth(found.span.line - 1).unwrap();
        assert!(line.trim_end().ends_with(owner.trim_start()), "{rule}: {line}");
        assert!(found.span.line < edited.line && edited.line - found.span.line < 10, "{rule}: {line}");
    }
}
