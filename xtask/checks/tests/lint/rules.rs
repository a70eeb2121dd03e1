//! Each rule reports the edits of its fixture at their places, and nothing else.

use std::collections::BTreeSet;
use std::path::Path;

use checks::lint::lint;
use document::Document;
use document::Node;
use document::finding::Finding;
use jiff::civil::{Date, date};

use crate::fixture::{Case, cases, document};

pub(crate) const TODAY: Date = date(2026, 11, 21);
const FOLDER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/fixtures/lint");

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

#[test]
fn the_document_is_clean() {
    let document = Document::load(&document()).unwrap_or_else(|unread| panic!("{}", unread.problem));
    let findings = lint(&document, TODAY);
    assert!(findings.is_empty(), "{}", summary(&findings));
}

#[test]
fn each_fixture_triggers_its_rule_and_no_other() {
    let mut wrong = String::new();
    for case in cases(Path::new(FOLDER), &document()) {
        if let Err(problem) = holds(&case) {
            wrong.push_str(&format!("\n{}: {problem}", case.name));
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
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
