//! Positions in UTF-16, with characters of one to four bytes.

use lsp_types::{Position, Range};
use serde_json::{Value, json};

use crate::session::{Session, position};

/// `𝄞` has four bytes and two code units, `é` two bytes and one.
const TEXT: &str = "\
openapi: 3.0.3
info: { title: '𝄞é', version: 1.0.0 }
paths:
  /a:
    get: { responses: { '𝄞é': 1, '200': { $ref: '#/components/responses/Ok' } } }
components:
  responses:
    Ok: { description: '𝄞' }
";

fn session() -> Session {
    let mut session = Session::new();
    session.open("a.yaml", TEXT);
    session
}

fn definition(session: &mut Session, column: u32) -> Value {
    let place = Position { line: 4, character: column };
    session.at("definition", "a.yaml", place, json!({})).unwrap()
}

/// Returns the first column of the reference.
fn column() -> u32 {
    let line = TEXT.lines().nth(4).unwrap();
    u32::try_from(line[..line.find("'#/").unwrap()].encode_utf16().count()).unwrap()
}

#[test]
fn columns_are_code_units() {
    let (mut session, first) = (session(), column());
    assert_ne!(definition(&mut session, first), Value::Null);
    // Two columns further left is the end of the key, which is a reference too; the space before it is not.
    assert_eq!(definition(&mut session, first - "$ref: ".len() as u32 - 1), Value::Null);
    let place = Position { line: 4, character: first + 1 };
    let hover = session.at("hover", "a.yaml", place, json!({})).unwrap();
    assert_eq!(hover["range"]["start"]["character"], json!(first));
    assert_eq!(session.end(), 0);
}

#[test]
fn an_edit_beyond_the_basic_plane_keeps_both_texts_equal() {
    let mut session = session();
    let start = position(TEXT, "𝄞é', version", 0);
    // The second of the two code units of `𝄞`, so that the edit begins inside a character.
    let inside = Position { character: start.character + 1, ..start };
    let end = position(TEXT, "é', version", 0);
    session.change("a.yaml", Some(Range { start, end }), "𝄞𝄞");
    session.change("a.yaml", Some(Range { start: inside, end: inside }), "x");
    session.change(
        "a.yaml",
        Some(Range { start, end: Position { character: start.character + 1, ..start } }),
        "",
    );
    // The title is now `x𝄞𝄞é`, since an edit inside a character begins before it.
    let place = position(TEXT, "title", 1);
    let shown = session.at("completion", "a.yaml", place, json!({})).unwrap();
    assert_ne!(shown, Value::Null);
    let rules = session.diagnostics("a.yaml");
    let wrong: Vec<_> = rules.iter().filter(|shown| shown.message.contains("not valid YAML")).collect();
    assert!(wrong.is_empty(), "{wrong:#?}");
    assert_ne!(definition(&mut session, column()), Value::Null);
}

#[test]
fn positions_outside_the_text_are_limited_to_it() {
    let mut session = session();
    let far = [(0, u32::MAX), (u32::MAX, 0), (u32::MAX, u32::MAX), (7, 4_000), (8, 0), (9, 9)];
    for (line, character) in far {
        for method in ["hover", "definition", "completion", "prepareRename"] {
            session.at(method, "a.yaml", Position { line, character }, json!({})).unwrap();
        }
        let context = json!({ "context": { "includeDeclaration": true } });
        session.at("references", "a.yaml", Position { line, character }, context).unwrap();
    }
    let everything = Range { start: Position::new(0, 0), end: Position::new(u32::MAX, u32::MAX) };
    session.change("a.yaml", Some(everything), TEXT);
    let reversed = Range { start: Position::new(5, 3), end: Position::new(2, 1) };
    session.change("a.yaml", Some(reversed), "");
    assert_ne!(definition(&mut session, column()), Value::Null);
    assert_eq!(session.end(), 0);
}

#[test]
fn lines_may_end_with_a_carriage_return() {
    let mut session = Session::new();
    session.open("a.yaml", &TEXT.replace('\n', "\r\n"));
    let end = Position { line: 2, character: 100 };
    // The end of a line is before its line break.
    session.change("a.yaml", Some(Range { start: end, end }), " # comment");
    let diagnostics = session.diagnostics("a.yaml");
    assert!(diagnostics.iter().all(|shown| !shown.message.contains("YAML")), "{diagnostics:#?}");
    assert_ne!(definition(&mut session, column()), Value::Null);
}
