//! Names of findings that stay the same when lines move, and when other findings come or go.

use std::collections::HashMap;

use crate::finding::Finding;

/// Gives each finding of a report a name.
#[derive(Debug, Default)]
pub(crate) struct Fingerprints(HashMap<String, usize>);

impl Fingerprints {
    /// Returns the fingerprint of a finding: its rule and its place in the tree of the document, which is in `file`. Findings
    /// that agree in these are numbered.
    pub(crate) fn of(&mut self, file: &str, finding: &Finding) -> String {
        let Finding { rule, pointer, subject, instead, .. } = finding;
        let mut place = format!("{rule} {file}#{pointer} {subject}");
        if let Some(name) = instead {
            place = format!("{place} {name}");
        }
        let number = self.0.entry(place.clone()).or_default();
        *number += 1;
        format!("{place} {number}")
    }
}
