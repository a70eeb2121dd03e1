//! Findings as a report of GitLab's Code Quality, which displays them in a merge request.
//!
//! Source: "Code Quality", "Code Quality report format", in the documentation of GitLab.

use crate::finding::Severity;
use serde_json::json;

use super::{Report, from_root};
use crate::fingerprint::Fingerprints;

/// Returns one array. Accepted findings are left out, since the format cannot tell them from the others.
pub(super) fn render(report: &Report<'_>) -> String {
    let mut fingerprints = Fingerprints::default();
    let issues =
        report.findings().filter(|(_, finding)| finding.accepted.is_none()).map(|(about, finding)| {
            let path = from_root(report.sources.root(), about.path);
            let sentences = std::iter::once(finding.message.as_str()).chain(finding.advice());
            let description: Vec<_> = sentences.filter_map(|sentence| sentence.lines().next()).collect();
            json!({
                "description": description.join(" "),
                "check_name": finding.rule,
                // GitLab compares it with the report of the target branch.
                "fingerprint": fingerprints.of(&path, finding),
                "severity": match finding.severity {
                    Severity::Info => "info",
                    Severity::Warning => "minor",
                    Severity::Error => "major",
                    Severity::Unreadable => "blocker",
                },
                "location": { "path": path, "lines": { "begin": finding.span.line.max(1) } },
            })
        });
    format!("{:#}\n", issues.collect::<serde_json::Value>())
}
