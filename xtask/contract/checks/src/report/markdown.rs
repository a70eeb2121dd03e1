//! Findings as Markdown: the summary, and a table of the findings.

use crate::finding::{Finding, Location, Severity};

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
    let severity = match (&finding.accepted, finding.severity) {
        (Some(_), _) => "accepted",
        (None, Severity::Info) => "note",
        (None, Severity::Warning) => "warning",
        (None, Severity::Error) => "**error**",
        (None, Severity::Unreadable) => "**unreadable**",
    };
    let mut what = vec![text(&finding.message)];
    match &finding.accepted {
        Some(reason) => what.push(text(reason)),
        None => what.extend(finding.advice().filter_map(|it| it.lines().next()).map(text)),
    }
    what.push(format!("({})", code(&finding.rule)));
    let mut place = code(&format!("{file}:{}", finding.span.line));
    for (word, other) in [("code:", &finding.source), ("was", &finding.elsewhere)] {
        if let Some(Location { file, span, .. }) = other {
            place += &format!(", {word} {}", code(&format!("{file}:{}", span.line)));
        }
    }
    vec![severity.to_owned(), what.join(" "), place]
}
