//! A comparison with many findings, for a terminal: one finding for each reason, and an overview that tells where to
//! look.

use std::cmp::Reverse;
use std::collections::HashMap;
use std::fmt::Write as _;
use std::hash::Hash;

use document::finding::{Finding, Severity, capitalised, summary};

/// The limit of findings without an overview.
const FEW: usize = 10;
/// The limits of rules and operations in the overview: together they fill a screen of 20 lines.
const MAX_RULES: usize = 5;
const MAX_OPERATIONS: usize = 10;

/// Joins the findings of one rule that say the same about different objects, or are at the same place or in the same list:
/// the first one lists the others.
pub fn joined(findings: Vec<Finding>) -> Vec<Finding> {
    let mut joined: Vec<Finding> = Vec::new();
    let mut known: HashMap<(String, Severity, Option<String>, String), usize> = HashMap::new();
    for finding in findings {
        let object = format!("{}: ", capitalised(&finding.subject.to_string()));
        let what = finding.message.strip_prefix(&object).unwrap_or(&finding.message).to_owned();
        let key = |of: String| (finding.rule.clone(), finding.severity, finding.accepted.clone(), of);
        let keys = [key(format!("place {}", list(&finding.pointer))), key(format!("text {what}"))];
        let Some(position) = keys.iter().find_map(|key| known.get(key).copied()) else {
            known.extend(keys.map(|key| (key, joined.len())));
            joined.push(finding);
            continue;
        };
        let first = &mut joined[position];
        let says = match first.message.ends_with(&format!(": {what}")) {
            true => finding.subject.to_string(),
            false if finding.subject == first.subject => what.trim_end_matches('.').to_owned(),
            false => finding.message.trim_end_matches('.').to_owned(),
        };
        first.also.push(match &finding.elsewhere {
            Some(old) if finding.span == first.span => format!("was line {}: {says}", old.span.line),
            _ => format!("line {}: {says}", finding.span.line),
        });
        let new = finding.operations.into_iter().filter(|name| !first.operations.contains(name));
        first.operations.extend(new.collect::<Vec<_>>());
    }
    joined
}

/// Returns the pointer of the list that an item is in, or else of the place itself.
fn list(pointer: &str) -> &str {
    let (list, last) = pointer.rsplit_once('/').unwrap_or_default();
    if last.parse::<usize>().is_ok() { list } else { pointer }
}

/// Returns the overview: the result, the rules and the operations with the most findings. Empty for few findings.
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
    let mut text = format!("{result}\n\nThe rules with the most findings:\n");
    // Writing to a string cannot fail.
    for (name, severities) in rules.iter().take(MAX_RULES) {
        let _ = writeln!(text, "  {name}: {}", summary(severities.iter().copied()));
    }
    if let Some((_, rest)) = rules.split_at_checked(MAX_RULES).filter(|(_, rest)| !rest.is_empty()) {
        let severities = rest.iter().flat_map(|(_, severities)| severities.iter().copied());
        let _ = writeln!(text, "  and {} more rules: {}", rest.len(), summary(severities));
    }
    text.push_str("The operations with the most findings:\n");
    for (name, severities) in operations.iter().take(MAX_OPERATIONS) {
        let _ = writeln!(text, "  {name}: {}", summary(severities.iter().copied()));
    }
    if let Some(more) = operations.len().checked_sub(MAX_OPERATIONS + 1) {
        let _ = writeln!(text, "  and {} more operations", more + 1);
    }
    if !shared.is_empty() {
        let number = crate::breaking::MAX_OPERATIONS;
        let shared = summary(shared.into_iter());
        let _ = writeln!(text, "  not counted here: {shared}, each in {number} operations or more");
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
