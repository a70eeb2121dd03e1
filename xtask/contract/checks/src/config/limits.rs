//! The limits that the configuration can set.

use std::collections::HashMap;

use serde::Deserialize;

use super::Config;
use crate::finding::Finding;
use crate::lint::SUNSET_DAYS;
use crate::registry;
use crate::rule::{Profile, not_shown};

/// The table `[limits]`.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case", default)]
pub(super) struct Limits {
    /// The limit of findings of one rule in a report. It does not apply to findings about validity.
    findings_per_rule: usize,
    /// The number of days before a sunset on which warnings begin.
    pub(super) sunset_days: u16,
}

impl Default for Limits {
    fn default() -> Self {
        Self { findings_per_rule: 100, sunset_days: SUNSET_DAYS }
    }
}

impl Config {
    /// Replaces the findings of a rule beyond the limit by one that counts them, at the place of the first. Findings
    /// about validity have no limit.
    pub fn limited(&self, findings: Vec<Finding>) -> Vec<Finding> {
        let limit = |rule: &str| match registry::find(rule) {
            Some(rule) if rule.profile != Profile::Spec => self.limits.findings_per_rule,
            _ => usize::MAX,
        };
        // By rule, the limit, the number of findings, and the position of the last one that is kept.
        let mut rules: HashMap<String, (usize, usize, usize)> = HashMap::new();
        let mut kept: Vec<Finding> = Vec::new();
        for finding in findings {
            let counted = rules.entry(finding.rule.clone()).or_insert_with(|| (limit(&finding.rule), 0, 0));
            if counted.1 <= counted.0 {
                counted.2 = kept.len();
                kept.push(finding);
            }
            counted.1 += 1;
        }
        for (limit, number, last) in rules.into_values().filter(|(limit, number, _)| number > limit) {
            let fix = "Raise `findings-per-rule` below `[limits]` to see them.";
            kept[last] = not_shown(std::mem::take(&mut kept[last]), number - limit).fix(fix);
        }
        kept
    }
}
