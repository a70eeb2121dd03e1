//! Renames with everything that refers to the name, on a document that has all kinds of references.

use checks::lint::lint;
use document::Document;
use document::edits::{edited, edits};
use document::openapi::Model;
use document::repair::Repair;
use fixtures::{FEATURES, TODAY};

use crate::judge::summary;

fn renamed(text: &str, at: &str, to: &str) -> Option<String> {
    let document = Document::parse("features.yaml", text).unwrap();
    let model = Model::of(&document);
    let edits = edits(&model, &Repair::Rename { at: at.to_owned(), to: to.to_owned() })?;
    Some(edited(text, &edits))
}

#[test]
fn everything_that_refers_to_a_name_is_renamed() {
    let findings = |text: &str| lint(&Document::parse("features.yaml", text).unwrap(), TODAY);
    let before = findings(FEATURES).len();
    for (at, old, to) in [
        ("/paths/~1orders~1{orderId}", "orderId", "/orders/{id}"),
        ("/paths/~1orders~1{orderId}/delete/parameters/0/name", "{orderId}", "number"),
        ("/paths/~1orders~1{orderId}/delete/operationId", "deleteOrder", "cancelOrder"),
        ("/tags/0/name", "name: orders", "purchases"),
        ("/components/schemas/Line", "Line", "Row"),
        ("/components/parameters/Trace", "parameters/Trace", "Request"),
        ("/components/securitySchemes/basic", "basic:", "password"),
    ] {
        let text = renamed(FEATURES, at, to).unwrap_or_else(|| panic!("{at}: no edit"));
        assert!(!text.contains(old), "{at}: {text}");
        let after = findings(&text);
        assert_eq!(after.len(), before, "{at}: {}", summary(&after));
        // A key is renamed back to the same text: nothing else has changed.
        let (owner, key) = at.rsplit_once('/').unwrap();
        if !matches!(key, "name" | "operationId") {
            let at = format!("{owner}/{}", to.replace('/', "~1"));
            assert_eq!(renamed(&text, &at, &key.replace("~1", "/")).as_deref(), Some(FEATURES), "{at}");
        }
    }
}

#[test]
fn a_name_that_exists_is_not_given_again() {
    for (at, to) in [
        ("/paths/~1orders", "/orders/{orderId}"),
        ("/paths/~1orders~1{orderId}/delete/operationId", "createOrder"),
        ("/paths/~1orders~1{orderId}/delete/parameters/1/name", "ids"),
        ("/components/schemas/Line", "Order"),
        ("/nothing", "here"),
        ("no pointer", "x"),
    ] {
        assert_eq!(renamed(FEATURES, at, to), None, "{at}");
    }
}

#[test]
fn references_keep_their_escapes_and_quotes() {
    let text = "openapi: 3.0.3\npaths:\n  /a~{b}:\n    get:\n      parameters:\n        - name: \"b\"\n          in: path\n\
                components:\n  links:\n    one: { operationRef: \"#/paths/~1a~0%7Bb%7D/get\" }\n    \
                two: { operationRef: '#/paths/~1a~0{b}' }\n";
    let expected = text
        .replace("/a~{b}:", "'/c%~{d}':")
        .replace("\"b\"", "\"d\"")
        .replace("~1a~0%7Bb%7D", "~1c%25~0{d}")
        .replace("~1a~0{b}", "~1c%25~0{d}");
    let found = renamed(text, "/paths/~1a~0{b}", "/c%~{d}").unwrap();
    assert_eq!(found.replace("/c%~{d}:", "'/c%~{d}':"), expected);
}
