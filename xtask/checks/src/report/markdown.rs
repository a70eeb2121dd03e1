//! Findings as Markdown: the summary, and a table of the findings.

use document::finding::{Finding, Severity};

use super::{Report, from_root};
use crate::markdown::{code, table, text};

pub(super) fn render(report: &Report<'_>) -> String {
    let mut rows = Vec::new();
    for about in report.files {
        let file = from_root(report.sources.root(), about.path);
        rows.extend(about.findings.iter().map(|finding| row(finding, &file)));
    }
    let headline = match report.summary {
        "" => "Not checked: a file cannot be read.",
        summary => summary,
    };
    let headline = format!("**{}: {}**\n", text(report.command), text(headline));
    if rows.is_empty() {
        headline
    } else {
        format!("{headline}\n{}", table(&["", "finding", "place"], &rows))
    }
}

fn row(finding: &Finding, file: &str) -> Vec<String> {
    let severity = match finding.severity {
        Severity::Info => "note",
        Severity::Warning => "warning",
        Severity::Error => "**error**",
        Severity::Unreadable => "**unreadable**",
    };
    let advice: Vec<_> = finding.advice().map(text).collect();
    let what = format!("{} {} ({})", text(&finding.message), advice.join(" "), code(&finding.rule));
    let mut place = code(&format!("{file}:{}", finding.span.line));
    if let Some(source) = &finding.source {
        place += &format!(", code: {}", code(&format!("{}:{}", source.file, source.span.line)));
    }
    vec![severity.to_owned(), what, place]
}
