//! The limits that the configuration can set.

use std::collections::BTreeMap;
use std::num::NonZeroUsize;

use serde::Deserialize;

use crate::finding::Finding;
use crate::lint::SUNSET_DAYS;
use crate::registry;
use crate::rule::{Profile, not_shown};

/// The table `[limits]`.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case", default)]
pub(super) struct Limits {
    /// The limit of findings of one rule in a report. It does not apply to findings about validity.
    pub(super) findings_per_rule: NonZeroUsize,
    /// The number of days before a sunset on which warnings begin.
    pub(super) sunset_days: u16,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            findings_per_rule: NonZeroUsize::new(100).unwrap_or(NonZeroUsize::MIN),
            sunset_days: SUNSET_DAYS,
        }
    }
}

impl Limits {
    /// Replaces the findings of a rule beyond the limit by one that counts them, at the place of the first.
    pub(super) fn limited(self, findings: Vec<Finding>) -> Vec<Finding> {
        let most = self.findings_per_rule.get();
        let mut numbers: BTreeMap<String, usize> = BTreeMap::new();
        for finding in &findings {
            *numbers.entry(finding.rule.clone()).or_default() += 1;
        }
        numbers.retain(|rule, number| {
            let is_limited = registry::find(rule).is_some_and(|rule| rule.profile != Profile::Spec);
            is_limited && *number > most
        });
        let mut shown: BTreeMap<String, usize> = BTreeMap::new();
        let limit = |finding: Finding| {
            let Some(number) = numbers.get(&finding.rule) else { return Some(finding) };
            let position = shown.entry(finding.rule.clone()).or_default();
            *position += 1;
            match *position {
                position if position <= most => Some(finding),
                position => (position == most + 1).then(|| not_shown(finding, number - most)),
            }
        };
        findings.into_iter().filter_map(limit).collect()
    }
}
