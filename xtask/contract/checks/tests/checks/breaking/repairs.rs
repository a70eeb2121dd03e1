//! Repairs of the findings about versions. A change itself has none: it is undone, waived or released by a
//! person, and the finding about the version has the repair.

use std::collections::BTreeSet;

use checks::breaking::{Bump, change_rules};
use checks::config::Config;
use checks::outcome::Outcome;
use document::Document;
use document::edits::{edited, edits};
use document::openapi::Model;

use super::documents::{LIBRARY, TODAY, document, edit};

/// The rules with a repair, except those of changes.
const REPAIRED: &[&str] = &[
    "api-major-version-not-bumped",
    "api-minor-version-not-bumped",
    "api-version-decreased",
    "api-version-not-bumped",
    "api-version-unreadable",
];

/// The rules without a repair, except those of changes, by the reason.
const UNREPAIRED: &[(&str, &[&str])] = &[
    ("`lint` reports each place, with its repair.", &["not-understood"]),
    ("A person must decide about the change.", &["waiver-expired", "waiver-unused"]),
];

fn outcome(revision: &Document, configuration: &str) -> Outcome {
    let configuration = Config::parse("contract.toml".to_owned(), configuration.to_owned()).unwrap();
    Outcome::of(&document("base.yaml", LIBRARY), revision, &configuration, TODAY)
}

#[test]
fn the_repair_of_a_version_is_a_version_that_is_high_enough() {
    let breaking = edit(LIBRARY, "- name: limit", "maximum: 100", "maximum: 50").0;
    let additive = edit(LIBRARY, "- name: limit", "maximum: 100", "maximum: 200").0;
    let mut rules = BTreeSet::new();
    for (text, version) in [
        (&breaking, "1.0.0"),
        (&breaking, "1.1.0"),
        (&breaking, "one"),
        (&additive, "1.0.7"),
        (&additive, "0.9.0"),
        (&LIBRARY.to_owned(), "0.9.0"),
    ] {
        let text = text.replace("version: 1.0.0", &format!("version: {version}"));
        let revision = document("new.yaml", &text);
        let found = outcome(&revision, "");
        assert!(found.changes.iter().all(|change| change.repair.is_none()), "{version}");
        let change = found.version.unwrap();
        let model = Model::of(&revision);
        let edits = edits(&model, change.repair.as_ref().unwrap()).unwrap();
        let repaired = document("new.yaml", &edited(&text, &edits));
        assert_eq!(outcome(&repaired, "").version, None, "{version}");
        rules.insert(change.rule.name);
    }
    let expected: BTreeSet<&str> = REPAIRED.iter().copied().filter(|rule| rule.starts_with("api-")).collect();
    assert_eq!(rules, expected);
}

#[test]
fn each_rule_has_a_repair_or_a_reason_to_have_none() {
    let unrepaired = UNREPAIRED.iter().flat_map(|(_, rules)| *rules);
    let listed: BTreeSet<&str> = REPAIRED.iter().chain(unrepaired).copied().collect();
    let others = change_rules().filter(|rule| rule.bump == Bump::None).map(|rule| rule.name);
    assert_eq!(listed, others.collect());
}
