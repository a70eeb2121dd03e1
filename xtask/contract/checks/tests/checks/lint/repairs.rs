//! Each repair of a finding removes the finding, in YAML and in JSON, and leaves a document that can be read.

use std::collections::BTreeSet;

use checks::finding::Finding;
use checks::judge::summary;
use checks::lint::lint;
use checks::registry::find;
use checks::rule::{Fix, Profile};
use document::Document;
use document::edits::{edited, edits};
use document::openapi::Model;
use document::repair::Repair;
use fixtures::TODAY;

use super::rules::CASES;

#[test]
fn each_repair_removes_its_finding() {
    let (mut wrong, mut rules) = (String::new(), BTreeSet::new());
    for case in CASES.iter().filter(|case| case.breaks) {
        let root = document::read(&case.text).unwrap();
        let json = serde_json::to_string_pretty(&root).unwrap();
        for (file, text) in [("library.yaml", &case.text), ("library.json", &json)] {
            if let Err(problem) = repairs(file, text, &mut rules) {
                wrong.push_str(&format!("\n{} in {file}: {problem}", case.name));
            }
        }
    }
    assert_eq!(wrong, "");
    let declared =
        checks::lint::rules().filter(|rule| rule.fix != Fix::Manual).map(|rule| rule.name.to_owned());
    assert_eq!(rules, declared.collect());
}

pub(crate) fn repaired(document: &Document, repair: &Repair) -> Option<String> {
    let model = Model::of(document);
    Some(edited(&document.text, &edits(&model, repair)?))
}

/// Returns the number of findings of rules of the profile `spec`.
fn invalid(findings: &[Finding]) -> usize {
    let is_spec = |finding: &&Finding| find(&finding.rule).is_none_or(|rule| rule.profile == Profile::Spec);
    findings.iter().filter(is_spec).count()
}

/// Returns the number of findings of a rule. A repair moves the places of other findings.
fn of_rule(findings: &[Finding], rule: &str) -> usize {
    findings.iter().filter(|finding| finding.rule == rule).count()
}

/// Applies each repair of a document, and collects the rules that have one.
fn repairs(file: &str, text: &str, rules: &mut BTreeSet<String>) -> Result<(), String> {
    let document = Document::parse(file, text).map_err(|unread| unread.problem.to_string())?;
    let findings = lint(&document, TODAY);
    for finding in &findings {
        for repair in &finding.repairs {
            let name = format!("{}, {}", finding.rule, repair.title());
            let Some(text) = repaired(&document, repair) else {
                // The other key exists already.
                match repair {
                    Repair::Rename { .. } => continue,
                    _ => return Err(format!("{name}: no edit")),
                }
            };
            let after =
                Document::parse(file, &text).map_err(|unread| format!("{name}: {}", unread.problem))?;
            let left = lint(&after, TODAY);
            if of_rule(&left, &finding.rule) >= of_rule(&findings, &finding.rule) {
                return Err(format!("{name}: the finding remains"));
            }
            // Of several values, the right one depends on other parts of the document.
            if invalid(&left) > invalid(&findings) && finding.repairs.len() == 1 {
                return Err(format!("{name}: the document becomes invalid{}", summary(&left)));
            }
            rules.insert(finding.rule.clone());
        }
    }
    Ok(())
}
