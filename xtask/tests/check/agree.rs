//! Compares the product's own document with its code. All other tests use frozen documents.

use std::path::Path;

use contract::document::Document;
use contract::drift::{Help, compare};
use contract::lint::lint;
use jiff::civil::date;
use xtask::dropshot::served;

#[test]
fn the_product_has_no_drift_and_no_lint_findings() {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../openapi/animal-store.yaml");
    let document = Document::load(&file).unwrap_or_else(|unreadable| panic!("{}", unreadable.problem));
    let code = Document::parse("the code", &served::document().unwrap().to_string());
    let code = code.unwrap_or_else(|unreadable| panic!("{}", unreadable.problem));
    let differences = compare(&document, &code, Help::default());
    assert!(differences.is_empty(), "{differences:#?}");
    // A date before any sunset, so that the test does not fail some day; `cargo xtask lint` checks the dates.
    let mistakes = lint(&document, date(2026, 1, 1));
    assert!(mistakes.is_empty(), "{mistakes:#?}");
}
