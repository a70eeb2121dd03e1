//! A comparison with many findings, for a terminal: one finding for each reason, and an overview that tells where to
//! look.

use std::cmp::Reverse;
use std::collections::HashMap;
use std::fmt::Write as _;
use std::hash::Hash;

use crate::finding::{Finding, Severity, summary};

/// The limit of findings without an overview.
const FEW: usize = 10;
/// The limit of operations in the overview.
const MAX_OPERATIONS: usize = 10;

/// Joins the findings that differ in their object only: the first one lists the places of the others.
pub fn joined(findings: Vec<Finding>) -> Vec<Finding> {
    let mut joined: Vec<Finding> = Vec::new();
    let mut known: HashMap<(String, Severity, String, Option<String>), usize> = HashMap::new();
    for finding in findings {
        let what = finding.message.to_lowercase();
        let what = what.strip_prefix(&finding.subject.to_string().to_lowercase()).unwrap_or(&what).to_owned();
        let key = (finding.rule.clone(), finding.severity, what, finding.accepted.clone());
        let position = *known.entry(key).or_insert(joined.len());
        let Some(first) = joined.get_mut(position) else {
            joined.push(finding);
            continue;
        };
        first.also.push(format!("line {}: {}", finding.span.line, finding.subject));
        let new = finding.operations.into_iter().filter(|name| !first.operations.contains(name));
        first.operations.extend(new.collect::<Vec<_>>());
    }
    joined
}

/// Returns the overview: the result, the operations with the most findings, and the rules. Empty for few findings.
pub fn overview(result: &str, findings: &[&Finding]) -> String {
    if findings.len() <= FEW {
        return String::new();
    }
    let everywhere = |finding: &&&Finding| finding.operations.len() >= crate::breaking::MAX_OPERATIONS;
    let shared: Vec<_> = findings.iter().filter(everywhere).map(|finding| finding.severity).collect();
    let others = findings.iter().filter(|finding| !everywhere(finding));
    let operations =
        counted(others.flat_map(|it| it.operations.iter().map(|name| (name.as_str(), it.severity))));
    let rules = counted(findings.iter().map(|finding| (finding.rule.as_str(), finding.severity)));
    let mut text = format!("{result}\n\nThe operations with the most findings:\n");
    // Writing to a string cannot fail.
    for (name, severities) in operations.iter().take(MAX_OPERATIONS) {
        let _ = writeln!(text, "  {name}: {}", summary(severities.iter().copied()));
    }
    if let Some(more) = operations.len().checked_sub(MAX_OPERATIONS + 1) {
        let _ = writeln!(text, "  and {} more operations", more + 1);
    }
    if !shared.is_empty() {
        let number = crate::breaking::MAX_OPERATIONS;
        let _ = writeln!(text, "  {number} operations or more at once: {}", summary(shared.into_iter()));
    }
    text.push_str("The rules:\n");
    for (name, severities) in rules {
        let _ = writeln!(text, "  {name}: {}", summary(severities.into_iter()));
    }
    text + "\n"
}

/// Returns the severities under each key, the keys with the most of the greatest severity first.
fn counted<K: Hash + Eq + Copy>(items: impl Iterator<Item = (K, Severity)>) -> Vec<(K, Vec<Severity>)> {
    let mut counted: Vec<(K, Vec<Severity>)> = Vec::new();
    let mut known = HashMap::new();
    for (key, severity) in items {
        let position = *known.entry(key).or_insert(counted.len());
        if position == counted.len() {
            counted.push((key, Vec::new()));
        }
        counted[position].1.push(severity);
    }
    counted.sort_by_cached_key(|(_, severities)| {
        let count = |severity| severities.iter().filter(|known| **known >= severity).count();
        Reverse([Severity::Error, Severity::Warning, Severity::Info].map(count))
    });
    counted
}
