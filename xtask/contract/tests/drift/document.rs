//! The frozen document, the code's side of it, and edits that know their line.

use std::sync::LazyLock;

use contract::document::Document;
use contract::drift::{Help, compare};
use contract::finding::{Finding, Severity};
use serde_json::Value;

pub(crate) const TEXT: &str = include_str!("../documents/library.yaml");
pub(crate) const CODE: &str = include_str!("../documents/library.code.json");

/// What the code says.
pub(crate) static JSON: LazyLock<Value> = LazyLock::new(|| serde_json::from_str(CODE).unwrap());
/// The same, as it is compared.
pub(crate) static DOCUMENT_OF_CODE: LazyLock<Document> = LazyLock::new(|| parsed(CODE));

/// The document after an edit.
pub(crate) struct Edited {
    pub(crate) text: String,
    /// The line on which the edit begins.
    pub(crate) line: usize,
}

/// Replaces the first `old` that comes after all of `after`, one after the other.
pub(crate) fn edit(after: &[&str], old: &str, new: &str) -> Edited {
    edit_of(TEXT, after, old, new)
}

/// The same with any text.
pub(crate) fn edit_of(text: &str, after: &[&str], old: &str, new: &str) -> Edited {
    let mut start = 0;
    for mark in after.iter().chain([&old]) {
        let found = text[start..].find(mark);
        start += found.unwrap_or_else(|| panic!("{mark:?} is not in the document after {after:?}"));
        if *mark != old {
            start += mark.len();
        }
    }
    let mut edited = text.to_owned();
    edited.replace_range(start..start + old.len(), new);
    let same = old.bytes().zip(new.bytes()).take_while(|(old, new)| old == new).count();
    let added = usize::from(new[same..].starts_with('\n'));
    Edited { text: edited, line: text[..start + same].matches('\n').count() + 1 + added }
}

/// A document that can be read.
pub(crate) fn parsed(text: &str) -> Document {
    Document::parse("edited.yaml", text).unwrap_or_else(|error| panic!("{}", error.problem))
}

/// What differs between a text and the frozen code.
pub(crate) fn findings(text: &str) -> Vec<Finding> {
    compare(&parsed(text), &DOCUMENT_OF_CODE, Help { scaffold: Some("scaffold") })
}

/// The exit code that a command should end with.
pub(crate) fn exit_code(findings: &[Finding]) -> u8 {
    match findings.iter().map(|finding| finding.severity).max() {
        None | Some(Severity::Info | Severity::Warning) => 0,
        Some(Severity::Error) => 1,
        Some(Severity::Unreadable) => 2,
    }
}

/// Rule, line and message of each, for messages.
pub(crate) fn told(findings: &[Finding]) -> String {
    let each = |finding: &Finding| {
        let Finding { rule, pointer, message, .. } = finding;
        format!("\n  line {}: {rule} at {pointer}: {message}", finding.span.line)
    };
    findings.iter().map(each).collect()
}

/// The rules of findings, in their order.
pub(crate) fn names(findings: &[Finding]) -> Vec<&str> {
    findings.iter().map(|finding| finding.rule.as_str()).collect()
}
