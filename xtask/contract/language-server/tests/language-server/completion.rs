//! Completion in texts that are being written: most are not valid.

use serde_json::{Value, json};

use crate::rename::applied;
use crate::session::{Session, position};
use fixtures::LIBRARY;

/// Returns the suggestions at `|` in a text, and the text without it.
fn suggestions(name: &str, marked: &str) -> (Vec<Value>, String) {
    let mut session = Session::new();
    let text = marked.replace('|', "");
    session.open(name, &text);
    let found = session.at("completion", name, position(marked, "|", 0), json!({})).unwrap();
    (found.as_array().cloned().unwrap_or_default(), text)
}

fn labels(marked: &str) -> Vec<String> {
    let (items, _) = suggestions("library.yaml", marked);
    items.iter().map(|item| item["label"].as_str().unwrap().to_owned()).collect()
}

/// Returns the text after the suggestion with this label was accepted.
fn accepted(name: &str, marked: &str, label: &str) -> String {
    let (items, text) = suggestions(name, marked);
    let item = items.iter().find(|item| item["label"] == label);
    let item = item.unwrap_or_else(|| panic!("no `{label}` for {marked}: {items:?}"));
    applied(&text, &json!([item["textEdit"]]))
}

const START: &str = "openapi: 3.0.3\ninfo: { title: A, version: 1.0.0 }\npaths:\n  /books:\n    get:\n";

#[test]
fn new_names_have_no_suggestions() {
    for marked in [
        "openapi: 3.0.3\ncomponents:\n  schemas:\n    |\n",
        "openapi: 3.0.3\npaths:\n  |\n",
        "openapi: 3.0.3\ninfo:\n  description: |-\n    some op§\n",
        "openapi: 3.0.3\ninfo:\n  # com§\n",
        "openapi: 3.0.3\ninfo:\n  x-own:\n    §\n",
    ] {
        let marked = marked.replace("|-", "BLOCK").replace('§', "|");
        let (items, _) = suggestions("library.yaml", &marked);
        assert_eq!(items, Vec::<Value>::new(), "{marked}");
    }
}

#[test]
fn tags_are_those_of_the_document() {
    let flow = format!("{START}      tags: [|]\ntags: [{{ name: books }}]\n");
    assert_eq!(labels(&flow), ["books"]);
    assert_eq!(labels(&format!("{START}      tags:\n        - |\ntags:\n  - name: books\n")), ["books"]);
    let listed = format!("{START}      tags: [books, |]\ntags: [{{ name: books }}, {{ name: loans }}]\n");
    assert_eq!(labels(&listed), ["loans"]);
}

#[test]
fn a_suggestion_has_the_quotes_that_it_needs() {
    for (written, tag, expected) in [
        ("[|]", "cats, dogs", "['cats, dogs']"),
        ("[|]", "true", "['true']"),
        ("[|]", "a:", "['a:']"),
        ("['|']", "it's", "['it''s']"),
        (r#"["|"]"#, r#"say "hi""#, r#"["say \"hi\""]"#),
        (r#"["|"]"#, r"a\b", r#"["a\\b"]"#),
    ] {
        let tags = format!("\ntags: [{{ name: {} }}]\n", json!(tag));
        let marked = format!("{START}      tags: {written}{tags}");
        let expected = format!("{START}      tags: {expected}{tags}");
        assert_eq!(accepted("library.yaml", &marked, tag), expected);
    }
}

#[test]
fn references_lead_to_components_of_the_right_kind() {
    // Texts that can be read have their own components. A bar marks the place.
    let components = LIBRARY[LIBRARY.find("components:\n").unwrap()..].replace('|', ">");
    let start = format!("{START}      responses:\n        '200':\n");
    let responses = labels(&format!("{start}          $ref: |\n{components}"));
    assert!(responses.contains(&"#/components/responses/RateLimited".to_owned()), "{responses:?}");
    assert!(responses.iter().all(|label| label.starts_with("#/components/responses/")), "{responses:?}");
    let flow = format!("{START}      responses:\n        '401': {{ $ref: '#/comp|' }}\n{components}");
    let expected = flow.replace("#/comp|", "#/components/responses/Unauthorized");
    assert_eq!(accepted("library.yaml", &flow, "#/components/responses/Unauthorized"), expected);
    let open = format!("{start}          $ref: #/components/res|\n{components}");
    let found = accepted("library.yaml", &open, "#/components/responses/Internal");
    assert!(found.contains("$ref: '#/components/responses/Internal'\n"), "{found}");
    let schema = labels(&format!(
        "{start}          content:\n            application/json: {{ schema: {{ $ref: '|' }} }}\n{components}"
    ));
    assert!(schema.contains(&"#/components/schemas/Book".to_owned()), "{schema:?}");
}

#[test]
fn names_are_those_of_the_document() {
    let start = format!("{START}      responses:\n        '404': {{ description: x }}\n");
    let marked =
        format!("{start}    put:\n      responses:\n        '200': {{ description: x }}\n        40|\n");
    let statuses = labels(&marked);
    assert!(statuses.contains(&"404".to_owned()) && !statuses.contains(&"200".to_owned()), "{statuses:?}");
    let found = accepted("library.yaml", &marked, "404");
    assert!(found.ends_with("        '404':\n"), "{found}");
    let put = "      requestBody: { content: { application/json: {} } }\n    put:\n      requestBody:\n";
    let marked = format!("{START}{put}        content:\n          |\n");
    assert_eq!(labels(&marked), ["application/json"]);
    let found = accepted("library.yaml", &marked, "application/json");
    assert!(found.ends_with("          application/json:\n"), "{found}");
    let schemes = "components: { securitySchemes: { key: { type: http, scheme: bearer } } }\n";
    assert_eq!(labels(&format!("{START}      security:\n        - |\n{schemes}")), ["key"]);
    let schema = "components: { schemas: { A: { properties: { one: {}, two: {} }, required: [|] } } }\n";
    assert_eq!(labels(&format!("openapi: 3.0.3\n{schema}")), ["one", "two"]);
}

#[test]
fn json_has_quotes() {
    let marked = "{ \"openapi\": \"3.0.3\", \"paths\": {}, \"security\": [{ \"|\" }], \"components\": { \"securitySchemes\": \
                  { \"key\": {} } } }";
    let found = accepted("library.json", marked, "key");
    assert!(found.contains("[{ \"key\": }]"), "{found}");
    let marked =
        "{ \"openapi\": \"3.0.3\", \"components\": { \"schemas\": { \"A\": { \"$ref\": \"#|\" } } } }";
    let found = accepted("library.json", marked, "#/components/schemas/A");
    assert!(found.contains("\"$ref\": \"#/components/schemas/A\" }"), "{found}");
}
