//! Each rule has a fixture: edits of the document, or of the document of the code, that break it, and similar edits
//! that do not.

use std::collections::BTreeSet;
use std::sync::LazyLock;

use checks::drift::{compare, rules};
use fixtures::{CODE, Case, cases};

use super::document::parsed;
use crate::judge::summary;

pub(crate) static CASES: LazyLock<Vec<Case>> =
    LazyLock::new(|| cases(concat!(env!("CARGO_MANIFEST_DIR"), "/fixtures/drift")));

#[test]
fn each_rule_has_a_fixture_and_each_fixture_a_rule() {
    let names: Vec<&str> = rules().map(|rule| rule.name).collect();
    let rules: BTreeSet<&str> = names.iter().copied().collect();
    assert_eq!(names.len(), rules.len(), "a rule is listed twice");
    let fixtures: BTreeSet<&str> = CASES.iter().map(|case| case.rule.as_str()).collect();
    assert_eq!(fixtures, rules);
}

#[test]
fn each_rule_reports_its_edits_and_not_similar_ones() {
    let wrong: Vec<String> =
        CASES.iter().filter_map(|case| Some(format!("{}: {}", case.name, wrong(case)?))).collect();
    assert!(wrong.is_empty(), "\n{}", wrong.join("\n"));
}

/// Returns the problem with the findings of a case.
fn wrong(case: &Case) -> Option<String> {
    let code = parsed(case.code.as_deref().unwrap_or(CODE));
    let findings = compare(&parsed(&case.text), &code);
    let rules: BTreeSet<&str> = findings.iter().map(|finding| finding.rule.as_str()).collect();
    let mut expected: BTreeSet<&str> = case.also.iter().map(String::as_str).collect();
    if case.breaks {
        expected.insert(&case.rule);
    }
    if rules != expected {
        return Some(format!("should break {expected:?}:{}", summary(&findings)));
    }
    let here = findings.iter().filter(|finding| finding.rule == case.rule);
    let (here, other): (Vec<_>, Vec<_>) = here.partition(|finding| finding.pointer == case.at);
    if here.len() != usize::from(case.breaks) || !other.is_empty() {
        return Some(format!("should be one finding, at {}:{}", case.at, summary(&findings)));
    }
    let sentences = |text: &str| text.ends_with(['.', '?']);
    let poor = findings.iter().find(|finding| !sentences(&finding.message) || !sentences(&finding.fix));
    poor.map(|finding| format!("no sentences: {finding:?}"))
}
