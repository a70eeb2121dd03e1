//! The one test that reads the document of the product and asks its code.

use std::path::Path;

use contract::document::Document;
use contract::drift::{Help, compare};
use contract::lint::lint;
use jiff::civil::date;
use xtask::dropshot::served;

#[test]
fn the_document_and_the_code_of_the_product_agree_and_lint_finds_nothing() {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../openapi/animal-store.yaml");
    let document = Document::load(&file).unwrap_or_else(|unreadable| panic!("{}", unreadable.problem));
    let code = Document::parse("the code", &served::document().unwrap().to_string());
    let code = code.unwrap_or_else(|unreadable| panic!("{}", unreadable.problem));
    let differences = compare(&document, &code, Help::default());
    assert!(differences.is_empty(), "{differences:#?}");
    // A day before any sunset: the dates are for `cargo xtask lint`, not for tests.
    let mistakes = lint(&document, date(2026, 1, 1));
    assert!(mistakes.is_empty(), "{mistakes:#?}");
}
