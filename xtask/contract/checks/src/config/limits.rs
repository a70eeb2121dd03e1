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
        let (mut kept, mut first): (Vec<Finding>, BTreeMap<String, usize>) = (Vec::new(), BTreeMap::new());
        for finding in findings {
            let number = numbers.entry(finding.rule.clone()).or_default();
            *number += 1;
            let is_limited =
                || registry::find(&finding.rule).is_some_and(|rule| rule.profile != Profile::Spec);
            if *number <= most || !is_limited() {
                kept.push(finding);
            } else if *number == most + 1 {
                first.insert(finding.rule.clone(), kept.len());
                kept.push(finding);
            }
        }
        for (rule, position) in first {
            let number = numbers[&rule] - most;
            let fix = "Raise `findings-per-rule` below `[limits]` to see them.";
            kept[position] = not_shown(std::mem::take(&mut kept[position]), number).fix(fix);
        }
        kept
    }
}
