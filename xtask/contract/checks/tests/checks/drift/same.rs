//! Equivalent documents: other prose, order, layout or spelling causes no finding.

use fixtures::{LIBRARY, edit};

use super::document::findings;
use crate::judge::summary;

fn accepted(text: &str) {
    let findings = findings(text);
    assert!(findings.is_empty(), "{}", summary(&findings));
}

#[test]
fn the_document_itself() {
    accepted(LIBRARY);
}

#[test]
fn words() {
    for (after, old, new) in [
        (["info:"].as_slice(), "title: Library", "title: Shop"),
        (&["info:"], "name: The Library maintainers", "name: Somebody"),
        (&["info:"], "license:", "termsOfService: https://example.com\n  license:"),
        (&["servers:"], "description: Production", "description: Live"),
        (&["servers:"], "https://books.example.com/v1", "https://other.example.org/store/v1"),
        (&["tags:"], "description: The books", "description: All books"),
        (&["listBooks"], "summary: List books", "summary: Books"),
        (&["listBooks"], "tags:", "externalDocs: {url: https://example.com}\n      tags:"),
        (&["name: limit"], "example: 50", "example: 51"),
        (&["'200':"], "description: A page of books", "description: Books"),
        (&["twoBooks:"], "name: Rex", "name: Max"),
        (&["securitySchemes:"], "bearerFormat: ask_", "bearerFormat: opaque"),
        (&["    Book:"], "description: An book", "title: Book\n      description: One book"),
        (&["    RequestId:"], "example: 1f0c", "example: 2f0c"),
        (&["    Book:"], "type: object", "x-internal: [1, 2]\n      type: object"),
        (&[], "paths:", "x-owner: {team: books}\npaths:"),
    ] {
        accepted(&edit(after, old, new).text);
    }
}

#[test]
fn order() {
    for (after, old, new) in [
        (["    Book:"].as_slice(), "[id, name, shelfId]", "[shelfId, id, name]"),
        (&["    BookStatus:"], "[available, pending, sold]", "[sold, available, pending]"),
        (
            &["    Book:"],
            "type: object\n      description: An book in the store's catalogue.",
            "description: An book.\n      type: object",
        ),
    ] {
        accepted(&edit(after, old, new).text);
    }
    let (before, rest) = LIBRARY.split_once("        - name: limit\n").unwrap();
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
        (["createBook", "responses:"].as_slice(), "'201':", "201:"),
        (
            &["    BookStatus:"],
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
    accepted(&LIBRARY.replace('\n', "\r\n"));
    accepted(&format!("---\n{LIBRARY}...\n"));
    let json = document::read(LIBRARY).unwrap().to_json();
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
        (&["name: bookId"], "in: path", "in: path\n          style: simple\n          explode: false"),
        (&["    RequestId:"], "required: true", "required: true\n      style: simple\n      explode: false"),
        (
            &["    Book:"],
            "type: object",
            "type: object\n      additionalProperties: true\n      nullable: false",
        ),
        (
            &["    Book:"],
            "type: object",
            "type: object\n      additionalProperties: {}\n      minProperties: 0",
        ),
        (&["    Books:"], "maxItems: 100", "maxItems: 100\n      minItems: 0\n      uniqueItems: false"),
        (&[], "operationId: listBooks", "operationId: listBooks\n      deprecated: false"),
        (&[], "operationId: listBooks", "callbacks: {}\n      operationId: listBooks"),
        (&["'201':"], "headers:", "links: {}\n          headers:"),
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
        &["    Book:", "        status:"],
        "$ref: '#/components/schemas/BookStatus'",
        "allOf:\n            - $ref: '#/components/schemas/BookStatus'\n          description: Whether it can be had.",
    );
    accepted(&wrapped.text);
    let own_security =
        edit(&[], "operationId: getBook", "operationId: getBook\n      security: [{apiKey: []}]");
    accepted(&own_security.text);
    let shared = edit(
        &[],
        "  /books/{bookId}:\n",
        "  /books/{bookId}:\n    parameters:\n      - {name: bookId, in: path, required: true, schema: {type: string}}\n",
    );
    accepted(&shared.text);
}
