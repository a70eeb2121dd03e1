//! Many findings, for a terminal: one finding for each reason, and an overview that tells where to look.

use std::cmp::Reverse;
use std::collections::{BTreeMap, HashMap};

use super::plain;
use crate::finding::{Finding, Severity, capitalised, summary};

/// The limit of findings without an overview.
const FEW: usize = 10;
/// The limits of rules and operations in the overview: together they fill a screen of 20 lines.
const MAX_RULES: usize = 5;
const MAX_OPERATIONS: usize = 10;

/// Joins the findings of one rule that say the same about different objects, or are at the same place or in the same list:
/// the first one lists the others.
pub(super) fn joined(findings: &[Finding]) -> Vec<Finding> {
    let mut joined: Vec<Finding> = Vec::new();
    let mut known: HashMap<(String, Severity, Option<String>, String), usize> = HashMap::new();
    for finding in findings {
        let what = without_subject(finding);
        let key = |of: String| (finding.rule.clone(), finding.severity, finding.accepted.clone(), of);
        let keys = [key(format!("place {}", list(&finding.pointer))), key(format!("text {what}"))];
        let Some(position) = keys.iter().find_map(|key| known.get(key).copied()) else {
            known.extend(keys.map(|key| (key, joined.len())));
            joined.push(finding.clone());
            continue;
        };
        let first = &mut joined[position];
        let says = match without_subject(first) == what {
            true => finding.subject.to_string(),
            false if finding.subject == first.subject => what.trim_end_matches('.').to_owned(),
            false => finding.message.trim_end_matches('.').to_owned(),
        };
        let says = match &finding.elsewhere {
            Some(old) if finding.span == first.span => format!("was line {}: {says}", old.span.line),
            _ => format!("line {}: {says}", finding.span.line),
        };
        first.also.push(says);
        let new = finding.operations.iter().filter(|name| !first.operations.contains(name)).cloned();
        first.operations.extend(new.collect::<Vec<_>>());
    }
    joined
}

/// Returns the message of a finding without the object that it is about.
fn without_subject(finding: &Finding) -> String {
    let subject = finding.subject.to_string();
    let message = finding.message.strip_prefix(&capitalised(&subject)).unwrap_or(&finding.message);
    let message = message.strip_prefix(": ").unwrap_or(message);
    if subject.is_empty() { message.to_owned() } else { message.replacen(&subject, "", 1) }
}

/// Returns the pointer of the list that an item is in, or else of the place itself.
fn list(pointer: &str) -> &str {
    let (list, last) = pointer.rsplit_once('/').unwrap_or_default();
    if last.parse::<usize>().is_ok() { list } else { pointer }
}

/// Returns the overview: the result, the rules and the operations with the most findings. Empty for few findings.
pub(super) fn overview<'f>(result: &str, findings: impl IntoIterator<Item = &'f Finding>) -> String {
    let findings: Vec<&Finding> = findings.into_iter().collect();
    if findings.len() <= FEW {
        return String::new();
    }
    let rules = most(findings.iter().map(|it| (it.rule.as_str(), it.severity)), MAX_RULES, "rules");
    // A finding about very many operations lists some of them.
    let own = findings.iter().filter(|it| it.operations.len() < crate::breaking::MAX_OPERATIONS);
    let operations = own.flat_map(|it| it.operations.iter().map(|name| (name.as_str(), it.severity)));
    let mut operations = most(operations, MAX_OPERATIONS, "operations");
    if !operations.is_empty() {
        operations.insert_str(0, "The operations with the most findings:\n");
    }
    format!("{result}\n\nThe rules with the most findings:\n{rules}{operations}\n")
}

/// Returns a line for each of the keys with the most findings of the greatest severity, and one that counts the others.
fn most<'k>(items: impl Iterator<Item = (&'k str, Severity)>, limit: usize, noun: &str) -> String {
    let mut counted: BTreeMap<&str, Vec<Severity>> = BTreeMap::new();
    items.for_each(|(key, severity)| counted.entry(key).or_default().push(severity));
    let mut counted = Vec::from_iter(counted);
    counted.sort_by_cached_key(|(_, severities)| {
        let count = |severity| severities.iter().filter(|known| **known >= severity).count();
        Reverse([Severity::Error, Severity::Warning, Severity::Info].map(count))
    });
    // Without the control characters of a document, which a terminal interprets.
    let line =
        |(key, all): &(&str, Vec<Severity>)| format!("  {}: {}\n", plain(key), summary(all.iter().copied()));
    let mut lines: String = counted.iter().take(limit).map(line).collect();
    if counted.len() > limit {
        lines += &format!("  and {} more {noun}\n", counted.len() - limit);
    }
    lines
}
