//! The command as it is run: what it prints, and how it exits.

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

use crate::documents::{ANIMALS, edit};

fn run(directory: &Path, arguments: &[&str]) -> (Option<i32>, String) {
    let Output { status, stdout, stderr } = Command::new(env!("CARGO_BIN_EXE_xtask"))
        .arg("breaking")
        .args(arguments)
        .current_dir(directory)
        .env("CARGO_MANIFEST_DIR", directory.join("xtask"))
        .output()
        .unwrap();
    let text = format!("{}{}", String::from_utf8_lossy(&stdout), String::from_utf8_lossy(&stderr));
    (status.code(), text)
}

fn workspace(spec: &str) -> tempfile::TempDir {
    let directory = tempfile::tempdir().unwrap();
    fs::create_dir_all(directory.path().join("openapi/released")).unwrap();
    fs::write(directory.path().join("openapi/library.yaml"), spec).unwrap();
    directory
}

#[test]
fn nothing_released_and_nothing_named_is_no_comparison() {
    let directory = workspace(ANIMALS);
    let (code, said) = run(directory.path(), &[]);
    assert_eq!(code, Some(2), "{said}");
    assert!(said.contains("nothing was released yet"), "{said}");
}

#[test]
fn the_newest_release_is_the_base() {
    let (revision, _) = edit(ANIMALS, "- name: limit", "maximum: 100", "maximum: 50");
    let directory = workspace(&revision);
    let released = directory.path().join("openapi/released");
    fs::write(released.join("1.0.0.yaml"), ANIMALS).unwrap();
    let (code, said) = run(directory.path(), &["--today", "2026-11-21"]);
    assert_eq!(code, Some(1), "{said}");
    for words in [
        "error[request-max-decreased]: Parameter `limit` of operation `listBooks`: `maximum` changed from 100 to 50",
        "openapi/library.yaml:100:22",
        "was at: openapi/released/1.0.0.yaml:100:22",
        "Requests that the old version accepted are refused.",
        "api-version-not-bumped",
        "2 errors, 0 warnings, 0 for information",
    ] {
        assert!(said.contains(words), "{words:?} is not in\n{said}");
    }
    fs::write(released.join("1.0.1.yaml"), &revision).unwrap();
    let (code, said) =
        run(directory.path(), &["--today", "2026-11-21", "--base", "openapi/released/1.0.1.yaml"]);
    assert_eq!(code, Some(0), "{said}");
}

#[test]
fn a_new_major_version_is_fine_where_only_the_version_is_asked_for() {
    let (revision, _) = edit(ANIMALS, "- name: limit", "maximum: 100", "maximum: 50");
    let (revision, _) = edit(&revision, "", "version: 1.0.0", "version: 2.0.0");
    let directory = workspace(&revision);
    fs::write(directory.path().join("openapi/released/1.0.0.yaml"), ANIMALS).unwrap();
    assert_eq!(run(directory.path(), &[]).0, Some(1));
    assert_eq!(run(directory.path(), &["--fail-on", "version"]).0, Some(0));
}

#[test]
fn what_cannot_be_read_exits_with_2() {
    let directory = workspace("openapi: [");
    fs::write(directory.path().join("openapi/released/1.0.0.yaml"), ANIMALS).unwrap();
    let (code, said) = run(directory.path(), &[]);
    assert_eq!(code, Some(2), "{said}");
    assert!(said.contains("openapi/library.yaml:1"), "{said}");
    let (code, said) = run(directory.path(), &["--base", "nowhere.yaml"]);
    assert_eq!(code, Some(2), "{said}");
    assert!(said.contains("There is no such file"), "{said}");

    let directory = workspace(ANIMALS);
    fs::write(directory.path().join("openapi/released/1.0.0.yaml"), ANIMALS).unwrap();
    assert_eq!(run(directory.path(), &[]).0, Some(0));
    fs::write(directory.path().join("openapi/waivers.toml"), "[[").unwrap();
    let (code, said) = run(directory.path(), &[]);
    assert_eq!(code, Some(2), "{said}");
    assert!(said.contains("openapi/waivers.toml:1"), "{said}");

    let broken = ANIMALS.replace("#/components/headers/RetryAfter", "#/components/headers/Nobody");
    let directory = workspace(&broken);
    fs::write(directory.path().join("openapi/released/1.0.0.yaml"), ANIMALS).unwrap();
    let (code, said) = run(directory.path(), &[]);
    assert_eq!(code, Some(2), "{said}");
    assert!(said.contains("the reference `#/components/headers/Nobody` leads nowhere"), "{said}");
}

#[test]
fn the_rules_are_printed() {
    let directory = workspace(ANIMALS);
    let (code, said) = run(directory.path(), &["--rules"]);
    assert_eq!(code, Some(0));
    assert!(said.contains("| `request-parameter-max-decreased` | error | major | error |"), "{said}");
}
