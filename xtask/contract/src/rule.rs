//! What a rule is, and the findings that rules collect.

use std::collections::{BTreeMap, HashSet};

use crate::finding::{Finding, Severity, Spot};

/// How many findings of one rule are kept. Findings about validity are exempt.
const MOST_PER_RULE: usize = 100;
/// How many bytes the findings may take together. A place is as long as the keys above it.
const MOST_BYTES: usize = 64 << 20;

/// A set of rules; each profile contains the ones before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, clap::ValueEnum)]
pub enum Profile {
    /// The document is valid by the specification.
    Spec,
    /// What most API designers agree on.
    Recommended,
    /// Every rule.
    Strict,
}

/// A demand on a document, or on the difference between two.
#[derive(Debug, PartialEq, Eq)]
pub struct Rule {
    /// Its name, in kebab-case or as the linter writes it that has the rule too.
    pub name: &'static str,
    /// The severity of its findings, unless the configuration sets another.
    pub severity: Severity,
    /// The smallest profile that contains it.
    pub profile: Profile,
    /// What it demands, in one sentence.
    pub explanation: &'static str,
    /// The section of the specification, or the name of the rule in oasdiff, Spectral or Redocly.
    pub origin: &'static str,
}

impl Rule {
    /// A demand of the specification.
    pub const fn spec(name: &'static str, origin: &'static str, explanation: &'static str) -> Self {
        Self { name, severity: Severity::Error, profile: Profile::Spec, explanation, origin }
    }

    /// A demand that most API designers agree on.
    pub const fn recommended(
        name: &'static str,
        severity: Severity,
        origin: &'static str,
        explanation: &'static str,
    ) -> Self {
        Self { name, severity, profile: Profile::Recommended, explanation, origin }
    }

    /// A demand that a project chooses.
    pub const fn strict(
        name: &'static str,
        severity: Severity,
        origin: &'static str,
        explanation: &'static str,
    ) -> Self {
        Self { name, severity, profile: Profile::Strict, explanation, origin }
    }
}

/// The findings so far.
#[derive(Default)]
pub struct Findings {
    found: Vec<(Profile, Finding)>,
    /// An alias repeats its anchor, with everything that is wrong there.
    known: HashSet<(&'static str, usize, usize, String)>,
    counts: BTreeMap<&'static str, Count>,
    bytes: usize,
}

#[derive(Default)]
struct Count {
    kept: usize,
    /// A finding that says how many others were left out.
    left_out: Option<(Profile, Finding, usize)>,
}

impl Findings {
    /// Adds a finding: the rule, the place, what is wrong, and what to do.
    pub fn add(&mut self, rule: &Rule, spot: Spot, message: impl Into<String>, fix: impl Into<String>) {
        let message = message.into();
        if !self.known.insert((rule.name, spot.span.start, spot.span.end, message.clone())) {
            return;
        }
        let count = self.counts.entry(rule.name).or_default();
        let limited = rule.profile != Profile::Spec && count.kept >= MOST_PER_RULE;
        let finding = Finding::new(rule.severity, rule.name, &spot.pointer, spot.span);
        if limited || self.bytes >= MOST_BYTES {
            let left_out = count.left_out.get_or_insert((rule.profile, finding, 0));
            left_out.2 += 1;
            return;
        }
        count.kept += 1;
        self.bytes += spot.pointer.len() + 2 * message.len();
        self.found.push((rule.profile, finding.message(&spot.subject, message).fix(fix)));
    }

    /// Whether the memory for findings is used up, so that looking for more is in vain.
    pub fn is_full(&self) -> bool {
        self.bytes >= MOST_BYTES
    }

    /// All findings: validity first, then in the order of the file.
    pub fn sorted(mut self) -> Vec<Finding> {
        for (profile, finding, number) in self.counts.into_values().filter_map(|count| count.left_out) {
            let message = format!("{number} more findings of this rule were left out, from here on.");
            let finding = finding.message(&crate::finding::Subject::document(), message);
            self.found.push((profile, finding.fix("Fix those that are shown first.")));
        }
        let place = |(profile, finding): &(Profile, Finding)| {
            (*profile != Profile::Spec, finding.span.start, finding.rule.clone())
        };
        self.found.sort_by_key(place);
        self.found.into_iter().map(|(_, finding)| finding).collect()
    }
}
