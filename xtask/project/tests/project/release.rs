//! Releases: written files, errors, and the findings of `--verify`.
//!
//! The document and the code's document are frozen, so that the tests do not depend on the product.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use changes::Release;
use document::Document;
use fixtures::{CODE, LIBRARY};
use jiff::civil::{Date, date};
use project::release::{release, verify};
use project::workspace::{RELEASED, SPEC};
use tempfile::TempDir;

const DAY: Date = date(2026, 11, 21);

/// Creates a workspace with the document, no release, and a Git repository with one commit.
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

/// Returns the code's document, with each `from` replaced by `to`.
fn code(edits: &[(&str, &str)]) -> Document {
    let text = edits.iter().fold(CODE.to_owned(), |text, (from, to)| {
        assert!(text.contains(from), "{from}");
        text.replacen(from, to, 1)
    });
    Document::parse("the code", &text).unwrap()
}

fn release_on(root: &Path, date: Date) -> Result<String, String> {
    release(root, &code(&[]), date).map(|version| version.to_string())
}

fn problems(root: &Path) -> Vec<String> {
    verify::problems(root, DAY)
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
fn a_release_has_yaml_json_and_a_changelog_entry() {
    let (_kept, root) = workspace();
    assert_eq!(release_on(&root, DAY).unwrap(), "1.0.0");
    assert_eq!(released(&root, "1.0.0.yaml"), fs::read_to_string(root.join(SPEC)).unwrap());
    let json = released(&root, "1.0.0.json");
    assert!(
        json.starts_with("{\n  \"openapi\": \"3.0.3\",\n  \"info\": {"),
        "the order differs from the file: {json:.100}"
    );
    let json: serde_json::Value = serde_json::from_str(&json).unwrap();
    assert_eq!(json["info"]["version"], "1.0.0");
    assert_eq!(json["paths"]["/books"]["get"]["operationId"], "listBooks");
    let changelog = fs::read_to_string(root.join("openapi/CHANGELOG.md")).unwrap();
    assert!(changelog.contains("## 1.0.0 (2026-11-21)"), "{changelog}");
    let changes: Release = serde_json::from_str(&released(&root, "1.0.0.changes.json")).unwrap();
    assert_eq!((&*changes.date, changes.previous, changes.changes.len()), ("2026-11-21", None, 0));
    assert_eq!(problems(&root), Vec::<String>::new());
}

#[test]
fn a_released_version_is_not_released_again() {
    let (_kept, root) = workspace();
    release_on(&root, DAY).unwrap();
    edit(&root, SPEC, "List books", "List all books");
    let error = release_on(&root, DAY).unwrap_err();
    assert!(error.contains("1.0.0 is released already"), "{error}");
}

#[test]
fn a_release_that_failed_can_be_repeated() {
    let (_kept, root) = workspace();
    let obstacle = root.join("openapi/CHANGELOG.md");
    fs::create_dir(&obstacle).unwrap();
    let error = release_on(&root, DAY).unwrap_err();
    assert!(error.contains("CHANGELOG.md") && error.contains("undo what was written with git"), "{error}");
    fs::remove_dir(obstacle).unwrap();
    git(&root, &["clean", "--quiet", "-d", "--force", "openapi"]);
    assert_eq!(release_on(&root, DAY).unwrap(), "1.0.0");
    assert_eq!(problems(&root), Vec::<String>::new());
}

#[test]
fn a_version_too_low_for_its_changes_is_an_error_and_nothing_is_written() {
    let (_kept, root) = workspace();
    release_on(&root, DAY).unwrap();
    edit(&root, SPEC, "  version: 1.0.0", "  version: 1.0.1");
    edit(&root, SPEC, "maximum: 100", "maximum: 50");
    let before = released(&root, "SHA256SUMS");
    let follows = code(&[("\"maximum\": 100", "\"maximum\": 50")]);
    let error = release(&root, &follows, DAY).unwrap_err();
    assert!(error.contains("one breaking change needs 2.0.0"), "{error}");
    assert_eq!(released(&root, "SHA256SUMS"), before);
    assert!(!root.join(RELEASED).join("1.0.1.yaml").exists());
}

#[test]
fn a_release_adds_to_the_changelog() {
    let (_kept, root) = workspace();
    release_on(&root, DAY).unwrap();
    edit(&root, "openapi/CHANGELOG.md", "Generated by", "Edited after");
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
    assert!(changelog.starts_with("# Changelog of"), "{changelog}");
    assert!(changelog[..newer].contains("Edited after"), "{changelog}");
    assert_eq!(changelog.matches("# Changelog of").count(), 1);
    let changes: Release = serde_json::from_str(&released(&root, "1.1.0.changes.json")).unwrap();
    assert_eq!(changes.previous.as_deref(), Some("1.0.0"));
    assert!(changelog.contains(changes.to_markdown().trim_end()), "{changelog}");
    assert_eq!(verify::problems(&root, DAY), Vec::<String>::new());
}

#[test]
fn changed_missing_and_added_files_are_found() {
    let (_kept, root) = workspace();
    release_on(&root, DAY).unwrap();
    edit(&root, &format!("{RELEASED}/1.0.0.yaml"), "List books", "List all books");
    fs::remove_file(root.join(RELEASED).join("1.0.0.json")).unwrap();
    fs::write(root.join(RELEASED).join("0.9.0.yaml"), "openapi: 3.0.3\n").unwrap();
    let found = problems(&root).join("\n");
    for expected in [
        "0.9.0.changes.json: ",
        "1.0.0.yaml was changed",
        "1.0.0.json is missing",
        "0.9.0.yaml is not in SHA256SUMS",
        "differs from 1.0.0",
    ] {
        assert!(found.contains(expected), "{expected} is not in:\n{found}");
    }
    fs::remove_file(root.join(RELEASED).join("SHA256SUMS")).unwrap();
    let found = problems(&root).join("\n");
    assert!(found.contains("SHA256SUMS is missing") && !found.contains("delete"), "{found}");
}

#[test]
fn the_changes_of_a_release_belong_to_it() {
    for (from, to, expected) in [
        ("\"version\": \"1.0.0\"", "\"version\": \"1.0.1\"", "must have the version 1.0.0"),
        ("\"previous\": null", "\"previous\": \"0.9.0\"", "must have the version 1.0.0"),
        ("\"date\": \"2026-11-21\"", "\"date\": \"soon\"", "must have the version 1.0.0"),
        ("\"changes\"", "\"Changes\"", "unknown field"),
    ] {
        let (_kept, root) = workspace();
        release_on(&root, DAY).unwrap();
        let file = format!("{RELEASED}/1.0.0.changes.json");
        edit(&root, &file, from, to);
        let found = problems(&root).join("\n");
        assert!(found.contains(expected) && found.contains("1.0.0.changes.json was changed"), "{found}");
    }
}

#[test]
fn a_document_with_a_released_version_must_be_identical_to_it() {
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
fn a_release_changed_together_with_its_checksum_is_found_in_the_history() {
    let (_kept, root) = workspace();
    release_on(&root, DAY).unwrap();
    commit(&root, "Release");
    assert_eq!(problems(&root), Vec::<String>::new());

    edit(&root, SPEC, "List books", "List all books");
    fs::remove_dir_all(root.join(RELEASED)).unwrap();
    release_on(&root, DAY).unwrap();
    commit(&root, "Release again");
    let found = problems(&root).join("\n");
    assert!(found.contains("1.0.0.yaml was changed in a commit"), "{found}");
}

#[test]
fn without_the_complete_history_verification_fails() {
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

/// Checks that the document cannot be released after an edit, and that nothing is written.
fn is_not_released(document: (&str, &str), code_edit: Option<(&str, &str)>, message: &str) {
    let (_kept, root) = workspace();
    edit(&root, SPEC, document.0, document.1);
    let code = code(code_edit.as_slice());
    let error = release(&root, &code, DAY).unwrap_err();
    assert!(error.contains(message), "{error}");
    assert!(!root.join(RELEASED).exists());
}

#[test]
fn a_document_that_is_invalid_or_has_lint_errors_is_not_released() {
    is_not_released(("title: Library", "titel: Library"), None, "cargo xtask lint");
    is_not_released(("tags: [books]", "tags: [novels]"), None, "cargo xtask lint");
}

#[test]
fn a_document_with_drift_is_not_released() {
    is_not_released(("maximum: 100\n", "maximum: 50\n"), None, "cargo xtask check");
    is_not_released(
        ("version: 1.0.0", "version: 1.0.0"),
        Some(("\"listBooks\"", "\"allBooks\"")),
        "cargo xtask check",
    );
}

#[test]
fn a_document_that_cannot_be_compared_is_not_released() {
    let (_kept, root) = workspace();
    release_on(&root, DAY).unwrap();
    let released = root.join(RELEASED).join("1.0.0.yaml");
    let text = fs::read_to_string(&released).unwrap();
    fs::write(&released, text.replacen("#/components/headers/RetryAfter", "#/components/headers/Missing", 1))
        .unwrap();
    edit(&root, SPEC, "  version: 1.0.0", "  version: 1.1.0");
    let error = release_on(&root, DAY).unwrap_err();
    assert!(error.contains("not-understood"), "{error}");
    let found = problems(&root).join("\n");
    assert!(found.contains("it must not have been released"), "{found}");
}

#[test]
fn an_unreadable_document_or_one_without_a_version_is_not_released() {
    let (_kept, root) = workspace();
    edit(&root, SPEC, "  version: 1.0.0", "  version: soon");
    assert!(release_on(&root, DAY).unwrap_err().contains("must be like '1.2.0'"));
    fs::write(root.join(SPEC), "a: [").unwrap();
    assert!(release_on(&root, DAY).unwrap_err().contains("line 1"));
    assert!(!root.join(RELEASED).exists());
}
