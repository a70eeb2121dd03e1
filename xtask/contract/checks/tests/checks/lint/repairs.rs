//! Each repair of a finding removes the finding, in YAML and in JSON, and makes nothing worse.

use std::collections::BTreeSet;

use checks::breaking::compare;
use checks::finding::{Finding, Severity};
use checks::lint::lint;
use checks::registry::find;
use checks::rule::Fix;
use document::Document;
use document::edits::{edited, edits};
use document::openapi::Model;
use document::repair::Repair;
use fixtures::{TODAY, mutants};
use serde_json::json;

use super::broken::{collect, real};
use super::rules::CASES;
use crate::oracle::case::{DIRECTIONS, Dice};
use crate::oracle::generate::{Vocabulary, case};

/// A repair removes its finding and adds none that is as severe. `breaking` decides whether it is safe.
#[test]
fn each_repair_of_the_fixtures_is_an_improvement() {
    let (mut wrong, mut rules) = (Vec::new(), BTreeSet::new());
    for case in CASES.iter().filter(|case| case.breaks) {
        let json = serde_json::to_string_pretty(&document::read(&case.text).unwrap()).unwrap();
        for (file, text) in [("library.yaml", &case.text), ("library.json", &json)] {
            let found = repairs(file, text, &mut rules).into_iter();
            wrong.extend(found.map(|problem| format!("{} in {file}: {problem}", case.name)));
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
    let declared = checks::lint::rules().filter(|rule| rule.fix != Fix::Manual);
    assert_eq!(rules, declared.map(|rule| rule.name.to_owned()).collect());
}

#[test]
fn each_repair_of_damaged_and_generated_documents_is_an_improvement() {
    let damaged = kit::sample(mutants()).step_by(4).map(|mutant| mutant.text);
    let mut dice = Dice::new(5);
    let generated = (0..200).map(|_| {
        let vocabulary = Vocabulary::random(&mut dice);
        let case = case(&mut dice, vocabulary);
        case.document_with(&DIRECTIONS).to_string()
    });
    let mut places = Vec::new();
    collect(&real(), "", &mut places);
    let values = [json!(null), json!(true), json!("text"), json!(1), json!("1"), json!(["text"]), json!({})];
    let of_wrong_type = kit::sample(places.iter().skip(1)).step_by(5).enumerate().map(|(number, place)| {
        let mut document = real();
        *document.pointer_mut(place).unwrap() = values[number % values.len()].clone();
        document.to_string()
    });
    let (mut wrong, mut rules) = (Vec::new(), BTreeSet::new());
    for text in damaged.chain(generated.collect::<Vec<_>>()).chain(of_wrong_type) {
        wrong.extend(repairs("document.yaml", &text, &mut rules));
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
    assert!(rules.len() > 5, "{rules:?}");
}

pub(crate) fn repaired(document: &Document, repair: &Repair) -> Option<String> {
    let model = Model::of(document);
    Some(edited(&document.text, &edits(&model, repair)?))
}

/// Pairs of rules, where a repair of the first may cause a finding of the second, and why.
const CAUSED: &[(&str, &str, &str)] =
    &[("no-empty-descriptions", "operation-description", "An empty text is a missing one.")];

/// Returns the rules that have more findings than before, of at least this severity.
fn added<'f>(before: &[Finding], after: &'f [Finding], least: Severity) -> BTreeSet<&'f str> {
    let number = |findings: &[Finding], rule: &str| findings.iter().filter(|it| it.rule == rule).count();
    let severe = after.iter().filter(|finding| finding.severity >= least).map(|finding| &*finding.rule);
    severe.filter(|rule| number(after, rule) > number(before, rule)).collect()
}

/// Applies each repair of a document, and collects the rules that have one. Returns what is wrong with them.
fn repairs(file: &str, text: &str, rules: &mut BTreeSet<String>) -> Vec<String> {
    let Ok(document) = Document::parse(file, text) else { return Vec::new() };
    let findings = lint(&document, TODAY);
    let mut wrong = Vec::new();
    for finding in &findings {
        let rule = find(&finding.rule).unwrap();
        for repair in &finding.repairs {
            let Some(text) = repaired(&document, repair) else { continue };
            let mut fails = |what: String| wrong.push(format!("{}, {}: {what}", rule.name, repair.title()));
            let after = match Document::parse(file, &text) {
                Ok(after) => after,
                Err(unread) => {
                    fails(unread.problem.to_string());
                    continue;
                }
            };
            let left = lint(&after, TODAY);
            let of_rule = |findings: &[Finding]| findings.iter().filter(|it| it.rule == rule.name).count();
            if of_rule(&left) >= of_rule(&findings) {
                fails("the finding remains".to_owned());
            }
            // Of several values, the right one depends on other parts of the document.
            let mut added = added(&findings, &left, finding.severity);
            added.retain(|other| !CAUSED.iter().any(|(one, caused, _)| (*one, caused) == (rule.name, other)));
            if finding.repairs.len() == 1 && !added.is_empty() {
                fails(format!("it causes {added:?}"));
            }
            // A value of a wrong type is not compared, as long as it has that type.
            if rule.fix == Fix::Safe && finding.repairs.len() == 1 {
                let changes = compare(&document, &after, TODAY).into_iter();
                let changes =
                    changes.filter(|it| it.severity > Severity::Info && it.rule.name != "not-understood");
                changes.for_each(|change| fails(change.finding().message));
            }
            rules.insert(rule.name.to_owned());
        }
    }
    wrong
}
