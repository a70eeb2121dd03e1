//! Code actions.

use std::sync::Arc;

use language_server::Standalone;
use lsp_types::Range;
use serde_json::{Value, json};

use crate::rename::applied;
use crate::session::{Session, range};
use fixtures::LIBRARY;

/// Returns the code actions for a range.
pub(crate) fn actions(session: &mut Session, name: &str, range: Range, context: Value) -> Vec<Value> {
    let uri = session.uri(name);
    let params = json!({ "textDocument": { "uri": uri }, "range": range, "context": context });
    let found = session.request("textDocument/codeAction", params).unwrap();
    found.as_array().cloned().unwrap_or_default()
}

/// Returns a text after a code action.
fn fixed(text: &str, action: &Value) -> String {
    applied(text, &action["edit"]["documentChanges"][0]["edits"])
}

#[test]
fn a_quick_fix_removes_its_finding() {
    let mut session = Session::new();
    let wrong = LIBRARY.replace("      summary: List books", "      sumary: List books");
    session.open("library.yaml", &wrong);
    assert_eq!(session.diagnostics("library.yaml").len(), 2);
    let found = actions(&mut session, "library.yaml", range(&wrong, "sumary"), json!({ "diagnostics": [] }));
    assert_eq!(found.len(), 1, "{found:#?}");
    assert_eq!(found[0]["title"], "Change `sumary` to `summary`");
    assert_eq!(found[0]["diagnostics"][0]["code"], "struct-keyword");
    assert_eq!(fixed(&wrong, &found[0]), LIBRARY);
    let other =
        actions(&mut session, "library.yaml", range(&wrong, "title: Library"), json!({ "diagnostics": [] }));
    assert_eq!(other, Vec::<Value>::new());
    let only = json!({ "diagnostics": [], "only": ["refactor"] });
    assert_eq!(actions(&mut session, "library.yaml", range(&wrong, "sumary"), only), Vec::<Value>::new());
}

#[test]
fn a_key_without_a_value_is_removed_with_its_colon() {
    for empty in ["foo }", "foo}", "foo: }", "foo:}", "foo:\n      }", "foo: , z: { type: integer } }"] {
        let mut session = Session::new();
        let text =
            LIBRARY.replacen("  schemas:\n", &format!("  schemas:\n    Flow: {{ type: object, {empty}\n"), 1);
        session.open("library.yaml", &text);
        let shown = session.diagnostics("library.yaml");
        let found = actions(&mut session, "library.yaml", range(&text, "foo"), json!({ "diagnostics": [] }));
        let title = found.first().map(|it| &it["title"]);
        assert_eq!(title, Some(&json!("Remove `foo`")), "{empty}: {shown:#?}");
        let fixed = fixed(&text, &found[0]);
        assert!(!fixed.contains("foo") && document::read(&fixed).is_ok(), "{empty}: {fixed}");
    }
}

#[test]
fn there_are_no_fixes_while_the_text_cannot_be_read() {
    let mut session = Session::new();
    let wrong = LIBRARY.replace("      summary: List books", "      sumary: List books");
    session.open("library.yaml", &wrong);
    session.diagnostics("library.yaml");
    let line = |number: u32| lsp_types::Position::new(number, 0);
    session.change("library.yaml", Some(Range { start: line(1), end: line(1) }), "[\n");
    let broken = wrong.replacen("openapi: 3.0.3\n", "openapi: 3.0.3\n[\n", 1);
    let place = range(&broken, "sumary");
    assert_eq!(
        actions(&mut session, "library.yaml", place, json!({ "diagnostics": [] })),
        Vec::<Value>::new()
    );
    // The findings were moved by the edits.
    session.change("library.yaml", Some(Range { start: line(1), end: line(2) }), "# A comment.\n\n");
    let commented = broken.replacen("[\n", "# A comment.\n\n", 1);
    let place = range(&commented, "sumary");
    let found = actions(&mut session, "library.yaml", place, json!({ "diagnostics": [] }));
    assert_eq!(found[0]["edit"]["documentChanges"][0]["textDocument"]["version"], 3);
    assert_eq!(fixed(&commented, &found[0]), commented.replace("sumary", "summary"));
}

#[test]
fn the_version_is_increased_as_the_changes_need() {
    let directory = tempfile::tempdir().unwrap();
    let base = directory.path().join("base.yaml");
    std::fs::write(&base, LIBRARY).unwrap();
    let mut session =
        Session::with(directory, Arc::new(Standalone { base: Some(base), document: None }), json!({}));
    let narrowed = LIBRARY.replace("maximum: 100\n", "maximum: 50\n");
    session.open("library.yaml", &narrowed);
    session.diagnostics("library.yaml");
    let found = actions(
        &mut session,
        "library.yaml",
        range(&narrowed, "version: 1.0.0"),
        json!({ "diagnostics": [] }),
    );
    assert_eq!(found.len(), 1, "{found:#?}");
    let text = fixed(&narrowed, &found[0]);
    assert_eq!(text, narrowed.replace("version: 1.0.0", "version: 2.0.0"));
}

#[test]
fn a_fix_is_not_offered_at_another_item_of_a_list() {
    let mut session = Session::new();
    let wrong = LIBRARY.replacen("in: query", "in: headr", 1);
    session.open("library.yaml", &wrong);
    session.diagnostics("library.yaml");
    let place = range(&wrong, "in: headr");
    let found = actions(&mut session, "library.yaml", place, json!({ "diagnostics": [] }));
    assert_eq!(found[0]["title"], "Change `in` to `header`", "the most similar value is the first");
    let (before, after) = wrong.split_once("        - name: limit\n").unwrap();
    let first = "        - name: first\n          in: query\n          schema: { type: string }\n";
    let inserted = format!("{before}{first}        - name: limit\n{after}");
    session.change("library.yaml", None, &inserted);
    // Whether the findings are old or new, the fix is one of the right parameter.
    let found =
        actions(&mut session, "library.yaml", range(&inserted, "in: headr"), json!({ "diagnostics": [] }));
    for action in found {
        let text = fixed(&inserted, &action);
        assert!(!text.contains("in: headr") && text.contains(first), "{action:#}");
    }
}
