//! Releases: what is written, what is refused, and what `--verify` finds.
//!
//! The document and the code's side of it are frozen, so that no change of the product changes them.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use contract::document::Document;
use jiff::civil::{Date, date};
use tempfile::TempDir;
use xtask::release::{Refused, release, verify};
use xtask::workspace::{RELEASED, SPEC};

const DAY: Date = date(2026, 11, 21);
const LIBRARY: &str = include_str!("../../contract/tests/documents/library.yaml");
const CODE: &str = include_str!("../../contract/tests/documents/library.code.json");

/// A workspace with the document and nothing released, in a repository with a commit.
fn workspace() -> (TempDir, PathBuf) {
    let directory = tempfile::tempdir().unwrap();
    let root = directory.path().to_owned();
    fs::create_dir_all(root.join("openapi")).unwrap();
    fs::write(root.join(SPEC), LIBRARY).unwrap();
    fs::write(root.join("openapi/contract.toml"), "profile = \"strict\"\n").unwrap();
    git(&root, &["init", "--quiet"]);
    commit(&root, "Begin");
    (directory, root)
}

fn git(root: &Path, arguments: &[&str]) {
    let done = Command::new("git")
        .args(["-c", "user.name=Test", "-c", "user.email=test@example.com"])
        .args(arguments)
        .current_dir(root)
        .output()
        .unwrap();
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
}

fn commit(root: &Path, message: &str) {
    git(root, &["add", "."]);
    git(root, &["commit", "--quiet", "--allow-empty", "-m", message]);
}

/// What the code says, once `from` in it is `to`.
fn code(edits: &[(&str, &str)]) -> Document {
    let text = edits.iter().fold(CODE.to_owned(), |text, (from, to)| {
        assert!(text.contains(from), "{from}");
        text.replacen(from, to, 1)
    });
    Document::parse("the code", &text).unwrap()
}

fn release_on(root: &Path, date: Date) -> Result<String, Refused> {
    release(root, &code(&[]), date).map(|version| version.to_string())
}

fn problems(root: &Path) -> Vec<String> {
    verify::problems(root, &code(&[]), DAY)
}

fn edit(root: &Path, file: &str, from: &str, to: &str) {
    let path = root.join(file);
    let text = fs::read_to_string(&path).unwrap();
    assert!(text.contains(from), "{file} has no {from}");
    fs::write(path, text.replacen(from, to, 1)).unwrap();
}

fn released(root: &Path, name: &str) -> String {
    fs::read_to_string(root.join(RELEASED).join(name)).unwrap()
}

#[test]
fn a_release_is_the_document_byte_for_byte_as_json_and_in_the_changelog() {
    let (_kept, root) = workspace();
    assert_eq!(release_on(&root, DAY).unwrap(), "1.0.0");
    assert_eq!(released(&root, "1.0.0.yaml"), fs::read_to_string(root.join(SPEC)).unwrap());
    let json = released(&root, "1.0.0.json");
    assert!(
        json.starts_with("{\n  \"openapi\": \"3.0.3\",\n  \"info\": {"),
        "not in the order of the file: {json:.100}"
    );
    let json: serde_json::Value = serde_json::from_str(&json).unwrap();
    assert_eq!(json["info"]["version"], "1.0.0");
    assert_eq!(json["paths"]["/books"]["get"]["operationId"], "listBooks");
    let changelog = fs::read_to_string(root.join("openapi/CHANGELOG.md")).unwrap();
    assert!(changelog.contains("## 1.0.0 (2026-11-21)"), "{changelog}");
    assert_eq!(problems(&root), Vec::<String>::new());
}

#[test]
fn a_released_version_is_not_released_again() {
    let (_kept, root) = workspace();
    release_on(&root, DAY).unwrap();
    edit(&root, SPEC, "List books", "List all books");
    let refused = release_on(&root, DAY).unwrap_err();
    assert_eq!(refused.code, 1);
    assert!(refused.message.contains("1.0.0 is released already"), "{}", refused.message);
}

#[test]
fn a_version_too_low_for_what_changed_is_refused_and_nothing_is_written() {
    let (_kept, root) = workspace();
    release_on(&root, DAY).unwrap();
    edit(&root, SPEC, "  version: 1.0.0", "  version: 1.0.1");
    edit(&root, SPEC, "maximum: 100", "maximum: 50");
    let before = released(&root, "SHA256SUMS");
    let follows = code(&[("\"maximum\": 100", "\"maximum\": 50")]);
    let refused = release(&root, &follows, DAY).unwrap_err();
    assert!(refused.message.contains("must be 2.0.0"), "{}", refused.message);
    assert_eq!(released(&root, "SHA256SUMS"), before);
    assert!(!root.join(RELEASED).join("1.0.1.yaml").exists());
}

#[test]
fn the_changelog_says_what_changed_and_keeps_what_it_said() {
    let (_kept, root) = workspace();
    release_on(&root, DAY).unwrap();
    edit(&root, SPEC, "  version: 1.0.0", "  version: 1.1.0");
    edit(&root, SPEC, "maximum: 100", "maximum: 200");
    let follows = code(&[("\"maximum\": 100", "\"maximum\": 200")]);
    release(&root, &follows, date(2026, 12, 1)).unwrap();
    commit(&root, "Release");
    let changelog = fs::read_to_string(root.join("openapi/CHANGELOG.md")).unwrap();
    let newer = changelog.find("## 1.1.0 (2026-12-01)").unwrap();
    let older = changelog.find("## 1.0.0 (2026-11-21)").unwrap();
    assert!(newer < older, "{changelog}");
    assert!(changelog[newer..older].contains("limit"), "{changelog}");
    assert_eq!(changelog.matches("# Changelog of").count(), 1);
    assert_eq!(verify::problems(&root, &follows, DAY), Vec::<String>::new());
}

#[test]
fn a_changed_a_missing_and_a_smuggled_release_are_found() {
    let (_kept, root) = workspace();
    release_on(&root, DAY).unwrap();
    edit(&root, &format!("{RELEASED}/1.0.0.yaml"), "List books", "List all books");
    fs::remove_file(root.join(RELEASED).join("1.0.0.json")).unwrap();
    fs::write(root.join(RELEASED).join("0.9.0.yaml"), "openapi: 3.0.3\n").unwrap();
    let found = problems(&root).join("\n");
    for expected in [
        "1.0.0.yaml was changed",
        "1.0.0.json is missing",
        "0.9.0.yaml is not in SHA256SUMS",
        "differs from 1.0.0",
    ] {
        assert!(found.contains(expected), "{expected} is not in:\n{found}");
    }
}

#[test]
fn the_document_may_not_differ_from_the_release_of_its_version_by_a_word() {
    let (_kept, root) = workspace();
    release_on(&root, DAY).unwrap();
    edit(&root, SPEC, "List books", "List all books");
    let found = problems(&root);
    assert_eq!(found.len(), 1, "{found:?}");
    assert!(found[0].contains("raise `info.version`, at least to 1.0.1"), "{found:?}");
    edit(&root, SPEC, "  version: 1.0.0", "  version: 1.0.1");
    assert_eq!(problems(&root), Vec::<String>::new());
}

#[test]
fn a_release_changed_together_with_its_sum_shows_in_the_history() {
    let (_kept, root) = workspace();
    release_on(&root, DAY).unwrap();
    commit(&root, "Release");
    assert_eq!(problems(&root), Vec::<String>::new());

    edit(&root, SPEC, "List books", "List all books");
    fs::remove_dir_all(root.join(RELEASED)).unwrap();
    release_on(&root, DAY).unwrap();
    commit(&root, "Release again");
    let found = problems(&root).join("\n");
    assert!(found.contains("1.0.0.yaml was changed in commit"), "{found}");
}

#[test]
fn without_the_whole_history_the_releases_are_not_verified() {
    let (_kept, root) = workspace();
    release_on(&root, DAY).unwrap();
    commit(&root, "Release");
    let clone = tempfile::tempdir().unwrap();
    let shallow = clone.path().join("shallow");
    let url = format!("file://{}", root.display());
    git(clone.path(), &["clone", "--quiet", "--depth", "1", &url, shallow.to_str().unwrap()]);
    let found = problems(&shallow);
    assert_eq!(found.len(), 1, "{found:?}");
    assert!(found[0].contains("git fetch --unshallow"), "{found:?}");

    fs::remove_dir_all(root.join(".git")).unwrap();
    let found = problems(&root);
    assert_eq!(found.len(), 1, "{found:?}");
    assert!(found[0].contains("the history cannot be read"), "{found:?}");
}

/// Refuses to release the document after an edit, and to keep it once it is released all the same.
fn refused_for(document: (&str, &str), code_edit: Option<(&str, &str)>, message: &str) {
    let (_kept, root) = workspace();
    edit(&root, SPEC, document.0, document.1);
    let code = code(code_edit.as_slice());
    let refused = release(&root, &code, DAY).unwrap_err();
    assert_eq!(refused.code, 1, "{}", refused.message);
    assert!(refused.message.contains(message), "{}", refused.message);
    assert!(!root.join(RELEASED).exists());
}

#[test]
fn a_document_that_is_invalid_or_has_lint_errors_is_not_released() {
    refused_for(("title: Library", "titel: Library"), None, "cargo xtask lint");
    refused_for(("tags: [books]", "tags: [novels]"), None, "cargo xtask lint");
}

#[test]
fn a_document_that_the_code_does_not_follow_is_not_released() {
    refused_for(("maximum: 100\n", "maximum: 50\n"), None, "cargo xtask check");
    refused_for(
        ("version: 1.0.0", "version: 1.0.0"),
        Some(("\"listBooks\"", "\"allBooks\"")),
        "cargo xtask check",
    );
}

#[test]
fn a_comparison_that_was_not_understood_is_no_release() {
    let (_kept, root) = workspace();
    release_on(&root, DAY).unwrap();
    let released = root.join(RELEASED).join("1.0.0.yaml");
    let text = fs::read_to_string(&released).unwrap();
    fs::write(&released, text.replacen("#/components/headers/RetryAfter", "#/components/headers/Missing", 1))
        .unwrap();
    edit(&root, SPEC, "  version: 1.0.0", "  version: 1.1.0");
    let refused = release_on(&root, DAY).unwrap_err();
    assert!(refused.message.contains("not-understood"), "{}", refused.message);
    let found = problems(&root).join("\n");
    assert!(found.contains("it should not have been released"), "{found}");
}

#[test]
fn what_was_released_must_be_what_would_be_released() {
    let (_kept, root) = workspace();
    release_on(&root, DAY).unwrap();
    // The code has moved on and the document has not.
    let moved = code(&[("\"listBooks\"", "\"allBooks\"")]);
    let found = verify::problems(&root, &moved, DAY);
    assert_eq!(found.len(), 1, "{found:?}");
    assert!(found[0].contains("cargo xtask check"), "{found:?}");
}

#[test]
fn a_document_that_cannot_be_read_or_has_no_version_is_not_released() {
    let (_kept, root) = workspace();
    edit(&root, SPEC, "  version: 1.0.0", "  version: soon");
    assert!(release_on(&root, DAY).unwrap_err().message.contains("MAJOR.MINOR.PATCH"));
    fs::write(root.join(SPEC), "a: [").unwrap();
    assert_eq!(release_on(&root, DAY).unwrap_err().code, 2);
    assert!(!root.join(RELEASED).exists());
}
