//! Each rule reports the edits of its fixture at their places, and nothing else.

use std::path::Path;

use checks::lint::lint;
use document::Document;

use crate::fixture::document;
use crate::judge::{TODAY, summary, wrong_findings};

const FOLDER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/fixtures/lint");

#[test]
fn the_document_is_clean() {
    let document = Document::load(&document()).unwrap_or_else(|unread| panic!("{}", unread.problem));
    let findings = lint(&document, TODAY);
    assert!(findings.is_empty(), "{}", summary(&findings));
}

#[test]
fn each_fixture_triggers_its_rule_and_no_other() {
    assert_eq!(wrong_findings(Path::new(FOLDER), &document()), "");
}
