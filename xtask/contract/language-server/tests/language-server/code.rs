//! A project with code: places in the sources, and the comparison at each save.

use std::fs;
use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;

use checks::finding::Location;
use document::Span;
use document::place::Subject;
use language_server::{Locate, Project};
use serde_json::json;

use fixtures::LIBRARY;

use crate::actions::actions;
use crate::diagnostics::rules;
use crate::session::{Session, line, position, range};

const CODE: &str = "// 𝄞\nfn list_books(limit: u32) {}\nstruct Book { id: i64 }\nfn uses(book: Book) {}\n";

/// A project whose comparison runs the script `drift.sh`.
struct Shop(PathBuf);

impl Project for Shop {
    fn root(&self) -> PathBuf {
        self.0.clone()
    }

    fn document(&self) -> Option<PathBuf> {
        Some(self.0.join("library.yaml"))
    }

    fn implementation(&self) -> Option<Arc<Locate>> {
        Some(Arc::new(locate))
    }

    fn drift(&self, _document: &Path) -> Option<Command> {
        let mut command = Command::new("sh");
        command.arg(self.0.join("drift.sh")).current_dir(&self.0);
        Some(command)
    }
}

fn locate(subject: &Subject) -> Option<Location> {
    let names: Vec<(&str, &str)> =
        subject.trail().iter().map(|(kind, name)| (*kind, name.as_str())).collect();
    let text = match names[..] {
        [("operation", "listBooks")] => "list_books",
        [("operation", "listBooks"), ("parameter", "limit")] => "limit: u32",
        [("schema", "Book")] => "Book",
        [("schema", "Book"), ("property", "id")] => "id: i64",
        _ => return None,
    };
    let start = CODE.find(text)?;
    let place = Span::within(CODE, start..start + text.len());
    Some(Location { file: "src/shop.rs".to_owned(), span: place, ..Location::default() })
}

fn session() -> Session {
    let directory = tempfile::tempdir().unwrap();
    let root = directory.path().canonicalize().unwrap();
    fs::create_dir(root.join("src")).unwrap();
    fs::write(root.join("src/shop.rs"), CODE).unwrap();
    fs::write(root.join("library.yaml"), LIBRARY).unwrap();
    Session::with(directory, Arc::new(Shop(root)), json!({}))
}

/// Waits until the sources were read: then hover names the place.
fn ready(session: &mut Session) {
    while !session
        .hover("library.yaml", position(LIBRARY, "operationId: listBooks", 15))
        .contains("implemented in")
    {}
}

#[test]
fn the_document_leads_to_the_code() {
    let mut session = session();
    session.open("library.yaml", LIBRARY);
    ready(&mut session);
    let hover = session.hover("library.yaml", position(LIBRARY, "- name: limit", 8));
    assert!(hover.contains("implemented in `src/shop.rs:2`"), "{hover}");
    for (part, plus, expected) in [
        ("operationId: listBooks", 15, Some(2)),
        ("- name: limit", 8, Some(2)),
        ("    Book:", 5, Some(3)),
        ("    BookStatus:", 5, None),
    ] {
        let expected: Vec<_> = expected.into_iter().map(|line| ("shop.rs".to_owned(), line)).collect();
        assert_eq!(session.definition("library.yaml", position(LIBRARY, part, plus)), expected, "{part}");
    }
}

/// The output of a comparison: `maximum` of `limit` differs, and an operation is missing in the code.
fn drift() -> String {
    let at = |part: &str, plus: usize| {
        let place = position(LIBRARY, part, plus);
        json!({ "line": place.line + 1, "column": place.character + 1 })
    };
    let finding = |rule: &str, part: &str| {
        let (start, end) = (at(part, 0), at(part, part.len()));
        json!({
            "rule": rule, "severity": "error", "message": "It differs.", "pointer": "", "file": "library.yaml",
            "line": start["line"], "column": start["column"], "end": end, "source": null, "elsewhere": "",
            "says": { "document": "", "code": "" }, "fix": "Change it.", "operations": [],
        })
    };
    let mut differs = finding("schema-differs", "maximum: 100");
    differs["source"] =
        json!({ "file": "src/shop.rs", "line": 2, "column": 15, "end": { "line": 2, "column": 25 } });
    let pointer = "/paths/~1books/get/parameters/0/schema/maximum";
    differs["repairs"] = json!([{ "write": { "at": pointer, "value": 50 } }]);
    let missing = finding("operation-not-in-code", "operationId: createBook");
    json!([differs, missing]).to_string()
}

#[test]
fn a_save_compares_the_document_with_the_code() {
    let mut session = session();
    session.write("drift.json", &drift());
    session.write("drift.sh", "cat drift.json; exit 1\n");
    session.open("library.yaml", LIBRARY);
    assert_eq!(session.diagnostics("library.yaml"), []);
    session.save("library.yaml");
    let shown = session.await_diagnostics("library.yaml", |published| published.diagnostics.len() == 2);
    let maximum = u32::try_from(line(LIBRARY, "maximum: 100")).unwrap();
    let created = u32::try_from(line(LIBRARY, "operationId: createBook")).unwrap();
    let expected = [("schema-differs".to_owned(), maximum), ("operation-not-in-code".to_owned(), created)];
    assert_eq!(rules(&shown), expected);
    let related = &shown[0].related_information.as_ref().unwrap()[0].location;
    assert!(related.uri.as_str().ends_with("/src/shop.rs"));
    assert_eq!(related.range, range(CODE, "limit: u32"));
    let in_code = session.await_diagnostics("src/shop.rs", |published| !published.diagnostics.is_empty());
    assert_eq!(rules(&in_code), [("schema-differs".to_owned(), 2)]);
    assert_eq!(in_code[0].range, range(CODE, "limit: u32"));
    let back = &in_code[0].related_information.as_ref().unwrap()[0].location;
    assert_eq!((&back.range, back.uri.as_str()), (&shown[0].range, session.uri("library.yaml").as_str()));

    // An edit above moves the findings of the saved text.
    let start = lsp_types::Position::new(0, 0);
    session.change("library.yaml", Some(lsp_types::Range { start, end: start }), "# A comment.\n");
    let moved = session.diagnostics("library.yaml");
    assert_eq!(rules(&moved)[0], ("schema-differs".to_owned(), maximum + 1));

    let edited = format!("# A comment.\n{LIBRARY}");
    let context = || json!({ "diagnostics": [] });
    let fixes = actions(&mut session, "library.yaml", range(&edited, "maximum: 100"), context());
    assert_eq!(fixes[0]["title"], "Change `maximum` to `50`");
    assert_eq!(session.end(), 0);
}

#[test]
fn a_failed_build_is_one_message() {
    let mut session = session();
    session.open("library.yaml", LIBRARY);
    for (script, expected) in [
        ("echo '   Compiling shop' >&2; echo 'error[E0425]: no x' >&2; exit 101\n", "error[E0425]: no x"),
        ("echo x >&2; echo y >&2; exit 1\n", "y"),
        ("exit 0\n", "it printed nothing"),
    ] {
        session.write("drift.sh", script);
        session.save("src/shop.rs");
        let message = session.await_message("window/showMessage");
        let text = message["message"].as_str().unwrap();
        assert_eq!(text, format!("The document was not compared with the code: {expected}"));
        assert_eq!(session.diagnostics("library.yaml"), []);
    }
}

#[test]
fn no_difference_is_shown_until_the_code_compiles() {
    let mut session = session();
    session.write(
        "Cargo.toml",
        "[package]\nname = \"shop\"\nedition = \"2024\"\n\n[lib]\npath = \"src/shop.rs\"\n\n[workspace]\n",
    );
    session.write("drift.json", &drift());
    session.write("drift.sh", "cargo check --offline >&2 && cat drift.json && exit 1\n");
    let good = CODE.replace("book: Book", "_: Book");
    let broken = good.replace("fn list_books(limit: u32) {}", "fn list_books(limit: u32) { limit }");
    session.write("src/shop.rs", &good);
    session.open("library.yaml", LIBRARY);
    session.save("library.yaml");
    session.await_diagnostics("library.yaml", |published| published.diagnostics.len() == 2);
    for round in 0..2 {
        session.write("src/shop.rs", &broken);
        session.save("src/shop.rs");
        session.await_diagnostics("library.yaml", |published| published.diagnostics.is_empty());
        session.await_diagnostics("src/shop.rs", |published| published.diagnostics.is_empty());
        let message = session.await_message("window/showMessage");
        let text = message["message"].as_str().unwrap();
        assert!(text.starts_with("The document was not compared with the code: error"), "{round}: {text}");
        assert!(text.contains("mismatched types\n") && text.contains("src/shop.rs:2:"), "{text}");
        // The checks of the document itself go on.
        let wrong = LIBRARY.replace("title: Library", "titel: Library");
        session.change("library.yaml", None, &wrong);
        assert_eq!(rules(&session.diagnostics("library.yaml"))[0].0, "struct-keyword");
        session.change("library.yaml", None, LIBRARY);
        assert_eq!(session.diagnostics("library.yaml"), []);

        session.write("src/shop.rs", &good);
        session.save("src/shop.rs");
        session.await_diagnostics("library.yaml", |published| published.diagnostics.len() == 2);
        let shown = session.await_diagnostics("src/shop.rs", |published| !published.diagnostics.is_empty());
        assert_eq!(rules(&shown), [("schema-differs".to_owned(), 2)]);
    }
    assert_eq!(session.end(), 0);
}

#[test]
fn a_newer_save_ends_the_older_comparison_with_its_children() {
    let mut session = session();
    let fifo = |name: &str| {
        let made = Command::new("mkfifo").arg(session.path(name)).status().unwrap();
        assert!(made.success());
    };
    fifo("alive");
    fifo("never");
    // The child keeps `alive` open and waits for ever: nothing writes to `never`.
    session.write("drift.sh", "sh -c 'echo up >&3; exec cat never' 3> alive\n");
    session.open("library.yaml", LIBRARY);
    session.diagnostics("library.yaml");
    session.save("library.yaml");
    let mut alive = fs::File::open(session.path("alive")).unwrap();
    let mut up = [0; 3];
    alive.read_exact(&mut up).unwrap();
    assert_eq!(&up, b"up\n");
    // Answers do not wait for the comparison.
    assert!(session.hover("library.yaml", position(LIBRARY, "listBooks", 1)).contains("listBooks"));
    session.write("drift.json", &drift());
    session.write("drift.sh", "cat drift.json; exit 1\n");
    session.save("library.yaml");
    session.await_diagnostics("library.yaml", |published| published.diagnostics.len() == 2);
    // The end of the stream: the child is gone.
    let mut rest = Vec::new();
    alive.read_to_end(&mut rest).unwrap();
    assert_eq!(rest, b"");
    assert_eq!(session.end(), 0);
}
