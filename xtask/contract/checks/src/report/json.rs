//! Findings for a program: one array, whose shape `cargo xtask check --help` describes.

use document::Span;
use serde::{Serialize, Serializer};
use serde_json::{Value, json};

use super::{About, Sources, end, from_root};
use crate::finding::Finding;

pub(super) fn render(about: &[About<'_>], sources: &Sources) -> String {
    let shown = about.iter().flat_map(|about| {
        let file = from_root(sources.root(), about.path);
        about.findings.iter().map(move |finding| show(finding, &file, about.text, sources))
    });
    // Serializing strings and numbers cannot fail.
    serde_json::to_string_pretty(&shown.collect::<Vec<_>>()).unwrap_or_default() + "\n"
}

/// A JSON object that keeps the order of its keys.
struct Ordered(Vec<(&'static str, Value)>);

impl Serialize for Ordered {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.iter().map(|(key, value)| (key, value)))
    }
}

fn show(finding: &Finding, file: &str, text: &str, sources: &Sources) -> Ordered {
    let source = finding.source.as_ref().map(|source| {
        let Span { line, column, .. } = source.span;
        let (end_line, end_column) = end(source.span, sources.text(&source.file).unwrap_or_default());
        let end = json!({ "line": end_line, "column": end_column });
        json!({ "file": source.file, "line": line, "column": column, "end": end })
    });
    let (end_line, end_column) = end(finding.span, text);
    Ordered(vec![
        ("rule", json!(finding.rule)),
        ("severity", json!(finding.severity)),
        ("message", json!(finding.message)),
        ("pointer", json!(finding.pointer)),
        ("file", json!(file)),
        ("line", json!(finding.span.line)),
        ("column", json!(finding.span.column)),
        ("end", json!({ "line": end_line, "column": end_column })),
        ("source", json!(source)),
        ("elsewhere", json!(finding.elsewhere.as_ref().map(ToString::to_string).unwrap_or_default())),
        ("was", json!(finding.elsewhere.as_ref().map_or("", |place| &place.pointer))),
        ("accepted", json!(finding.accepted)),
        ("says", json!(finding.says.clone().unwrap_or_default())),
        ("impact", json!(finding.impact)),
        ("fix", json!(finding.fix)),
        ("operations", json!(finding.operations)),
        ("repairs", json!(finding.repairs)),
    ])
}
