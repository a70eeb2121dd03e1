//! Quick fixes in `contract.toml`.

use serde_json::json;

use crate::LIBRARY;
use crate::actions::actions;
use crate::rename::applied;
use crate::session::{Session, line, position, range};

/// Returns the configuration after the quick fix with this title at a place.
fn fixed(session: &mut Session, text: &str, part: &str, title: &str) -> String {
    let found = actions(session, "contract.toml", range(text, part), json!({ "diagnostics": [] }));
    let titles: Vec<_> = found.iter().map(|action| action["title"].clone()).collect();
    let action = found.iter().find(|action| action["title"] == title);
    let action = action.unwrap_or_else(|| panic!("{titles:?} at {part}"));
    applied(text, &action["edit"]["changes"][session.uri("contract.toml")])
}

#[test]
fn misspelt_rules_and_severities_are_corrected() {
    let mut session = Session::new();
    session.open("library.yaml", LIBRARY);
    let text = "[rules]\n\"operation-tag\" = \"off\"\ninfo-contact = \"warn\"\n\n\
                [[ignore]]\nrule = 'info-licence'\nat = \"/info\"\nreason = \"None yet.\"\n";
    session.open("contract.toml", text);
    session.await_diagnostics("contract.toml", |published| published.diagnostics.len() == 3);
    for (part, title, old, new) in [
        ("operation-tag", "Rename `operation-tag` to `operation-tags`", "operation-tag", "operation-tags"),
        ("warn", "Change `info-contact` to `warning`", "warn", "warning"),
        ("info-licence", "Change `rule` to `info-license`", "'info-licence'", "\"info-license\""),
    ] {
        assert_eq!(fixed(&mut session, text, part, title), text.replacen(old, new, 1), "{title}");
    }
    assert_eq!(session.end(), 0);
}

#[test]
fn an_unneeded_entry_is_removed() {
    let mut session = Session::new();
    session.open("library.yaml", LIBRARY);
    let rules = "[rules]\n\"operation-tags\" = \"off\"\n";
    let text = format!(
        "# No contact yet.\n[[ignore]]\nrule = \"info-contact\"\nat = \"/info\"\nreason = \"None.\"\n\n{rules}"
    );
    session.open("contract.toml", &text);
    session.await_diagnostics("contract.toml", |published| published.diagnostics.len() == 1);
    assert_eq!(fixed(&mut session, &text, "[[ignore]]", "Remove this item").trim_start(), rules);
    // After an edit, the fix is that of the new check.
    let start = position(&text, "#", 0);
    session.change("contract.toml", Some(lsp_types::Range { start, end: start }), "# A\n");
    let moved = format!("# A\n{text}");
    let line = u32::try_from(line(&moved, "[[ignore]]")).unwrap() - 1;
    session.await_diagnostics("contract.toml", |published| published.diagnostics[0].range.start.line == line);
    assert_eq!(fixed(&mut session, &moved, "[[ignore]]", "Remove this item").trim_start(), rules);
    // After the correction, the check of the document finds nothing.
    session.change("contract.toml", None, rules);
    session.await_diagnostics("contract.toml", |published| published.diagnostics.is_empty());
    let found = actions(&mut session, "contract.toml", range(rules, "[rules]"), json!({ "diagnostics": [] }));
    assert_eq!(found, Vec::<serde_json::Value>::new());
    assert_eq!(session.end(), 0);
}

#[test]
fn the_nearest_configuration_above_the_document_applies() {
    let mut session = Session::new();
    session.write("api/.empty", "");
    session
        .open("api/library.yaml", &LIBRARY.replacen("operationId: listBooks", "operationId: booksList", 1));
    let number = |session: &mut Session, number: usize| {
        session.await_diagnostics("api/library.yaml", |published| published.diagnostics.len() == number);
    };
    number(&mut session, 0);
    session.open("contract.toml", "profile = \"strict\"\n");
    number(&mut session, 1);
    session.open("api/contract.toml", "profile = \"spec\"\n");
    number(&mut session, 0);
    session.change("api/contract.toml", None, "profile = \"strict\"\n");
    number(&mut session, 1);
    assert_eq!(session.end(), 0);
}
