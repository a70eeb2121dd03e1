//! The command as in CI: exit status and output.

use std::path::Path;
use std::process::{Command, Output};

use fixtures::{CODE_FILE, Edited, LIBRARY, edit};
use tempfile::TempDir;

/// The sources of the frozen code.
const ROOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/library");

fn check(file: &Path) -> Output {
    Command::new(env!("CARGO_BIN_EXE_project"))
        .args(["check", "--code", CODE_FILE, "--root", ROOT, "--spec"])
        .arg(file)
        .output()
        .unwrap()
}

/// Returns the exit status and the standard output.
fn check_bytes(bytes: &[u8]) -> (i32, String) {
    let directory = TempDir::new().unwrap();
    let file = directory.path().join("edited.yaml");
    std::fs::write(&file, bytes).unwrap();
    let output = check(&file);
    assert_eq!(String::from_utf8_lossy(&output.stderr), "");
    (output.status.code().unwrap(), String::from_utf8(output.stdout).unwrap())
}

#[test]
fn a_document_that_agrees_with_the_code_is_accepted() {
    let (code, printed) = check_bytes(LIBRARY.as_bytes());
    assert_eq!(code, 0, "{printed}");
    assert!(printed.contains("the document and the code agree"), "{printed}");
}

#[test]
fn ten_edits_are_reported_at_their_lines() {
    let edits: [(&str, Edited); 10] = [
        ("schema-differs", edit(&["name: limit"], "maximum: 100", "maximum: 50")),
        ("schema-differs", edit(&["    BookStatus:"], "sold]", "gone]")),
        ("response-not-in-code", edit(&["createBook"], "'413':", "'414':")),
        ("operation-security", edit(&["createBook"], "requestBody:", "security: []\n      requestBody:")),
        ("header-not-in-code", edit(&["createBook", "responses:"], "Location:", "Content-Location:")),
        ("operation-differs", edit(&[], "operationId: listBooks", "operationId: books")),
        ("schema-differs", edit(&["    NewBook:"], "required: [name, shelfId]", "required: [name]")),
        ("schema-differs", edit(&["    NewBook:", "shelfId:"], "type: integer", "type: string")),
        ("schema-differs", edit(&["name: bookId"], "format: int64", "format: int32")),
        ("path-not-in-code", edit(&["paths:"], "/books:", "/shelves:")),
    ];
    for (rule, Edited { text, line }) in edits {
        let (code, printed) = check_bytes(text.as_bytes());
        assert_eq!(code, 1, "{rule}: {printed}");
        let begin = printed.find(&format!("error[{rule}]")).unwrap_or_else(|| panic!("{rule}: {printed}"));
        assert!(
            printed[begin..].lines().nth(1).unwrap().contains(&format!("edited.yaml:{line}:")),
            "{rule}: {printed}"
        );
    }
}

/// As for `cargo xtask release`.
#[test]
fn the_configuration_beside_the_document_applies() {
    let directory = TempDir::new().unwrap();
    let file = directory.path().join("edited.yaml");
    std::fs::write(&file, edit(&["name: limit"], "maximum: 100", "maximum: 50").text).unwrap();
    std::fs::write(directory.path().join("contract.toml"), "[rules]\nschema-differs = \"warning\"\n")
        .unwrap();
    let output = check(&file);
    let printed = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success() && printed.contains("warning[schema-differs]"), "{printed}");
}

#[test]
fn prose_and_order_are_accepted() {
    let reworded =
        edit(&["paths:"], "Returns books by ascending identifier", "Gives you the books, oldest first");
    let (code, printed) = check_bytes(reworded.text.as_bytes());
    assert_eq!(code, 0, "{printed}");
    let reordered = edit(
        &["name: limit"],
        "            type: integer\n            minimum: 1\n            maximum: 100\n            default: 20\n",
        "            default: 20\n            maximum: 100\n            type: integer\n            minimum: 1\n",
    );
    let (code, printed) = check_bytes(reordered.text.as_bytes());
    assert_eq!(code, 0, "{printed}");
}

#[test]
fn unreadable_documents_have_another_exit_status_than_drift() {
    let unclosed = edit(&["createBook"], "tags: [books]", "tags: [books");
    for (bytes, place) in [
        (unclosed.text.as_bytes(), "edited.yaml:"),
        (b"".as_slice(), "edited.yaml:1:1"),
        (b"# nothing but words\n", "edited.yaml:1:1"),
        (b"- a list\n", "edited.yaml:1:1"),
        (b"openapi: 3.0.3\nopenapi: 3.0.3\n", "edited.yaml:2:1"),
        (b"openapi: 3.0.3\ninfo: \xff\n", "edited.yaml:2:7"),
        (b"openapi: 3.0.3\npaths: 5\n", "edited.yaml:2:8"),
        ("[".repeat(100_000).as_bytes(), "edited.yaml:1:"),
    ] {
        let (code, printed) = check_bytes(bytes);
        assert_eq!(code, 2, "{printed}");
        assert!(printed.contains(place), "{place}: {printed}");
    }
    let output = check(Path::new("nowhere.yaml"));
    assert_eq!(output.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&output.stdout).contains("There is no such file"));
    assert_eq!(check(Path::new(".")).status.code(), Some(2));
}

#[test]
fn a_finding_has_all_its_parts() {
    let edited = edit(&["    BookStatus:"], "sold]", "gone]");
    let (_, printed) = check_bytes(edited.text.as_bytes());
    let line = edited.line;
    let excerpt = LIBRARY.lines().nth(line - 1).unwrap().replace("sold", "gone");
    for part in [
        "error[schema-differs]: `enum` of schema `BookStatus` differs: only the document has `gone`, only the code has `sold`.\n".to_owned(),
        format!("edited.yaml:{line}:34\n"),
        format!("{line} | {excerpt}\n"),
        "^^^^ code: enum: [available, pending, sold]\n".to_owned(),
        "at: /components/schemas/BookStatus/enum/2\n".to_owned(),
        "help: Change the code to `enum: [available, pending, gone]`, or write `enum: [available, pending, sold]` here.\n".to_owned(),
        "edited.yaml: 1 error\n".to_owned(),
    ] {
        assert!(printed.contains(&part), "{part:?} is not in {printed}");
    }
    assert!(!printed.contains('\x1b'), "colours without a terminal");
}

#[test]
fn the_table_of_tolerated_differences_is_printed() {
    let output = Command::new(env!("CARGO_BIN_EXE_project")).args(["check", "--tolerated"]).output().unwrap();
    let table = String::from_utf8(output.stdout).unwrap();
    assert_eq!(table.lines().count(), checks::drift::TOLERATED.len() + 2);
    assert!(table.starts_with("| tolerated | because |\n"));
}
