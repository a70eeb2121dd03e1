//! Each rule reports the edits of its fixture that break it, at their places, and not the similar edits.

use std::collections::{BTreeSet, HashMap};
use std::sync::LazyLock;

use checks::breaking::{Change, rules};
use checks::config::Config;
use checks::finding::Severity;
use checks::outcome::Outcome;
use document::Document;
use fixtures::{Case, cases};

use super::documents::{TODAY, document};

pub(crate) static CASES: LazyLock<Vec<Case>> =
    LazyLock::new(|| cases(concat!(env!("CARGO_MANIFEST_DIR"), "/fixtures/breaking")));

/// Rules about the file of waivers. `gate.rs` tests them.
const WITHOUT: [&str; 2] = ["waiver-expired", "waiver-unused"];

#[test]
fn each_rule_has_a_fixture_and_each_fixture_a_rule() {
    let names: Vec<_> = rules().map(|rule| rule.name).collect();
    let rules: BTreeSet<_> = names.iter().copied().filter(|name| !WITHOUT.contains(name)).collect();
    assert_eq!(names.len(), rules.len() + WITHOUT.len(), "two rules have the same name");
    let fixtures: BTreeSet<_> = CASES.iter().map(|case| case.rule.as_str()).collect();
    assert_eq!(fixtures, rules);
}

#[test]
fn each_rule_reports_its_edits_and_not_similar_ones() {
    // Most cases have the same base.
    let mut bases: HashMap<&str, Document> = HashMap::new();
    let mut wrong = String::new();
    for case in CASES.iter() {
        let base = bases.entry(&case.base).or_insert_with(|| document("base.yaml", &case.base));
        if let Err(problem) = holds(case, base) {
            wrong.push_str(&format!("\n{}: {problem}", case.name));
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
}

fn holds(case: &Case, base: &Document) -> Result<(), String> {
    let revision = document("new.yaml", &case.text);
    let outcome = Outcome::of(base, &revision, &Config::default(), TODAY);
    // The other fixtures do not increase the version.
    let version =
        outcome.version.as_ref().filter(|_| case.rule.starts_with("api-") && case.rule.contains("version"));
    let changes: Vec<&Change> = version.into_iter().chain(&outcome.changes).collect();
    let each = |change: &&Change| format!("\n  {} at {}", change.rule.name, change.place.pointer);
    let found: String = changes.iter().map(each).collect();
    let names: BTreeSet<_> = changes.iter().map(|change| change.rule.name).collect();
    if !case.breaks {
        let is_found = names.contains(case.rule.as_str());
        return if is_found { Err(format!("should not be found:{found}")) } else { Ok(()) };
    }
    let expected: BTreeSet<_> = case.also.iter().chain([&case.rule]).map(String::as_str).collect();
    if names != expected {
        return Err(format!("should be {expected:?}:{found}"));
    }
    let here = |change: &&&Change| change.rule.name == case.rule && change.place.pointer == case.at;
    let change = changes.iter().find(here).ok_or_else(|| format!("nothing at {}:{found}", case.at))?;
    let finding = change.finding();
    // A change that harms no client needs no fix.
    let is_fixed = match finding.fix.lines().next() {
        Some(sentence) => sentence.ends_with('.'),
        None => matches!(change.severity, Severity::Info | Severity::Unreadable),
    };
    if !finding.message.ends_with('.') || !is_fixed || finding.impact != change.rule.explanation {
        return Err(format!("wrong sentences: {finding:?}"));
    }
    Ok(())
}
