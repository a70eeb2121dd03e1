//! Findings as workflow commands of GitHub Actions, which displays them as annotations.
//!
//! Source: "Workflow commands for GitHub Actions", and the escapes of the GitHub Actions runner.

use std::fmt::Write as _;

use document::Span;

use super::{About, Sources, end, from_root};
use crate::finding::{Finding, Severity};

pub(super) fn render(about: &About<'_>, sources: &Sources) -> String {
    let file = from_root(sources.root(), about.path);
    about.findings.iter().map(|finding| annotations(finding, &file, about.text, sources)).collect()
}

/// Returns an annotation of the document, and one of the code if the finding has a place in it.
fn annotations(finding: &Finding, file: &str, text: &str, sources: &Sources) -> String {
    let level = match finding.severity {
        Severity::Info => "notice",
        Severity::Warning => "warning",
        Severity::Error | Severity::Unreadable => "error",
    };
    let mut message = finding.message.clone();
    if let Some(source) = &finding.source {
        // Writing to a string cannot fail.
        let _ = write!(message, "\nThe code: {}:{}", source.file, source.span.line);
    }
    if let Some(elsewhere) = &finding.elsewhere {
        let _ = write!(message, "\nElsewhere: {elsewhere}");
    }
    for sentence in finding.advice() {
        let _ = write!(message, "\n{sentence}");
    }
    let mut annotations = annotation(level, finding, (file, finding.span, text), &message);
    if let Some(source) = &finding.source {
        // A notice, because GitHub displays ten errors of a step, and this is the second place of one error.
        let text = sources.text(&source.file).unwrap_or_default();
        let message = format!("{}\nThe document: {file}:{}", finding.message, finding.span.line);
        annotations += &annotation("notice", finding, (&source.file, source.span, text), &message);
    }
    annotations
}

fn annotation(
    level: &str,
    finding: &Finding,
    (file, span, text): (&str, Span, &str),
    message: &str,
) -> String {
    let (end_line, end_column) = end(span, text);
    let mut annotation = format!("::{level} file={},line={}", property(file), span.line);
    let _ = write!(annotation, ",col={},endLine={end_line}", span.column);
    // The runner accepts an end column on the same line only.
    if end_line == span.line {
        let _ = write!(annotation, ",endColumn={end_column}");
    }
    let accepted = if finding.accepted.is_some() { " (accepted)" } else { "" };
    let title = format!("{}{accepted}", finding.rule);
    let _ = writeln!(annotation, ",title={}::{}", property(&title), data(message));
    annotation
}

/// Escapes the text after `::`.
fn data(text: &str) -> String {
    text.replace('%', "%25").replace('\r', "%0D").replace('\n', "%0A")
}

/// Escapes the value of a property before `::`.
fn property(text: &str) -> String {
    data(text).replace(':', "%3A").replace(',', "%2C")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_has_a_meaning_is_escaped() {
        assert_eq!(data("100%:\r\na,b"), "100%25:%0D%0Aa,b");
        assert_eq!(property("a,b:c%\n"), "a%2Cb%3Ac%25%0A");
    }
}
