//! Renaming a component.

use lsp_types::{Position, Range};
use serde_json::{Value, json};

use crate::session::{Session, position};
use fixtures::{FEATURES, LIBRARY};

/// Applies the edits of one file to its text.
pub(crate) fn applied(text: &str, edits: &Value) -> String {
    let offset = |place: Position| {
        let start = text.split_inclusive('\n').take(place.line as usize).map(str::len).sum::<usize>();
        let mut units = 0;
        let inside = text[start..].char_indices().find(|(_, character)| {
            let is_here = units >= place.character as usize;
            units += character.len_utf16();
            is_here
        });
        inside.map_or(text.len(), |(inside, _)| start + inside)
    };
    let mut replaced: Vec<(usize, usize, String)> = edits
        .as_array()
        .unwrap()
        .iter()
        .map(|edit| {
            let Range { start, end } = serde_json::from_value(edit["range"].clone()).unwrap();
            (offset(start), offset(end), edit["newText"].as_str().unwrap().to_owned())
        })
        .collect();
    replaced.sort();
    let mut text = text.to_owned();
    for (start, end, new) in replaced.into_iter().rev() {
        text.replace_range(start..end, &new);
    }
    text
}

fn renamed(
    session: &mut Session,
    name: &str,
    text: &str,
    part: &str,
    plus: usize,
    new: &str,
) -> Result<String, String> {
    let result = session.at("rename", name, position(text, part, plus), json!({ "newName": new }));
    let edit = result.map_err(|error| error.message)?;
    Ok(applied(text, &edit["documentChanges"][0]["edits"]))
}

#[test]
fn every_use_is_renamed() {
    for (part, plus) in [("    RateLimited:", 5), ("#/components/responses/RateLimited", 30)] {
        let mut session = Session::new();
        session.open("library.yaml", LIBRARY);
        let found = renamed(&mut session, "library.yaml", LIBRARY, part, plus, "TooFast").unwrap();
        let expected = LIBRARY.replace("responses/RateLimited'", "responses/TooFast'");
        assert_eq!(found, expected.replace("    RateLimited:", "    TooFast:"));
    }
}

#[test]
fn mappings_and_security_requirements_are_renamed() {
    let mut session = Session::new();
    session.open("features.yaml", FEATURES);
    let found = renamed(&mut session, "features.yaml", FEATURES, "    Line:", 5, "Row").unwrap();
    assert!(found.contains("mapping: { plain: Row, gift: '#/components/schemas/Row' }"), "{found}");
    session.change("features.yaml", None, &found);
    let left: Vec<_> = session.diagnostics("features.yaml");
    assert!(left.iter().all(|shown| !shown.message.contains("schemas/")), "{left:#?}");

    let scheme = LIBRARY.split("security:\n  - ").nth(1).unwrap().split(':').next().unwrap();
    session.open("library.yaml", LIBRARY);
    let part = format!("security:\n  - {scheme}");
    let found = renamed(&mut session, "library.yaml", LIBRARY, &part, part.len() - 1, "key").unwrap();
    session.change("library.yaml", None, &found);
    assert!(found.contains("security:\n  - key:") && found.contains("securitySchemes:\n    key:"), "{found}");
    assert_eq!(session.diagnostics("library.yaml"), []);
}

#[test]
fn wrong_names_and_places_are_refused() {
    let mut session = Session::new();
    session.open("library.yaml", LIBRARY);
    let mut refused = |part: &str, plus, new: &str| {
        renamed(&mut session, "library.yaml", LIBRARY, part, plus, new).unwrap_err()
    };
    assert!(refused("    RateLimited:", 5, "Too fast").contains("cannot be the name of a component"));
    assert!(refused("    RateLimited:", 5, "").contains("cannot be the name of a component"));
    assert!(refused("    RateLimited:", 5, "Internal").contains("has `Internal` already"));
    assert!(refused("title: Library", 1, "Title").contains("no component"));
    assert!(refused("/books:", 1, "pages").contains("no component"));
    assert!(refused("  status:\n          $ref", 4, "state").contains("no component"));
}

#[test]
fn a_component_that_is_a_reference_is_renamed_itself() {
    let mut session = Session::new();
    let alias = "  schemas:\n    Alias: { $ref: '#/components/schemas/Book' }\n    User: { $ref: '#/components/schemas/Alias' }\n";
    let text = LIBRARY.replacen("  schemas:\n", alias, 1);
    session.open("library.yaml", &text);
    let found = renamed(&mut session, "library.yaml", &text, "    Alias:", 5, "Other").unwrap();
    assert_eq!(found, text.replace("Alias", "Other"));
}

#[test]
fn a_rename_waits_for_the_newest_text() {
    let mut session = Session::new();
    session.open("library.yaml", LIBRARY);
    session.diagnostics("library.yaml");
    let new = LIBRARY.replacen("info:\n", "# A comment.\ninfo:\n", 1);
    session.change("library.yaml", None, &new);
    let found = renamed(&mut session, "library.yaml", &new, "    RateLimited:", 5, "TooFast").unwrap();
    assert_eq!(
        found,
        new.replace("responses/RateLimited'", "responses/TooFast'")
            .replace("    RateLimited:", "    TooFast:")
    );
    session.change("library.yaml", None, "openapi: [");
    let refused = session.at("rename", "library.yaml", Position::new(0, 0), json!({ "newName": "X" }));
    assert!(refused.unwrap_err().message.contains("cannot be read"));
}

#[test]
fn prepare_returns_the_name() {
    let mut session = Session::new();
    session.open("library.yaml", LIBRARY);
    let place = position(LIBRARY, "#/components/schemas/BookStatus", 2);
    let found = session.at("prepareRename", "library.yaml", place, json!({})).unwrap();
    assert_eq!(found["placeholder"], "BookStatus");
    let start = position(LIBRARY, "#/components/schemas/BookStatus", "#/components/schemas/".len());
    assert_eq!(found["range"]["start"], json!(start));
    let nothing = session.at("prepareRename", "library.yaml", position(LIBRARY, "title:", 1), json!({}));
    assert_eq!(nothing.unwrap(), Value::Null);
}
