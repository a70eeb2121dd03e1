//! Compares the product's own document with its code. All other tests use frozen documents.

use std::path::Path;

use animal_store::http::endpoint::CODES_KEYWORD;
use animal_store::http::error_code::ErrorCode;
use animal_store::operations;
use checks::drift::{Help, compare};
use checks::lint::lint;
use document::Document;
use document::finding::Finding;
use jiff::civil::date;
use semver::Version;
use serde_json::{Value, json};
use xtask::dropshot::served;

fn written() -> Document {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../openapi/animal-store.yaml");
    Document::load(&file).unwrap_or_else(|unreadable| panic!("{}", unreadable.problem))
}

/// Returns the differences between the written document and this document of the code.
fn differences(document: &Document, code: &Value) -> Vec<Finding> {
    let code = Document::parse("the code", &code.to_string());
    let code = code.unwrap_or_else(|unreadable| panic!("{}", unreadable.problem));
    compare(document, &code, Help::default())
}

#[test]
fn the_product_has_no_drift_and_no_lint_findings() {
    let document = written();
    let differences = differences(&document, &served::document().unwrap());
    assert!(differences.is_empty(), "{differences:#?}");
    // A date before any sunset, so that the test does not fail some day; `cargo xtask lint` checks the dates.
    let mistakes = lint(&document, date(2026, 1, 1));
    assert!(mistakes.is_empty(), "{mistakes:#?}");
}

#[test]
fn a_missing_code_or_key_check_of_an_operation_is_reported() {
    let (document, api) = (written(), operations::api().unwrap());
    let described = api.openapi("Animal Store", Version::new(0, 0, 0)).unwrap();
    let status = |code: &Value| ErrorCode::from_word(code.as_str().unwrap()).unwrap().status();
    let (mut reported, mut same_status) = (0, 0);
    for (path, item) in described["paths"].as_object().unwrap() {
        for (method, operation) in item.as_object().unwrap() {
            let mutated = |change: &dyn Fn(&mut Value)| {
                let mut described = described.clone();
                change(&mut described["paths"][path][method]);
                differences(&document, &served::completed(described).unwrap())
            };
            let unauthenticated = mutated(&|operation| operation["security"] = json!([]));
            assert_eq!(unauthenticated.len(), 1, "{unauthenticated:#?}");
            assert_eq!(unauthenticated[0].rule, "operation-security");
            let codes = operation[CODES_KEYWORD].as_array().unwrap();
            for code in codes {
                let others: Vec<_> = codes.iter().filter(|other| other != &code).cloned().collect();
                let found = mutated(&|operation| operation[CODES_KEYWORD] = json!(others));
                // Only the status is in the document; that a code is declared is an assertion where it is used.
                if others.iter().any(|other| status(other) == status(code)) {
                    assert!(found.is_empty(), "{code}: {found:#?}");
                    same_status += 1;
                } else {
                    assert!(found.iter().any(|it| it.rule == "response-not-in-code"), "{code}: {found:#?}");
                    reported += 1;
                }
            }
        }
    }
    println!("{reported} codes reported, {same_status} with the status of another");
    assert!(reported >= 12, "{reported}");
}
