//! Releases: what is written, what is refused, and what a later look finds.

use std::fs;
use std::io::{Write, stderr};
use std::path::{Path, PathBuf};
use std::process::Command;

use jiff::civil::{Date, date};
use tempfile::TempDir;
use xtask::release::verify::problems;
use xtask::release::{RELEASED, SPEC, release};

const DAY: Date = date(2026, 11, 21);

/// A workspace with the real document and nothing released.
fn workspace() -> (TempDir, PathBuf) {
    let directory = tempfile::tempdir().unwrap();
    let root = directory.path().to_owned();
    fs::create_dir_all(root.join("openapi")).unwrap();
    let real = Path::new(env!("CARGO_MANIFEST_DIR")).join("..").join(SPEC);
    fs::copy(real, root.join(SPEC)).unwrap();
    edit(&root, SPEC, &current_version(&root), "1.0.0");
    (directory, root)
}

fn current_version(root: &Path) -> String {
    let text = fs::read_to_string(root.join(SPEC)).unwrap();
    let line = text.lines().find(|line| line.starts_with("  version: ")).unwrap();
    line.trim_start_matches("  version: ").to_owned()
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
    assert_eq!(release(&root, DAY).unwrap().to_string(), "1.0.0");
    assert_eq!(released(&root, "1.0.0.yaml"), fs::read_to_string(root.join(SPEC)).unwrap());
    let json = released(&root, "1.0.0.json");
    assert!(
        json.starts_with("{\n  \"openapi\": \"3.0.3\",\n  \"info\": {"),
        "not in the order of the file: {json:.100}"
    );
    let json: serde_json::Value = serde_json::from_str(&json).unwrap();
    assert_eq!(json["info"]["version"], "1.0.0");
    assert_eq!(json["paths"]["/pets"]["get"]["operationId"], "listPets");
    let changelog = fs::read_to_string(root.join("openapi/CHANGELOG.md")).unwrap();
    assert!(changelog.contains("## 1.0.0 (2026-11-21)"), "{changelog}");
    assert_eq!(problems(&root), Vec::<String>::new());
}

#[test]
fn a_released_version_is_not_released_again() {
    let (_kept, root) = workspace();
    release(&root, DAY).unwrap();
    edit(&root, SPEC, "List animals", "List all animals");
    let refused = release(&root, DAY).unwrap_err();
    assert_eq!(refused.code, 1);
    assert!(refused.message.contains("1.0.0 is released already"), "{}", refused.message);
}

#[test]
fn a_version_too_low_for_what_changed_is_refused_and_nothing_is_written() {
    let (_kept, root) = workspace();
    release(&root, DAY).unwrap();
    edit(&root, SPEC, "  version: 1.0.0", "  version: 1.0.1");
    edit(&root, SPEC, "maximum: 100", "maximum: 50");
    let before = released(&root, "SHA256SUMS");
    let refused = release(&root, DAY).unwrap_err();
    assert!(refused.message.contains("must be 2.0.0"), "{}", refused.message);
    assert_eq!(released(&root, "SHA256SUMS"), before);
    assert!(!root.join(RELEASED).join("1.0.1.yaml").exists());
}

#[test]
fn the_changelog_says_what_changed_and_keeps_what_it_said() {
    let (_kept, root) = workspace();
    release(&root, DAY).unwrap();
    edit(&root, SPEC, "  version: 1.0.0", "  version: 1.1.0");
    edit(&root, SPEC, "maximum: 100", "maximum: 200");
    release(&root, date(2026, 12, 1)).unwrap();
    let changelog = fs::read_to_string(root.join("openapi/CHANGELOG.md")).unwrap();
    let newer = changelog.find("## 1.1.0 (2026-12-01)").unwrap();
    let older = changelog.find("## 1.0.0 (2026-11-21)").unwrap();
    assert!(newer < older, "{changelog}");
    assert!(changelog[newer..older].contains("limit"), "{changelog}");
    assert_eq!(changelog.matches("# Changelog of").count(), 1);
    assert_eq!(problems(&root), Vec::<String>::new());
}

#[test]
fn a_changed_a_missing_and_a_smuggled_release_are_found() {
    let (_kept, root) = workspace();
    release(&root, DAY).unwrap();
    edit(&root, &format!("{RELEASED}/1.0.0.yaml"), "List animals", "List all animals");
    fs::remove_file(root.join(RELEASED).join("1.0.0.json")).unwrap();
    fs::write(root.join(RELEASED).join("0.9.0.yaml"), "openapi: 3.0.3\n").unwrap();
    let found = problems(&root).join("\n");
    for expected in
        ["1.0.0.yaml was changed", "1.0.0.json is gone", "0.9.0.yaml is no release", "differs from 1.0.0"]
    {
        assert!(found.contains(expected), "{expected} is not in:\n{found}");
    }
}

#[test]
fn the_document_may_not_differ_from_the_release_of_its_version_by_a_word() {
    let (_kept, root) = workspace();
    release(&root, DAY).unwrap();
    edit(&root, SPEC, "List animals", "List all animals");
    let found = problems(&root);
    assert_eq!(found.len(), 1, "{found:?}");
    assert!(found[0].contains("raise `info.version`, at least to 1.0.1"), "{found:?}");
    edit(&root, SPEC, "  version: 1.0.0", "  version: 1.0.1");
    assert_eq!(problems(&root), Vec::<String>::new());
}

/// Whether git is there. Where it is not, says past the test harness what is left out.
fn has_git() -> bool {
    let there = Command::new("git").arg("--version").output().is_ok_and(|output| output.status.success());
    let required = std::env::var_os("STORE_TESTS_REQUIRE_TOOLS").is_some_and(|value| value == "1");
    assert!(there || !required, "git is not installed");
    if !there {
        // `eprintln!` would be kept from the reader as long as the test passes.
        let _ = writeln!(stderr(), "LEFT OUT: releases in the history: git is not installed");
    }
    there
}

#[test]
fn a_release_changed_together_with_its_sum_shows_in_the_history() {
    if !has_git() {
        return;
    }
    let (_kept, root) = workspace();
    let git = |arguments: &[&str]| {
        let done = Command::new("git")
            .args(["-c", "user.name=Test", "-c", "user.email=test@example.com"])
            .args(arguments)
            .current_dir(&root)
            .output()
            .unwrap();
        assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    };
    git(&["init", "--quiet"]);
    release(&root, DAY).unwrap();
    git(&["add", "."]);
    git(&["commit", "--quiet", "-m", "Release"]);
    assert_eq!(problems(&root), Vec::<String>::new());

    edit(&root, SPEC, "List animals", "List all animals");
    fs::remove_dir_all(root.join(RELEASED)).unwrap();
    release(&root, DAY).unwrap();
    git(&["add", "."]);
    git(&["commit", "--quiet", "-m", "Release again"]);
    let found = problems(&root).join("\n");
    assert!(found.contains("1.0.0.yaml was changed in commit"), "{found}");
}

#[test]
fn a_document_that_cannot_be_read_or_has_no_version_is_not_released() {
    let (_kept, root) = workspace();
    edit(&root, SPEC, "  version: 1.0.0", "  version: soon");
    assert!(release(&root, DAY).unwrap_err().message.contains("MAJOR.MINOR.PATCH"));
    fs::write(root.join(SPEC), "a: [").unwrap();
    assert_eq!(release(&root, DAY).unwrap_err().code, 2);
    assert!(!root.join(RELEASED).exists());
}
