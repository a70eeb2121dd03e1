//! Findings that are accepted because they are older than the check: a file with the fingerprint of one in each line.

use std::collections::{BTreeSet, HashMap};

use document::Span;
use document::finding::{Finding, Severity, Subject};

use crate::fingerprint::Fingerprints;
use crate::registry;

const HEADER: &str =
    "# Accepted findings, written by `--write-baseline` of `contract`: rule, place, object, number.\n";

/// The limit of outdated entries that are shown.
const MAX_SHOWN: usize = 20;

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
        let others = self.entries().map(|(_, entry)| entry).filter(|entry| !is_of(entry, family));
        let mut entries: BTreeSet<String> = others.map(str::to_owned).collect();
        let mut fingerprints = Fingerprints::default();
        let acceptable = findings.iter().filter(|finding| finding.severity < Severity::Unreadable);
        entries.extend(acceptable.map(|finding| entry(&mut fingerprints, finding)));
        HEADER.lines().chain(entries.iter().map(String::as_str)).flat_map(|line| [line, "\n"]).collect()
    }

    /// Applies the baseline to all findings of a family of rules.
    pub(crate) fn compare(&self, findings: Vec<Finding>, family: &str) -> Compared {
        if self.text.is_empty() {
            return Compared { new: findings, accepted: Vec::new(), outdated: None };
        }
        let mut left: HashMap<&str, usize> =
            self.entries().filter(|(_, entry)| is_of(entry, family)).map(|(start, it)| (it, start)).collect();
        let (mut new, mut accepted) = (Vec::new(), Vec::new());
        let mut fingerprints = Fingerprints::default();
        for mut finding in findings {
            let entry = entry(&mut fingerprints, &finding);
            if finding.severity < Severity::Unreadable && left.remove(entry.as_str()).is_some() {
                finding.accepted = Some(format!("It is in the baseline {}.", self.path));
                accepted.push(finding);
            } else {
                new.push(finding);
            }
        }
        let mut left: Vec<_> = left.into_iter().collect();
        left.sort_by_key(|(_, start)| *start);
        Compared { new, accepted, outdated: self.outdated(&left) }
    }

    /// Reports entries that no longer occur, by their texts and offsets.
    fn outdated(&self, entries: &[(&str, usize)]) -> Option<Finding> {
        let span = |(entry, start): &(&str, usize)| Span::within(&self.text, *start..start + entry.len());
        let (first, others) = entries.split_first()?;
        let message = match others.len() {
            0 => "the finding of this entry no longer occurs.".to_owned(),
            others => format!("the findings of this and {others} other entries no longer occur."),
        };
        let mut finding = Finding::new(Severity::Warning, "baseline-outdated", "", span(first))
            .message(&Subject::document(), message)
            .fix("Write the baseline again, so that they are reported if they return.");
        finding.also =
            others.iter().take(MAX_SHOWN).map(|it| format!("line {}: {}", span(it).line, it.0)).collect();
        Some(finding)
    }

    /// Returns the offset and the text of each entry.
    fn entries(&self) -> impl Iterator<Item = (usize, &str)> {
        let lines = self.text.split_inclusive('\n').scan(0, |end, line| {
            let start = *end;
            *end += line.len();
            Some((start, line.trim_end_matches(['\n', '\r'])))
        });
        lines.filter(|(_, line)| !line.is_empty() && !line.starts_with('#'))
    }
}

fn entry(fingerprints: &mut Fingerprints, finding: &Finding) -> String {
    fingerprints.of("", finding).replace(['\n', '\r'], " ")
}

/// Whether an entry is of a rule of this family, or of a rule that does not exist any more.
fn is_of(entry: &str, family: &str) -> bool {
    let rule = entry.split(' ').next().unwrap_or_default();
    registry::family(rule).is_none_or(|known| known == family)
}
