//! The frozen document of the code, and the differences of other documents from it.

use std::sync::LazyLock;

use checks::drift::compare;
use checks::finding::{Finding, Severity};
use document::Document;
use fixtures::CODE;
use serde_json::Value;

/// The document of the code as JSON.
pub(crate) static JSON: LazyLock<Value> = LazyLock::new(|| serde_json::from_str(CODE).unwrap());
/// The document of the code, parsed.
pub(crate) static DOCUMENT_OF_CODE: LazyLock<Document> = LazyLock::new(|| parsed(CODE));

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

/// Returns the rules of the findings, in order.
pub(crate) fn names(findings: &[Finding]) -> Vec<&str> {
    findings.iter().map(|finding| finding.rule.as_str()).collect()
}
