//! Hover, definitions and references.

use serde_json::json;

use crate::session::{Session, line, places, position};
use fixtures::{FEATURES, LIBRARY};

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
fn hover_shows_the_object_as_it_is_written() {
    let mut session = library();
    let mut hover = |part: &str, plus| session.hover("library.yaml", position(LIBRARY, part, plus));
    let operation = hover("operationId: getBook", 15);
    assert!(
        operation.starts_with("**operation `getBook`**\n\n```yaml\nget:\n  operationId: getBook\n"),
        "{operation}"
    );
    assert!(operation.ends_with("\n...\n```"), "{operation}");
    let parameter = hover("- name: limit", 8);
    assert!(parameter.starts_with("**parameter `limit` of operation `listBooks`**"), "{parameter}");
    let schema = hover("    BookStatus:", 5);
    assert!(
        schema.starts_with("**schema `BookStatus`**\n\n```yaml\nBookStatus:\n  type: string\n"),
        "{schema}"
    );
    assert_eq!(hover("#/components/schemas/BookStatus", 3), schema);
    assert_eq!(hover("maximum: 100", 2), "");
}

#[test]
fn a_place_beside_aliases_and_merge_keys_is_its_own() {
    let mut session = Session::new();
    let text = "openapi: 3.0.3\ninfo: {title: t, version: 1.0.0}\npaths: {}\ncomponents:\n  schemas:\n    \
                A: &a {type: object, title: first}\n    B:\n      allOf:\n        - *a\n        \
                - {$ref: '#/components/schemas/C'}\n    C:\n      <<: *a\n      properties:\n        \
                d: {$ref: '#/components/schemas/B'}\n";
    session.open("merged.yaml", text);
    for (place, target) in [("- {$ref", "    C:"), ("d: {$ref", "    B:")] {
        let expected = [("merged.yaml".to_owned(), line(text, target))];
        assert_eq!(session.definition("merged.yaml", position(text, place, 12)), expected, "{place}");
    }
}

#[test]
fn hover_shows_an_object_alone_also_on_one_line_and_behind_an_alias() {
    let mut session = Session::new();
    let text = "openapi: 3.0.3\ninfo: {title: t, version: 1.0.0}\npaths: {}\nx-a: &text {type: string, minLength: 1}\n\
                components:\n  schemas:\n    A: *text\n    B: {type: object, properties: {part: {type: integer}}}\n";
    session.open("aliased.yaml", text);
    for (place, shown) in [
        ("A: *text", "```yaml\n{type: string, minLength: 1}\n```"),
        ("B: {", "```yaml\nB: {type: object, properties: {part: {type: integer}}}\n```"),
        ("part: {", "```yaml\npart: {type: integer}\n```"),
    ] {
        let hover = session.hover("aliased.yaml", position(text, place, 0));
        assert!(hover.ends_with(shown), "{place} {hover}");
    }
    let long = "x".repeat(1_000_000);
    let json = format!(
        r#"{{"openapi":"3.0.3","info":{{"title":"t","version":"1"}},"paths":{{}},
        "components":{{"schemas":{{"A":{{"description":"{long}"}}}}}}}}"#
    );
    session.open("line.json", &json);
    let hover = session.hover("line.json", position(&json, "A\"", 0));
    assert!(hover.len() < 5_000 && hover.ends_with("\n...\n```"), "{} bytes", hover.len());
}
