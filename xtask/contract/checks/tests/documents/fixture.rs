//! Fixtures: for each rule, edits of the frozen document that break it, and similar edits that do not.
//!
//! An edit is data: values to `set`, `remove` or `rename`, by JSON pointer. It is applied to the text, so that all
//! other places stay the same, and a test can check that a finding is on the line of the edit.

use std::fs;
use std::path::{Path, PathBuf};

use document::{Entry, Node};

// By its path, because the tests of `xtask` use this file too.
#[path = "../../src/explanation/edits.rs"]
mod edits;

/// Edits of the document, and the expected findings.
pub(crate) struct Case {
    /// The rule of the fixture.
    pub(crate) rule: String,
    /// Whether the edits break the rule.
    pub(crate) breaks: bool,
    /// The document before the edits: the frozen one with the edits under `before`.
    pub(crate) base: String,
    /// The document after the edits.
    pub(crate) text: String,
    /// The document of the code with the edits under `code`.
    pub(crate) code: Option<String>,
    /// The expected place of the finding.
    pub(crate) at: String,
    /// Other rules that the edits necessarily break.
    pub(crate) also: Vec<String>,
    /// The text of the edits in the fixture, for messages.
    pub(crate) name: String,
}

/// Returns the cases of all rules.
pub(crate) fn cases(folder: &Path, document: &Path) -> Vec<Case> {
    let original = fs::read_to_string(document).unwrap();
    let mut files: Vec<PathBuf> = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    let mut cases = Vec::new();
    for file in files {
        let rule = file.file_stem().unwrap().to_str().unwrap().to_owned();
        let text = fs::read_to_string(&file).unwrap();
        let fixture = document::read(&text).unwrap_or_else(|problem| panic!("{}: {problem}", file.display()));
        for (list, breaks) in [("breaks", true), ("keeps", false)] {
            let items = fixture.get(list).map(Node::items).unwrap_or_default();
            assert!(!items.is_empty(), "{}: no `{list}`", file.display());
            for (number, item) in items.iter().enumerate() {
                cases.push(case(&rule, breaks, item, &original, format!("{rule}.yaml: {list} {number}")));
            }
        }
    }
    cases
}

fn case(rule: &str, breaks: bool, item: &Node, original: &str, name: String) -> Case {
    let before = item.get("before").map(Node::entries).unwrap_or_default().iter();
    let base = before.fold(original.to_owned(), |text, edit| edited(&text, edit, &name));
    let mut text = base.clone();
    let mut code = None;
    let mut at = None;
    let mut also = Vec::new();
    for entry in item.entries() {
        match entry.key.as_str() {
            "set" | "remove" | "rename" => text = edited(&text, entry, &name),
            "code" => {
                let original = fs::read_to_string(document().with_extension("code.json")).unwrap();
                let edits = entry.value.entries().iter();
                code = Some(edits.fold(original, |text, edit| edited(&text, edit, &name)));
            }
            "before" => {}
            "at" => at = entry.value.as_str().map(str::to_owned),
            "also" => {
                also = entry.value.items().iter().map(|item| item.as_str().unwrap().to_owned()).collect();
            }
            other => panic!("{name}: `{other}` is not a key of a fixture"),
        }
    }
    assert_eq!(breaks, at.is_some(), "{name}: a case that breaks the rule, and no other, has `at`");
    assert!(text != base || code.is_some(), "{name}: it changes nothing");
    let at = at.unwrap_or_default();
    Case { rule: rule.to_owned(), breaks, base, text, code, at, also, name }
}

fn edited(text: &str, edit: &Entry, name: &str) -> String {
    edits::edited(text, edit).unwrap_or_else(|| panic!("{name}: no place for `{}`", edit.key))
}

/// Returns the path of the document that fixtures edit.
pub(crate) fn document() -> PathBuf {
    PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/documents/library.yaml"))
}
