//! The document of this workspace, and edits of it that know their line.

use std::sync::OnceLock;

use jiff::civil::{Date, date};
use serde_json::Value;
use xtask::check::workspace;
use xtask::compare::compare;
use xtask::finding::Finding;
use xtask::served;
use xtask::source::Sources;
use xtask::written::Document;

pub(crate) const TEXT: &str = include_str!("../../../openapi/animal-store.yaml");

/// A day on which no sunset is near.
pub(crate) const TODAY: Date = date(2026, 12, 1);

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

/// What the code says.
pub(crate) fn code() -> &'static Value {
    static CODE: OnceLock<Value> = OnceLock::new();
    CODE.get_or_init(|| served::document().unwrap())
}

/// The code itself.
pub(crate) fn sources() -> &'static Sources {
    static SOURCES: OnceLock<Sources> = OnceLock::new();
    SOURCES.get_or_init(|| Sources::read(&workspace()))
}

/// What differs between a text and the code.
pub(crate) fn findings(text: &str, code: &Value) -> Vec<Finding> {
    findings_on(text, code, TODAY)
}

/// What differs on a day.
pub(crate) fn findings_on(text: &str, code: &Value, today: Date) -> Vec<Finding> {
    let document = Document::parse("edited.yaml", text).unwrap_or_else(|error| panic!("{}", error.problem));
    compare(&document, code, today)
}

/// Rule and line of each, for messages.
pub(crate) fn told(findings: &[Finding]) -> Vec<(&str, usize)> {
    findings.iter().map(|finding| (finding.rule.as_str(), finding.span.line)).collect()
}
