//! The frozen document, the document of its code, and edits with their lines.

use std::sync::LazyLock;

use checks::drift::compare;
use document::Document;
use document::finding::{Finding, Severity};
use serde_json::Value;

pub(crate) const TEXT: &str = include_str!("../documents/library.yaml");
pub(crate) const CODE: &str = include_str!("../documents/library.code.json");

/// The document of the code as JSON.
pub(crate) static JSON: LazyLock<Value> = LazyLock::new(|| serde_json::from_str(CODE).unwrap());
/// The document of the code, parsed.
pub(crate) static DOCUMENT_OF_CODE: LazyLock<Document> = LazyLock::new(|| parsed(CODE));

/// The document after an edit.
pub(crate) struct Edited {
    pub(crate) text: String,
    /// The line on which the edit begins.
    pub(crate) line: usize,
}

/// Replaces the first `old` after all texts of `after`, which are searched one after the other.
pub(crate) fn edit(after: &[&str], old: &str, new: &str) -> Edited {
    edit_of(TEXT, after, old, new)
}

/// Same as [`edit`] with any text.
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

/// Parses a valid document.
pub(crate) fn parsed(text: &str) -> Document {
    Document::parse("edited.yaml", text).unwrap_or_else(|error| panic!("{}", error.problem))
}

/// Returns the differences between a text and the frozen code.
pub(crate) fn findings(text: &str) -> Vec<Finding> {
    findings_of(&parsed(text))
}

/// Returns the differences between a document and the frozen code.
pub(crate) fn findings_of(document: &Document) -> Vec<Finding> {
    compare(document, &DOCUMENT_OF_CODE)
}

/// Returns the expected exit code of a command.
pub(crate) fn exit_code(findings: &[Finding]) -> u8 {
    match findings.iter().map(|finding| finding.severity).max() {
        None | Some(Severity::Info | Severity::Warning) => 0,
        Some(Severity::Error) => 1,
        Some(Severity::Unreadable) => 2,
    }
}

/// Returns rule, line and message of each finding, for messages of tests.
pub(crate) fn summary(findings: &[Finding]) -> String {
    let each = |finding: &Finding| {
        let Finding { rule, pointer, message, .. } = finding;
        format!("\n  line {}: {rule} at {pointer}: {message}", finding.span.line)
    };
    findings.iter().map(each).collect()
}

/// Returns the rules of the findings, in order.
pub(crate) fn names(findings: &[Finding]) -> Vec<&str> {
    findings.iter().map(|finding| finding.rule.as_str()).collect()
}
