//! Findings that are accepted because they are older than the check: a file with the fingerprint of one in each line.

use std::collections::BTreeSet;

use document::Span;
use document::place::Subject;

use crate::finding::{Finding, Fingerprints, Severity};

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

impl Baseline {
    /// Returns the text of a baseline with these findings.
    pub fn text(findings: &[Finding]) -> String {
        let mut fingerprints = Fingerprints::default();
        let entries: BTreeSet<_> = findings.iter().map(|finding| entry(&mut fingerprints, finding)).collect();
        entries.iter().fold(HEADER.to_owned(), |text, entry| text + entry + "\n")
    }

    pub(crate) fn entries(&self) -> Entries<'_> {
        let entries = self.text.lines().filter(|line| !line.is_empty() && !line.starts_with('#'));
        Entries { baseline: self, left: entries.collect(), fingerprints: Fingerprints::default() }
    }
}

/// The entries of a baseline that have not occurred yet.
pub(crate) struct Entries<'b> {
    baseline: &'b Baseline,
    left: BTreeSet<&'b str>,
    fingerprints: Fingerprints,
}

impl Entries<'_> {
    /// Returns why a finding is accepted. `None` if it has no entry.
    pub(crate) fn accept(&mut self, finding: &Finding) -> Option<String> {
        let entry = entry(&mut self.fingerprints, finding);
        self.left.remove(&*entry).then(|| format!("It is in the baseline {}.", self.baseline.path))
    }

    /// Reports the entries that did not occur, at the first of them.
    pub(crate) fn outdated(self) -> Option<Finding> {
        let (first, text) = (self.left.first()?, &self.baseline.text);
        // The entries are parts of the text.
        let start = first.as_ptr().addr() - text.as_ptr().addr();
        let message = match self.left.len() - 1 {
            0 => "the finding of this entry no longer occurs.".to_owned(),
            more => format!("the findings of this entry and of {more} more no longer occur."),
        };
        let span = Span::within(text, start..start + first.len());
        let finding = Finding::new(Severity::Warning, "baseline-outdated", "", span);
        let fix = "Write the baseline again, so that they are reported if they return.";
        Some(finding.message(&Subject::document(), message).fix(fix))
    }
}

fn entry(fingerprints: &mut Fingerprints, finding: &Finding) -> String {
    fingerprints.of("", finding).replace(['\n', '\r'], " ")
}
