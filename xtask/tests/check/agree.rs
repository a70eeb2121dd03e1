//! Compares the product's own document with its code. All other tests use frozen documents.

use std::collections::BTreeMap;
use std::path::Path;

use animal_store::http::{Codes, openapi};
use animal_store::operations;
use checks::drift::compare;
use checks::lint::lint;
use document::Document;
use document::finding::Finding;
use jiff::civil::date;
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
    compare(document, &code)
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
    let document = written();
    let (described, codes) = openapi(operations::all()).unwrap();
    let completed = |codes: &BTreeMap<_, _>| served::completed(described.clone(), codes).unwrap();
    for (path, item) in described["paths"].as_object().unwrap() {
        for method in item.as_object().unwrap().keys() {
            let mut unauthenticated = completed(&codes);
            unauthenticated["paths"][path][method]["security"] = json!([]);
            let found = differences(&document, &unauthenticated);
            assert!(found.len() == 1 && found[0].rule == "operation-security", "{found:#?}");
        }
    }
    let (mut reported, mut same_status) = (0, 0);
    for (operation, own) in &codes {
        for code in &own.codes {
            let others: Vec<_> = own.codes.iter().copied().filter(|other| other != code).collect();
            let is_same_status = others.iter().any(|other| other.status() == code.status());
            let mut mutated = codes.clone();
            mutated.insert(operation.clone(), Codes { codes: others, ..own.clone() });
            let found = differences(&document, &completed(&mutated));
            // Only the status is in the document; that a code is declared is an assertion where it is used.
            if is_same_status {
                assert!(found.is_empty(), "{code:?}: {found:#?}");
                same_status += 1;
            } else {
                assert!(found.iter().any(|it| it.rule == "response-not-in-code"), "{code:?}: {found:#?}");
                reported += 1;
            }
        }
    }
    println!("{reported} codes reported, {same_status} with the status of another");
    assert!(reported >= 12, "{reported}");
}
