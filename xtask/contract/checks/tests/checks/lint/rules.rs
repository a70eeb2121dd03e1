//! Each rule reports the edits of its fixture at their places, and nothing else.

use std::sync::LazyLock;

use checks::lint::lint;
use document::Document;
use document::finding::Finding;
use fixtures::{Case, LIBRARY, TODAY, cases, summary, wrong_findings};

pub(crate) static CASES: LazyLock<Vec<Case>> =
    LazyLock::new(|| cases(concat!(env!("CARGO_MANIFEST_DIR"), "/fixtures/lint")));

pub(crate) fn findings(text: &str) -> Vec<Finding> {
    let document =
        Document::parse("library.yaml", text).unwrap_or_else(|unread| panic!("{}", unread.problem));
    lint(&document, TODAY)
}

#[test]
fn the_document_is_clean() {
    let findings = findings(LIBRARY);
    assert!(findings.is_empty(), "{}", summary(&findings));
}

#[test]
fn each_fixture_triggers_its_rule_and_no_other() {
    assert_eq!(wrong_findings(&CASES, |document| lint(document, TODAY)), "");
}
