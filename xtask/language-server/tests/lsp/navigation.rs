//! Hover, definitions, references and symbols.

use std::sync::Arc;

use language_server::Standalone;
use serde_json::{Value, json};

use crate::LIBRARY;
use crate::session::{Session, line, places, position};

const FEATURES: &str = include_str!("../../../checks/tests/documents/features.yaml");

fn library() -> Session {
    let mut session = Session::new();
    session.open("library.yaml", LIBRARY);
    session
}

fn features() -> Session {
    let mut session = Session::new();
    session.open("features.yaml", FEATURES);
    session
}

#[test]
fn a_reference_leads_to_its_target() {
    let mut session = library();
    for (part, target) in [
        ("#/components/schemas/BookStatus", "    BookStatus:"),
        ("#/components/responses/RateLimited", "    RateLimited:"),
        ("#/components/headers/RetryAfter", "    RetryAfter:"),
    ] {
        let expected = [("library.yaml".to_owned(), line(LIBRARY, target))];
        for plus in [0, part.len() - 1] {
            assert_eq!(session.definition("library.yaml", position(LIBRARY, part, plus)), expected, "{part}");
        }
    }
    assert_eq!(session.definition("library.yaml", position(LIBRARY, "title: Library", 1)), []);
}

#[test]
fn names_lead_to_what_they_name() {
    let mut session = features();
    for (part, plus, target) in [
        ("operationId: deleteOrder\n      description: The order", 14, "    delete:"),
        ("operationRef: '#/paths", 16, "    delete:"),
        ("mapping: { plain: Line", 18, "    Line:"),
        ("gift: '#/components/schemas/Line'", 20, "    Line:"),
    ] {
        let found = session.definition("features.yaml", position(FEATURES, part, plus));
        assert_eq!(found, [("features.yaml".to_owned(), line(FEATURES, target))], "{part}");
    }
    let mut session = library();
    let scheme = position(LIBRARY, "security:\n  - ", "security:\n  - ".len());
    let expected = [("library.yaml".to_owned(), line(LIBRARY, "securitySchemes:") + 1)];
    assert_eq!(session.definition("library.yaml", scheme), expected);
    let required = position(LIBRARY, "required: [name", "required: [".len());
    let found = session.definition("library.yaml", required);
    assert_eq!(found.len(), 1, "{found:?}");
}

#[test]
fn references_of_a_component_are_all_its_uses() {
    let mut session = library();
    let uses: Vec<(String, u64)> = LIBRARY
        .lines()
        .zip(1..)
        .filter(|(line, _)| line.contains("'#/components/responses/RateLimited'"))
        .map(|(_, number)| ("library.yaml".to_owned(), number))
        .collect();
    assert!(uses.len() > 1);
    let declared = ("library.yaml".to_owned(), line(LIBRARY, "    RateLimited:"));
    for (part, plus) in [("    RateLimited:", 5), ("#/components/responses/RateLimited", 3)] {
        let mut ask = |declaration: bool| {
            let context = json!({ "context": { "includeDeclaration": declaration } });
            let found = session.at("references", "library.yaml", position(LIBRARY, part, plus), context);
            places(&found.unwrap())
        };
        assert_eq!(ask(false), uses);
        assert_eq!(ask(true), [vec![declared.clone()], uses.clone()].concat());
    }
}

#[test]
fn references_of_an_operation_are_links_and_of_a_schema_mappings_too() {
    let mut session = features();
    let mut lines = |part: &str, plus| {
        let context = json!({ "context": { "includeDeclaration": false } });
        let found =
            session.at("references", "features.yaml", position(FEATURES, part, plus), context).unwrap();
        places(&found).into_iter().map(|(_, line)| line).collect::<Vec<_>>()
    };
    let links =
        [line(FEATURES, "operationRef: '#/paths"), line(FEATURES, "    Order:\n      operationId") + 1];
    assert_eq!(lines("operationId: deleteOrder", 14), links);
    let mapping = line(FEATURES, "mapping: { plain: Line");
    assert!(lines("    Line:", 5).iter().filter(|line| **line == mapping).count() >= 2);
}

#[test]
fn hover_describes_operations_parameters_schemas_keywords_and_rules() {
    let mut session = library();
    let mut hover = |part: &str, plus| session.hover("library.yaml", position(LIBRARY, part, plus));
    let operation = hover("operationId: getBook", 15);
    for part in ["operation `getBook`: GET /books/{bookId}", "deprecated since 2026-11-21 until 2030-12-05"] {
        assert!(operation.contains(part), "{operation}");
    }
    let parameter = hover("- name: limit", 8);
    assert!(
        parameter.contains("**parameter `limit` in query**") && parameter.contains("type integer"),
        "{parameter}"
    );
    let schema = hover("    BookStatus:", 5);
    assert!(schema.contains("schema `BookStatus`") && schema.contains("\"sold\""), "{schema}");
    assert_eq!(hover("#/components/schemas/BookStatus", 3), schema);
    let keyword = hover("maximum: 100", 2);
    assert_eq!(keyword, "`maximum`: number\n\nKeyword of the Schema Object.");

    session.open("contract.toml", "[rules]\n\"no-$ref-siblings\" = \"off\"\n# info-contact-not\n");
    let text = "[rules]\n\"no-$ref-siblings\" = \"off\"\n# info-contact-not\n";
    let rule = session.hover("contract.toml", position(text, "$ref", 1));
    assert!(rule.contains("rule `no-$ref-siblings`") && rule.contains("\nAfter:\n\n    "), "{rule}");
    assert_eq!(session.hover("contract.toml", position(text, "contact-not", 1)), "");
}

#[test]
fn hover_names_the_release_that_introduced_an_object() {
    let directory = tempfile::tempdir().unwrap();
    let base = directory.path().join("base.yaml");
    let without = LIBRARY.replace("        - name: limit\n", "        - name: maximum\n");
    std::fs::write(&base, without).unwrap();
    let project = Standalone { base: Some(base), document: None };
    let mut session = Session::with(directory, Arc::new(project), json!({}));
    session.open("library.yaml", LIBRARY);
    session.diagnostics("library.yaml");
    let old = session.hover("library.yaml", position(LIBRARY, "- name: status", 8));
    assert!(old.contains("since release 1.0.0"), "{old}");
    let new = session.hover("library.yaml", position(LIBRARY, "- name: limit", 8));
    assert!(new.contains("not released yet"), "{new}");
}

#[test]
fn hover_explains_the_rules_of_the_findings_at_the_place() {
    let mut session = Session::new();
    let wrong = LIBRARY.replace("      summary: List books", "      sumary: List books");
    session.open("library.yaml", &wrong);
    session.diagnostics("library.yaml");
    let hover = session.hover("library.yaml", position(&wrong, "sumary", 2));
    assert!(hover.contains("rule `struct-keyword`: Each key"), "{hover}");
}

#[test]
fn symbols_are_the_outline_of_the_document() {
    let mut session = library();
    let params = json!({ "textDocument": { "uri": session.uri("library.yaml") } });
    let symbols = session.request("textDocument/documentSymbol", params).unwrap();
    let names = |symbols: &Value| -> Vec<String> {
        let all = symbols.as_array().cloned().unwrap_or_default();
        all.iter().map(|symbol| symbol["name"].as_str().unwrap().to_owned()).collect()
    };
    let top = names(&symbols);
    assert_eq!(&top[..2], ["/books", "/books/{bookId}"]);
    assert!(top.contains(&"BookStatus".to_owned()), "{top:?}");
    assert_eq!(names(&symbols[0]["children"]), ["listBooks", "createBook"]);
    let list = names(&symbols[0]["children"][0]["children"]);
    assert_eq!(&list[..2], ["limit", "status"]);
    check_ranges(&symbols);
}

/// The range of each symbol contains its name and its children, as clients require.
fn check_ranges(symbols: &Value) {
    let place =
        |position: &Value| (position["line"].as_u64().unwrap(), position["character"].as_u64().unwrap());
    let range = |range: &Value| (place(&range["start"]), place(&range["end"]));
    for symbol in symbols.as_array().into_iter().flatten() {
        let (start, end) = range(&symbol["range"]);
        let (first, last) = range(&symbol["selectionRange"]);
        assert!(start <= first && last <= end, "{symbol:#}");
        for child in symbol["children"].as_array().into_iter().flatten() {
            let (inner_start, inner_end) = range(&child["range"]);
            assert!(start <= inner_start && inner_end <= end, "{child:#}");
        }
        check_ranges(&symbol["children"]);
    }
}
