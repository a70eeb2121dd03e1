//! The generator of the typed client: it processes the document of these tests, and names the parts of other documents that
//! progenitor cannot process.

mod client;

use std::fs;

use client::client;
use serde_json::{Value, json};

const DOCUMENT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/xtask/contract/fixtures/library.yaml");

/// Returns the parts that are named after an edit: a JSON pointer, and the value there.
fn named(at: &str, value: Value) -> String {
    let text = fs::read_to_string(DOCUMENT).unwrap();
    let mut document = document::read(&text).unwrap().to_json();
    let (owner, key) = at.rsplit_once('/').unwrap();
    let owner = document.pointer_mut(owner).unwrap_or_else(|| panic!("nothing is at {owner}"));
    owner[key.replace("~1", "/")] = value;
    match client(&document.to_string()) {
        Ok(_) => String::new(),
        Err(problem) => {
            let parts = problem.strip_prefix("progenitor cannot generate a client for ");
            parts.unwrap().split_once(": ").unwrap().0.to_owned()
        }
    }
}

#[test]
fn what_progenitor_cannot_process_is_named() {
    let reference = |name: &str| json!({ "$ref": format!("#/components/schemas/{name}") });
    let body =
        |schema| json!({ "content": { "application/json": { "schema": schema } }, "description": "A." });
    let cookie = json!([{ "name": "session", "in": "cookie", "schema": { "type": "string" } }]);
    let xml = json!({ "content": { "application/xml": { "schema": reference("NewBook") } } });
    let both = json!({ "oneOf": [{ "type": "string" }], "anyOf": [{ "type": "integer" }] });
    for (at, value, parts) in [
        ("/x-changed", json!(1), ""),
        ("/info/title", json!(1), "the document as a whole"),
        ("/paths/~1books/get/responses/409", body(reference("Book")), "`GET /books`"),
        ("/paths/~1books/post/responses/202", body(reference("Error")), "`POST /books`"),
        ("/paths/~1books/post/requestBody", xml, "`POST /books`"),
        ("/paths/~1books/parameters", cookie, "`GET /books`, `POST /books`"),
        ("/components/schemas/Shelf", json!({ "enum": [1, "a"] }), "schema `Shelf`"),
        ("/components/schemas/Shelf", both, "schema `Shelf`"),
    ] {
        assert_eq!(named(at, value), parts, "{at}");
    }
}
