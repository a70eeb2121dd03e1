//! Edits of the written document: one finding, or one for each side of a name, at the line of the edit.

use fixtures::{Edited, edit};

use super::document::{findings, names};
use crate::judge::summary;

/// Whether the rule is about a name that the document lacks after a renaming.
fn is_other_half(rule: &str) -> bool {
    rule.ends_with("-not-in-document")
}

fn refused(rule: &str, edited: &Edited) {
    let findings = findings(&edited.text);
    let here: Vec<_> = findings.iter().filter(|finding| finding.rule == rule).collect();
    assert_eq!(here.len(), 1, "{rule} at {}: {}", edited.line, summary(&findings));
    assert_eq!(here[0].span.line, edited.line, "{rule}: {}", summary(&findings));
    let others = findings.iter().filter(|finding| finding.rule != rule && !is_other_half(&finding.rule));
    assert_eq!(others.count(), 0, "{rule}: {}", summary(&findings));
    assert!(findings.len() <= 2, "{rule}: {}", summary(&findings));
    for finding in &findings {
        assert!(finding.message.ends_with('.') && finding.fix.ends_with(['.', '?']), "{finding:?}");
    }
}

/// A misspelt keyword is in the document only, and what it means is in the code only.
fn misspelt(rule: &str, edited: &Edited) {
    let findings = findings(&edited.text);
    let here = findings.iter().filter(|it| it.rule == rule && it.span.line == edited.line);
    assert_eq!(here.count(), 1, "{rule} at {}: {}", edited.line, summary(&findings));
}

#[test]
fn document_info_servers_and_tags() {
    refused("document-differs", &edit(&[], "3.0.3", "3.0.2"));
    misspelt("document-differs", &edit(&["info:"], "license:", "licence:"));
    misspelt("document-differs", &edit(&[], "servers:", "webhooks: {}\nservers:"));
    refused("server-url", &edit(&["base_url:"], "com/v1", "com/v2"));
    refused("server-url", &edit(&["staging_base_url:"], "com/v1", "com/v1/"));
    refused("tag-not-in-code", &edit(&["tags:"], "- name: books", "- name: shelves"));
    refused("operation-differs", &edit(&["listBooks"], "tags: [books]", "tags: [shelves]"));
    refused("operation-differs", &edit(&["createBook"], "tags: [books]", "tags: [books, new]"));
}

#[test]
fn paths_and_operations() {
    refused("path-not-in-code", &edit(&[], "  /books/{bookId}:", "  /books/{id}:"));
    refused("path-not-in-code", &edit(&[], "  /books/{bookId}:", "  /books/{bookId}/:"));
    misspelt("document-differs", &edit(&[], "  /books:\n", "  /books:\n    gett: {}\n"));
    refused(
        "operation-not-in-code",
        &edit(&["createBook"], "  /books/{bookId}:\n    get:", "  /books/{bookId}:\n    put:"),
    );
    refused("operation-differs", &edit(&[], "operationId: getBook", "operationId: fetchBook"));
    refused("operation-differs", &edit(&["getBook"], "deprecated: true", "deprecated: false"));
    refused(
        "operation-differs",
        &edit(&[], "operationId: listBooks", "deprecated: true\n      operationId: listBooks"),
    );
    misspelt("operation-differs", &edit(&["listBooks"], "summary:", "sumary:"));
    refused(
        "server-url",
        &edit(&[], "operationId: listBooks", "servers: [{url: /v2}]\n      operationId: listBooks"),
    );
}

#[test]
fn security() {
    refused("operation-security", &edit(&["security:"], "apiKey: []", "apiKey: [read]"));
    refused("operation-security", &edit(&["security:"], "- apiKey: []", "- apiKey: []\n  - {}"));
    refused(
        "operation-security",
        &edit(&[], "operationId: getBook", "security: []\n      operationId: getBook"),
    );
    refused(
        "operation-security",
        &edit(&[], "operationId: getBook", "security: [{}]\n      operationId: getBook"),
    );
    refused("security-scheme-differs", &edit(&["securitySchemes:"], "scheme: bearer", "scheme: basic"));
    refused("security-scheme-differs", &edit(&["securitySchemes:"], "type: http", "type: apiKey"));
    refused("security-scheme-not-in-code", &edit(&["securitySchemes:"], "    apiKey:", "    key:"));
    refused(
        "security-scheme-differs",
        &edit(&["securitySchemes:"], "type: http", "in: header\n      type: http"),
    );
    let without = edit(&[], "security:\n  - apiKey: []\n", "");
    let findings = findings(&without.text);
    assert_eq!(findings.len(), 1, "{}", summary(&findings));
    assert_eq!(findings[0].operations, ["listBooks", "createBook", "getBook"]);
    assert_eq!(findings[0].rule, "operation-security");
}

#[test]
fn parameters() {
    refused("parameter-not-in-code", &edit(&[], "- name: limit", "- name: limits"));
    let moved = findings(&edit(&["name: status"], "in: query", "in: header").text);
    assert_eq!(names(&moved), ["parameter-not-in-document", "parameter-not-in-code"]);
    refused(
        "parameter-differs",
        &edit(&["name: status"], "in: query", "required: true\n          in: query"),
    );
    refused("parameter-differs", &edit(&["name: bookId"], "required: true", "required: false"));
    refused(
        "parameter-differs",
        &edit(&["name: status"], "in: query", "deprecated: true\n          in: query"),
    );
    refused(
        "parameter-differs",
        &edit(&["name: status"], "in: query", "style: spaceDelimited\n          in: query"),
    );
    refused(
        "parameter-differs",
        &edit(&["name: status"], "in: query", "explode: false\n          in: query"),
    );
    refused("parameter-differs", &edit(&["name: bookId"], "in: path", "explode: true\n          in: path"));
    refused(
        "parameter-differs",
        &edit(&["name: cursor"], "in: query", "allowReserved: true\n          in: query"),
    );
    refused(
        "parameter-differs",
        &edit(&["name: cursor"], "in: query", "allowEmptyValue: true\n          in: query"),
    );
    misspelt(
        "parameter-differs",
        &edit(&["name: cursor"], "in: query", "requierd: true\n          in: query"),
    );
    refused("schema-differs", &edit(&["name: limit"], "default: 20", "default: 10"));
    refused("schema-differs", &edit(&["name: limit"], "minimum: 1", "minimum: 0"));
    refused(
        "schema-differs",
        &edit(&["name: limit"], "maximum: 100", "exclusiveMaximum: true\n            maximum: 100"),
    );
    refused(
        "schema-differs",
        &edit(&["name: limit"], "maximum: 100", "multipleOf: 5\n            maximum: 100"),
    );
    refused(
        "schema-reference",
        &edit(&["name: status"], "$ref: '#/components/schemas/BookStatus'", "type: string"),
    );
    refused("schema-reference", &edit(&["name: status"], "schemas/BookStatus", "schemas/Error"));
    misspelt(
        "schema-differs",
        &edit(&["name: cursor"], "type: string", "maxLenght: 5\n            type: string"),
    );
    let extra = "parameters:\n        - {name: X-Trace, in: header, schema: {type: string}}";
    refused("parameter-not-in-code", &edit(&["getBook"], "parameters:", extra));
}

#[test]
fn bodies_and_media_types() {
    refused(
        "request-body-not-in-code",
        &edit(&[], "operationId: getBook", "requestBody: {content: {}}\n      operationId: getBook"),
    );
    refused("request-body-differs", &edit(&["requestBody:"], "required: true", "required: false"));
    misspelt(
        "request-body-differs",
        &edit(&["requestBody:"], "required: true", "required: true\n        schema: {}"),
    );
    refused("media-type-not-in-code", &edit(&["requestBody:"], "application/json", "application/xml"));
    refused(
        "media-type-not-in-code",
        &edit(&["requestBody:"], "application/json", "application/json; charset=utf-8"),
    );
    refused("schema-reference", &edit(&["requestBody:"], "schemas/NewBook", "schemas/Book"));
}

#[test]
fn responses_and_headers() {
    refused("response-not-in-code", &edit(&["createBook"], "'201':", "'200':"));
    refused("response-not-in-code", &edit(&["getBook"], "'404':", "4XX:"));
    refused("response-not-in-code", &edit(&["getBook"], "'404':", "default:"));
    refused("header-not-in-code", &edit(&["'201':"], "Location:", "Place:"));
    refused("header-differs", &edit(&["Location:"], "required: true", "required: false"));
    refused("header-differs", &edit(&["    RequestId:"], "required: true", "required: false"));
    refused("header-differs", &edit(&["Link:"], "schema:", "required: true\n              schema:"));
    refused("schema-differs", &edit(&["    RetryAfter:"], "type: integer", "type: string"));
    refused("schema-differs", &edit(&["    RetryAfter:"], "minimum: 1", "minimum: 0"));
    refused(
        "schema-differs",
        &edit(&["    RequestId:"], "type: string", "format: uuid\n        type: string"),
    );
    refused(
        "header-not-in-code",
        &edit(&["  responses:\n    InvalidParameter:"], "x-request-id:", "request-id:"),
    );
    misspelt("response-differs", &edit(&["    Internal:"], "content:", "contents: {}\n      content:"));
    refused("schema-reference", &edit(&["    Internal:"], "schemas/Error", "schemas/Book"));
}

#[test]
fn schemas() {
    refused(
        "schema-not-in-code",
        &edit(&["components:"], "    Books:", "    Spare: {type: string}\n    Books:"),
    );
    refused("property-not-in-code", &edit(&["    Book:"], "        name:", "        nam:"));
    refused(
        "property-not-in-code",
        &edit(&["    Error:"], "        code:", "        detail: {type: string}\n        code:"),
    );
    refused("schema-differs", &edit(&["    Book:"], "id, name, shelfId]", "id, name, shelfId, status]"));
    refused("schema-differs", &edit(&["    Book:"], "[id, name, shelfId]", "[name, shelfId]"));
    refused(
        "schema-differs",
        &edit(&["    NewBook:"], "additionalProperties: false", "additionalProperties: true"),
    );
    refused(
        "schema-differs",
        &edit(&["    Book:"], "properties:", "additionalProperties: false\n      properties:"),
    );
    refused("schema-differs", &edit(&["    Book:"], "minLength: 1", "minLength: 2"));
    refused("schema-differs", &edit(&["    NewBook:"], "maxLength: 255", "maxLength: 256"));
    refused("schema-differs", &edit(&["    NewBook:"], "pattern: '^[^\\u0000]*$'", "pattern: '^.*$'"));
    refused("schema-differs", &edit(&["    Books:"], "maxItems: 100", "maxItems: 99"));
    refused("schema-differs", &edit(&["    Books:"], "maxItems: 100", "minItems: 1\n      maxItems: 100"));
    refused(
        "schema-differs",
        &edit(&["    Books:"], "maxItems: 100", "uniqueItems: true\n      maxItems: 100"),
    );
    refused("schema-reference", &edit(&["    Books:"], "schemas/Book'", "schemas/NewBook'"));
    refused("schema-differs", &edit(&["    BookStatus:"], "pending, ", ""));
    refused("schema-differs", &edit(&["    BookStatus:"], "available, pending", "available, Pending"));
    refused("schema-differs", &edit(&["    BookStatus:"], "sold]", "sold, lost]"));
    refused(
        "schema-differs",
        &edit(&["    Book:", "shelfId:"], "type: integer", "nullable: true\n          type: integer"),
    );
    refused(
        "schema-differs",
        &edit(&["    Book:", "        id:"], "type: integer", "readOnly: true\n          type: integer"),
    );
    refused(
        "schema-differs",
        &edit(&["    NewBook:", "        name:"], "type: string", "writeOnly: true\n          type: string"),
    );
    refused(
        "schema-differs",
        &edit(&["    Book:", "        id:"], "type: integer", "deprecated: true\n          type: integer"),
    );
    refused(
        "schema-differs",
        &edit(&["    Book:"], "properties:", "discriminator: {propertyName: name}\n      properties:"),
    );
    refused(
        "schema-differs",
        &edit(&["    Book:"], "properties:", "allOf: [{type: object}]\n      properties:"),
    );
    refused(
        "schema-differs",
        &edit(&["    Book:"], "properties:", "oneOf: [{type: object}]\n      properties:"),
    );
    refused("schema-differs", &edit(&["    Book:"], "properties:", "not: {type: string}\n      properties:"));
    refused("schema-differs", &edit(&["    Book:"], "properties:", "minProperties: 1\n      properties:"));
    refused("schema-differs", &edit(&["    Error:"], "maximum: 599", "maximum: 599.5"));
    misspelt(
        "schema-differs",
        &edit(&["    Book:"], "properties:", "patternProperties: {}\n      properties:"),
    );
}

#[test]
fn references_to_a_renamed_schema_are_not_understood() {
    let renamed = edit(&["components:"], "    BookStatus:", "    Status:");
    let findings = findings(&renamed.text);
    assert_eq!(names(&findings), ["not-understood", "schema-not-in-code"]);
    assert_eq!(findings[1].span.line, renamed.line);
}

#[test]
fn a_shared_component_is_reported_once_with_all_its_users() {
    let edited = edit(&["    Unauthorized:"], "        WWW-Authenticate:", "        WWW-Authentication:");
    let findings = findings(&edited.text);
    assert_eq!(names(&findings), ["header-not-in-document", "header-not-in-code"]);
    for finding in &findings {
        assert_eq!(finding.operations, ["listBooks", "createBook"]);
    }
    assert_eq!(findings[1].pointer, "/components/responses/Unauthorized/headers/WWW-Authentication");
}

#[test]
fn missing_parts_of_the_document_are_reported_at_their_owner() {
    for (rule, after, removed, owner) in [
        ("schema-differs", ["name: limit"].as_slice(), "            maximum: 100\n", "schema:"),
        (
            "schema-differs",
            &["    NewBook:", "        name:"],
            "          pattern: '^[^\\u0000]*$'\n",
            "        name:",
        ),
        ("schema-differs", &["    NewBook:"], "      additionalProperties: false\n", "    NewBook:"),
        (
            "schema-differs",
            &["    Books:"],
            "      items:\n        $ref: '#/components/schemas/Book'\n",
            "    Books:",
        ),
        ("operation-differs", &["paths:"], "      operationId: listBooks\n", "    get:"),
        ("parameter-differs", &["name: bookId"], "          required: true\n", "        - name: bookId"),
    ] {
        let edited = edit(after, removed, "");
        let text = edited.text;
        let findings = findings(&text);
        let found = findings.iter().find(|finding| finding.rule == rule);
        let found = found.unwrap_or_else(|| panic!("{rule}: {}", summary(&findings)));
        let line = text.lines().nth(found.span.line - 1).unwrap();
        assert!(line.trim_end().ends_with(owner.trim_start()), "{rule}: {line}");
        assert!(found.span.line < edited.line && edited.line - found.span.line < 10, "{rule}: {line}");
    }
}
