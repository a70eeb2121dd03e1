//! A comparison with many findings, for a terminal: one finding for each reason.

use std::collections::HashMap;

use document::finding::{Finding, Severity, capitalised};

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
