//! Judges fixtures: each edit triggers its rule and no other, and each repair removes its finding. The tests of the rules
//! of this repository use it too.

use std::collections::BTreeSet;
use std::path::Path;

use checks::lint::lint;
use checks::registry::find;
use document::edits::{edited, edits};
use document::finding::Finding;
use document::openapi::Model;
use document::repair::Repair;
use document::rule::{Findings, Profile};
use document::{Document, Node};
use jiff::civil::{Date, date};

use crate::fixture::{Case, cases};

pub(crate) const TODAY: Date = date(2026, 11, 21);

pub(crate) fn findings(text: &str) -> Vec<Finding> {
    let document =
        Document::parse("library.yaml", text).unwrap_or_else(|unread| panic!("{}", unread.problem));
    lint(&document, TODAY)
}

pub(crate) fn summary(findings: &[Finding]) -> String {
    let each = |finding: &Finding| {
        let Finding { rule, pointer, message, .. } = finding;
        format!("\n  line {}: {rule} at {pointer}: {message}", finding.span.line)
    };
    findings.iter().map(each).collect()
}

/// Returns what is wrong with the findings of the fixtures in a folder.
pub(crate) fn wrong_findings(folder: &Path, document: &Path) -> String {
    let mut wrong = String::new();
    for case in cases(folder, document) {
        if let Err(problem) = holds(&case) {
            wrong.push_str(&format!("\n{}: {problem}", case.name));
        }
    }
    wrong
}

/// Applies the repairs of each finding of the fixtures in a folder. Returns what is wrong with them, and the rules that
/// have one.
pub(crate) fn wrong_repairs(folder: &Path, document: &Path) -> (String, BTreeSet<String>) {
    let (mut wrong, mut rules) = (String::new(), BTreeSet::new());
    for case in cases(folder, document) {
        let root = document::read(&case.text).unwrap();
        let json = serde_json::to_string_pretty(&root).unwrap();
        for (file, text) in [("library.yaml", &case.text), ("library.json", &json)] {
            if let Err(problem) = repairs(file, text, &mut rules) {
                wrong.push_str(&format!("\n{} in {file}: {problem}", case.name));
            }
        }
    }
    (wrong, rules)
}

fn repaired(document: &Document, repair: &Repair) -> Option<String> {
    let model = Model::of(document, &mut Findings::default());
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

fn holds(case: &Case) -> Result<(), String> {
    let findings = findings(&case.text);
    if !case.breaks {
        return if findings.is_empty() {
            Ok(())
        } else {
            Err(format!("should be clean:{}", summary(&findings)))
        };
    }
    let names: BTreeSet<_> = findings.iter().map(|finding| finding.rule.clone()).collect();
    let expected = case.also.iter().cloned().chain([case.rule.clone()]).collect();
    if names != expected {
        return Err(format!("should break {expected:?}:{}", summary(&findings)));
    }
    let root = document::read(&case.text).map_err(|problem| problem.to_string())?;
    let lines = lines(&root, &case.at).ok_or_else(|| format!("nothing is at {}", case.at))?;
    let here = |finding: &&Finding| finding.rule == case.rule && finding.pointer == case.at;
    let found =
        findings.iter().find(here).ok_or_else(|| format!("nothing at {}:{}", case.at, summary(&findings)))?;
    // A finding in prose is on the line of the word.
    if !(lines.0..=lines.1).contains(&found.span.line) {
        return Err(format!("should be on lines {lines:?}:{}", summary(&findings)));
    }
    if found.message.is_empty()
        || found.fix.is_empty()
        || !found.message.ends_with('.')
        || !found.fix.ends_with(['.', '?'])
    {
        return Err(format!("no sentences: {found:?}"));
    }
    Ok(())
}

/// Returns the first and last line of a key with its value. For a list or mapping, only the first line.
fn lines(root: &Node, pointer: &str) -> Option<(usize, usize)> {
    let node = root.pointer(pointer)?;
    let (owner, key) = pointer.rsplit_once('/').unwrap_or_default();
    let key = key.replace("~1", "/").replace("~0", "~");
    let entry = root.pointer(owner).and_then(|owner| owner.entry(&key));
    let first = entry.map_or(node.span.line, |entry| entry.key_span.line);
    let last = node.as_str().map_or(node.span.line, |text| node.span.line + text.lines().count());
    Some((first, last))
}
