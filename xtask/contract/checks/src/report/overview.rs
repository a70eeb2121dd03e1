//! Many findings, for a terminal: one finding for each reason, and an overview that tells where to look.

use std::cmp::Reverse;
use std::collections::{BTreeMap, HashMap};

use crate::finding::{Finding, Severity, capitalised, summary};

/// The limit of findings without an overview.
const FEW: usize = 10;
/// The limit of rules in the overview.
const MAX_RULES: usize = 5;

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

/// Returns the overview: the result, and the rules with the most severe findings. Empty for few findings.
pub(super) fn overview<'f>(result: &str, findings: impl IntoIterator<Item = &'f Finding>) -> String {
    let mut counted: BTreeMap<&str, Vec<Severity>> = BTreeMap::new();
    findings.into_iter().for_each(|it| counted.entry(&it.rule).or_default().push(it.severity));
    if counted.values().map(Vec::len).sum::<usize>() <= FEW {
        return String::new();
    }
    let mut counted = Vec::from_iter(counted);
    counted.sort_by_cached_key(|(_, severities)| {
        let count = |severity| severities.iter().filter(|known| **known >= severity).count();
        Reverse([Severity::Error, Severity::Warning, Severity::Info].map(count))
    });
    let shown = counted.iter().take(MAX_RULES);
    let mut lines: String =
        shown.map(|(rule, all)| format!("  {rule}: {}\n", summary(all.iter().copied()))).collect();
    if counted.len() > MAX_RULES {
        lines += &format!("  and {} more rules\n", counted.len() - MAX_RULES);
    }
    format!("{result}\n\nThe rules with the most findings:\n{lines}\n")
}
