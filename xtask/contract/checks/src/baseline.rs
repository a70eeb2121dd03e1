//! Findings that are accepted because they are older than the check: a file with the fingerprint of one in each line.

use std::collections::BTreeSet;

use document::Span;
use document::place::Subject;

use crate::finding::{Finding, Severity};
use crate::fingerprint::Fingerprints;
use crate::registry;

const HEADER: &str =
    "# Accepted findings, written by `--write-baseline` of `contract`: rule, place, object, number.\n";

/// The accepted findings of one document.
#[derive(Debug, Default)]
pub struct Baseline {
    /// The path of the file.
    pub path: String,
    /// The text of the file.
    pub text: String,
}

/// Findings after a baseline was applied.
pub(crate) struct Compared {
    /// Those that are not in the baseline.
    pub(crate) new: Vec<Finding>,
    /// Those that are in the baseline, with the reason that they are accepted.
    pub(crate) accepted: Vec<Finding>,
    /// A finding about the entries of the baseline that no longer occur.
    pub(crate) outdated: Option<Finding>,
}

impl Baseline {
    /// Returns the text after `findings` replace the entries of their family of rules.
    pub fn with(&self, findings: &[Finding], family: &str) -> String {
        let others = self.entries().filter(|entry| !is_of(entry, family));
        let mut entries: BTreeSet<String> = others.map(str::to_owned).collect();
        let mut fingerprints = Fingerprints::default();
        entries.extend(findings.iter().filter_map(|finding| entry(&mut fingerprints, finding)));
        entries.iter().fold(HEADER.to_owned(), |text, entry| text + entry + "\n")
    }

    /// Applies the baseline to all findings of a family of rules.
    pub(crate) fn compare(&self, findings: Vec<Finding>, family: &str) -> Compared {
        let mut left: BTreeSet<&str> = self.entries().filter(|entry| is_of(entry, family)).collect();
        let mut fingerprints = Fingerprints::default();
        let is_known = |finding: &Finding| {
            entry(&mut fingerprints, finding).is_some_and(|entry| left.remove(entry.as_str()))
        };
        let (mut accepted, new): (Vec<_>, Vec<_>) = findings.into_iter().partition(is_known);
        for finding in &mut accepted {
            finding.severity = Severity::Info;
            finding.accepted = Some(format!("It is in the baseline {}.", self.path));
        }
        Compared { new, accepted, outdated: self.outdated(&left) }
    }

    /// Reports entries that no longer occur, at the first of them.
    fn outdated(&self, entries: &BTreeSet<&str>) -> Option<Finding> {
        let first = entries.first()?;
        // The entries are parts of the text.
        let start = first.as_ptr().addr() - self.text.as_ptr().addr();
        let message = match entries.len() - 1 {
            0 => "the finding of this entry no longer occurs.".to_owned(),
            more => format!("the findings of this entry and of {more} more no longer occur."),
        };
        let span = Span::within(&self.text, start..start + first.len());
        let finding = Finding::new(Severity::Warning, "baseline-outdated", "", span);
        let fix = "Write the baseline again, so that they are reported if they return.";
        Some(finding.message(&Subject::document(), message).fix(fix))
    }

    fn entries(&self) -> impl Iterator<Item = &str> {
        self.text.lines().filter(|line| !line.is_empty() && !line.starts_with('#'))
    }
}

/// Returns the entry of a finding, if it can be accepted.
fn entry(fingerprints: &mut Fingerprints, finding: &Finding) -> Option<String> {
    let fingerprint = fingerprints.of("", finding).replace(['\n', '\r'], " ");
    (finding.severity < Severity::Unreadable).then_some(fingerprint)
}

/// Whether an entry is of a rule of this family, or of a rule that does not exist any more.
fn is_of(entry: &str, family: &str) -> bool {
    let rule = entry.split(' ').next().unwrap_or_default();
    registry::family(rule).is_none_or(|known| known == family)
}
