//! Findings as workflow commands of GitHub Actions, which displays them as annotations.
//!
//! Source: "Workflow commands for GitHub Actions", and the escapes of the GitHub Actions runner.

use document::Span;

use super::{Report, end};
use crate::finding::{Finding, Severity};

/// Returns an annotation of the document for each finding, and one of the code if the finding has a place in it.
pub(super) fn render(report: &Report<'_>) -> String {
    let annotations = report.findings().map(|(path, file, finding)| {
        let level = match finding.severity {
            Severity::Info => "notice",
            Severity::Warning => "warning",
            Severity::Error | Severity::Unreadable => "error",
        };
        let code = finding.source.as_ref().map(|code| format!("The code: {}:{}", code.file, code.span.line));
        let elsewhere = finding.elsewhere.as_ref().map(|place| format!("Elsewhere: {place}"));
        let places = [&code, &elsewhere].into_iter().flatten().map(String::as_str);
        let lines: Vec<&str> =
            [&*finding.message].into_iter().chain(places).chain(finding.advice()).collect();
        let mut annotations =
            annotation(level, finding, (&path, finding.span, &file.text), &lines.join("\n"));
        if let Some(code) = &finding.source {
            // A notice, because GitHub displays ten errors of a step, and this is the second place of one error.
            let message = format!("{}\nThe document: {path}:{}", finding.message, finding.span.line);
            let place = (&*code.file, code.span, report.sources.text(&code.file));
            annotations += &annotation("notice", finding, place, &message);
        }
        annotations
    });
    annotations.collect()
}

fn annotation(
    level: &str,
    finding: &Finding,
    (path, span, text): (&str, Span, &str),
    message: &str,
) -> String {
    let (end_line, end_column) = end(span, text);
    // The runner accepts an end column on the same line only.
    let end_column = if end_line == span.line { format!(",endColumn={end_column}") } else { String::new() };
    let title = format!("{}{}", finding.rule, if finding.accepted.is_some() { " (accepted)" } else { "" });
    format!(
        "::{level} file={},line={},col={},endLine={end_line}{end_column},title={}::{}\n",
        property(path),
        span.line,
        span.column,
        property(&title),
        data(message)
    )
}

/// Escapes the text after `::`.
fn data(text: &str) -> String {
    text.replace('%', "%25").replace('\r', "%0D").replace('\n', "%0A")
}

/// Escapes the value of a property before `::`.
fn property(text: &str) -> String {
    data(text).replace(':', "%3A").replace(',', "%2C")
}
