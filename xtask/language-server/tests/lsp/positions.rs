//! Positions in UTF-8 and UTF-16, with characters of one to four bytes.

use std::sync::Arc;

use language_server::Standalone;
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

fn session(encodings: Value) -> Session {
    let capabilities = json!({ "general": { "positionEncodings": encodings } });
    let directory = tempfile::tempdir().unwrap();
    let mut session = Session::with(directory, Arc::new(Standalone::default()), capabilities);
    session.open("a.yaml", TEXT);
    session
}

fn definition(session: &mut Session, column: u32) -> Value {
    let place = Position { line: 4, character: column };
    session.at("definition", "a.yaml", place, json!({})).unwrap()
}

/// Returns the first column of the reference, in bytes or in code units.
fn column(measure: impl Fn(&str) -> usize) -> u32 {
    let line = TEXT.lines().nth(4).unwrap();
    u32::try_from(measure(&line[..line.find("'#/").unwrap()])).unwrap()
}

#[test]
fn columns_are_in_the_negotiated_unit() {
    let in_bytes = column(str::len);
    let in_units = column(|text| text.encode_utf16().count());
    assert_eq!(in_bytes - in_units, 3);
    for (encodings, first) in [
        (json!(["utf-16", "utf-8"]), in_bytes),
        (json!(["utf-32", "utf-16"]), in_units),
        (json!([]), in_units),
        (Value::Null, in_units),
    ] {
        let mut session = session(encodings.clone());
        assert_ne!(definition(&mut session, first), Value::Null, "{encodings}");
        // Two columns further left is the end of the key, which is a reference too; the space before it is not.
        assert_eq!(definition(&mut session, first - "$ref: ".len() as u32 - 1), Value::Null, "{encodings}");
        let place = Position { line: 4, character: first + 1 };
        let hover = session.at("hover", "a.yaml", place, json!({})).unwrap();
        assert_eq!(hover["range"]["start"]["character"], json!(first), "{encodings}");
        assert_eq!(session.end(), 0);
    }
}

#[test]
fn an_edit_beyond_the_basic_plane_keeps_both_texts_equal() {
    let mut session = session(Value::Null);
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
    assert_ne!(definition(&mut session, column(|text| text.encode_utf16().count())), Value::Null);
}

#[test]
fn positions_outside_the_text_are_limited_to_it() {
    let mut session = session(Value::Null);
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
    assert_ne!(definition(&mut session, column(|text| text.encode_utf16().count())), Value::Null);
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
    assert_ne!(definition(&mut session, column(|text| text.encode_utf16().count())), Value::Null);
}
