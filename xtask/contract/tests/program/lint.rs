//! The command as CI runs it.

use std::path::Path;
use std::process::{Command, Output};

use tempfile::TempDir;

fn xtask(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_xtask")).args(arguments).output().unwrap()
}

fn lint(file: &Path) -> (Option<i32>, String) {
    let output = xtask(&["lint", "--today", "2026-11-21", "--spec", file.to_str().unwrap()]);
    assert_eq!(String::from_utf8_lossy(&output.stderr), "");
    (output.status.code(), String::from_utf8(output.stdout).unwrap())
}

fn lint_bytes(bytes: &[u8]) -> (Option<i32>, String) {
    let directory = TempDir::new().unwrap();
    let file = directory.path().join("edited.yaml");
    std::fs::write(&file, bytes).unwrap();
    lint(&file)
}

fn edited(old: &str, new: &str) -> String {
    let text = std::fs::read_to_string(crate::fixture::document()).unwrap();
    assert_eq!(text.matches(old).count(), 1, "{old}");
    text.replace(old, new)
}

#[test]
fn the_document_is_clean() {
    let output = xtask(&["lint", "--today", "2026-11-21"]);
    let printed = String::from_utf8_lossy(&output.stdout);
    assert_eq!(output.status.code(), Some(0), "{printed}");
    assert!(printed.contains("nothing to mend"), "{printed}");
}

#[test]
fn a_finding_is_shown_with_its_line_and_exits_with_1() {
    let text = edited("summary: List books", "sumary: List books");
    let line = text.lines().position(|line| line.contains("sumary")).unwrap() + 1;
    let (code, printed) = lint_bytes(text.as_bytes());
    assert_eq!(code, Some(1), "{printed}");
    assert!(printed.contains("struct-keyword") && printed.contains("Did you mean `summary`?"), "{printed}");
    assert!(printed.contains(&format!(":{line}:")), "{printed}");
    assert!(printed.contains("2 errors"), "{printed}");
}

#[test]
fn a_warning_is_shown_and_exits_with_0() {
    let (code, printed) = lint_bytes(edited("operationId: listBooks", "operationId: petsList").as_bytes());
    assert_eq!(code, Some(0), "{printed}");
    assert!(printed.contains("operation-id-verb") && printed.contains("1 warning"), "{printed}");
}

#[test]
fn what_cannot_be_read_exits_with_2() {
    for (bytes, line) in [
        (b"".as_slice(), 1),
        (b"a: 1\nb: \xff\n", 2),
        (b"a: 1\nb: [\n", 2),
        (b"- a\n- b\n", 1),
        (b"openapi: 3.0.3\nopenapi: 3.0.3\n", 2),
        (b"just words", 1),
    ] {
        let (code, printed) = lint_bytes(bytes);
        assert_eq!(code, Some(2), "{bytes:?}: {printed}");
        assert!(printed.contains(&format!(":{line}:")), "{bytes:?}: {printed}");
    }
    let (code, printed) = lint(Path::new("/nowhere/library.yaml"));
    assert_eq!(code, Some(2), "{printed}");
    assert!(printed.contains("no such file"), "{printed}");
}

#[test]
fn the_rules_are_listed() {
    let output = xtask(&["lint", "--rules"]);
    let printed = String::from_utf8(output.stdout).unwrap();
    assert_eq!(output.status.code(), Some(0));
    for rule in xtask::lint::rules() {
        assert!(printed.contains(&format!("`{}`", rule.name)), "{}", rule.name);
        assert!(printed.contains(rule.demand), "{}", rule.demand);
    }
}
