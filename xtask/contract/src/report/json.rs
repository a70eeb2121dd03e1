//! Findings for a program: one array, whose shape `cargo xtask check --help` describes.

use serde_json::{Value, json};

use super::{About, Sources, from_root};
use crate::document::Span;
use crate::finding::Finding;

pub(super) fn render(about: &[About<'_>], sources: &Sources) -> String {
    let shown = about.iter().flat_map(|about| {
        let file = from_root(sources.root(), about.path);
        about.findings.iter().map(move |finding| show(finding, &file, about.text))
    });
    format!("{:#}\n", shown.collect::<Value>())
}

fn show(finding: &Finding, file: &str, text: &str) -> Value {
    let source = finding
        .source
        .as_ref()
        .map(|source| json!({ "file": source.file, "line": source.span.line, "column": source.span.column }));
    let (end_line, end_column) = end(finding, text);
    json!({
        "rule": finding.rule,
        "severity": finding.severity.to_string(),
        "message": finding.message,
        "pointer": finding.pointer,
        "file": file,
        "line": finding.span.line,
        "column": finding.span.column,
        "end": { "line": end_line, "column": end_column },
        "source": source,
        "elsewhere": finding.elsewhere,
        "says": { "document": finding.file, "code": finding.code },
        "fix": finding.fix,
        "operations": finding.operations,
    })
}

/// Line and column of the place after the last character of a finding.
pub(super) fn end(finding: &Finding, text: &str) -> (usize, usize) {
    let Span { start, end, line, column } = finding.span;
    let start = text.floor_char_boundary(start);
    let length = end.saturating_sub(start);
    let end = Span::within(&text[start..], length..length);
    match end.line {
        1 => (line, column + end.column - 1),
        lines => (line + lines - 1, end.column),
    }
}
