//! The rules of this project: each reports the edits of its fixture and nothing else, and the registry knows it.

use std::collections::BTreeSet;
use std::fs;

use checks::explanation::explain;
use checks::finding::Finding;
use checks::lint::lint;
use checks::registry::{find, rules};
use checks::rule::{Fix, Rule};
use document::Document;
use document::edits::{edited, edits};
use document::openapi::Model;
use fixtures::{TODAY, cases};
use project::rules::{PROJECT, add};

const FOLDER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/fixtures/lint");

fn own() -> impl Iterator<Item = &'static Rule> {
    PROJECT.checks.iter().flat_map(|(rules, _)| *rules).copied()
}

#[test]
fn each_fixture_triggers_its_rule_and_no_other() {
    add();
    for case in cases(FOLDER) {
        let found = lint(&Document::parse("library.yaml", &case.text).unwrap(), TODAY);
        let names: BTreeSet<&str> = found.iter().map(|finding| &*finding.rule).collect();
        let expected = case.also.iter().chain(case.breaks.then_some(&case.rule)).map(String::as_str);
        assert_eq!(names, expected.collect(), "{}", case.name);
        let is_here = |finding: &Finding| finding.rule == case.rule && finding.pointer == case.at;
        assert_eq!(found.iter().any(is_here), case.breaks, "{}: nothing at {}", case.name, case.at);
    }
}

#[test]
fn the_registry_knows_each_rule_by_its_name_and_has_its_example() {
    add();
    let files = fs::read_dir(FOLDER).unwrap().map(|file| file.unwrap().path());
    let files: BTreeSet<_> =
        files.map(|file| file.file_stem().unwrap().to_str().unwrap().to_owned()).collect();
    assert_eq!(own().map(|rule| rule.name.to_owned()).collect::<BTreeSet<_>>(), files);
    for rule in own() {
        assert!(std::ptr::eq(find(rule.name).unwrap(), rule), "{} is the name of two rules", rule.name);
        assert_eq!(rules().filter(|other| other.name == rule.name).count(), 1, "{}", rule.name);
        assert!(explain(rule).contains("\nReported at `"), "{}", explain(rule));
    }
}

#[test]
fn each_repair_removes_its_finding() {
    add();
    let mut repaired = BTreeSet::new();
    for case in cases(FOLDER).into_iter().filter(|case| case.breaks) {
        let parsed = |text: &str| Document::parse("library.yaml", text).unwrap();
        let found = |document: &Document| {
            lint(document, TODAY).into_iter().filter(|finding| finding.rule == case.rule).collect::<Vec<_>>()
        };
        let document = parsed(&case.text);
        let before = found(&document);
        for repair in before.iter().flat_map(|finding| &finding.repairs) {
            let edits = edits(&Model::of(&document), repair).unwrap();
            let after = found(&parsed(&edited(&case.text, &edits)));
            assert!(after.len() < before.len(), "{}: {}", case.name, repair.title());
            repaired.insert(case.rule.clone());
        }
    }
    let declared = own().filter(|rule| rule.fix != Fix::Manual).map(|rule| rule.name.to_owned());
    assert_eq!(repaired, declared.collect());
}
