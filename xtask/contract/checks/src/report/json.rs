//! Findings for a program: one array, whose shape [`JSON`](super::JSON) describes.

use document::Span;
use serde_json::{Value, json};

use super::{Report, end};
use crate::finding::{Finding, Location};

pub(super) fn render(report: &Report<'_>) -> String {
    let shown = report.findings().map(|(path, file, finding)| show(finding, &path, &file.text, report));
    format!("{:#}\n", shown.collect::<Value>())
}

fn show(finding: &Finding, path: &str, text: &str, report: &Report<'_>) -> Value {
    let end = |span: Span, text: &str| {
        let (line, column) = end(span, text);
        json!({ "line": line, "column": column })
    };
    let source = finding.source.as_ref().map(|Location { file, span, .. }| {
        let end = end(*span, report.sources.text(file));
        json!({ "file": file, "line": span.line, "column": span.column, "end": end })
    });
    json!({
        "rule": finding.rule,
        "severity": finding.severity,
        "message": finding.message,
        "pointer": finding.pointer,
        "file": path,
        "line": finding.span.line,
        "column": finding.span.column,
        "end": end(finding.span, text),
        "source": source,
        "elsewhere": finding.elsewhere.as_ref().map(ToString::to_string).unwrap_or_default(),
        "was": finding.elsewhere.as_ref().map_or("", |place| &place.pointer),
        "accepted": finding.accepted,
        "says": finding.says.clone().unwrap_or_default(),
        "impact": finding.impact,
        "fix": finding.fix,
        "operations": finding.operations,
        "repairs": finding.repairs,
    })
}
