//! Findings as a report of GitLab's Code Quality, which displays them in a merge request.
//!
//! Source: "Code Quality", "Code Quality report format", in the documentation of GitLab.

use serde_json::{Value, json};

use super::Report;
use crate::finding::{Fingerprints, Severity};

/// Returns one array. Accepted findings are left out, since the format cannot tell them from the others.
pub(super) fn render(report: &Report<'_>) -> String {
    let mut fingerprints = Fingerprints::default();
    let findings = report.findings().filter(|(_, _, finding)| finding.accepted.is_none());
    let issues = findings.map(|(path, _, finding)| {
        json!({
            "description": finding.in_one_line(),
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
    format!("{:#}\n", issues.collect::<Value>())
}
