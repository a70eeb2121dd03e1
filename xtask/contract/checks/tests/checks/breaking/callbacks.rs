//! A callback reverses the direction, so each rule about requests or responses of operations has another one there.

use std::collections::{BTreeSet, HashMap};

use checks::breaking::compare;
use serde_json::json;

use super::documents::{TODAY, document};
use super::rules::CASES;

/// The rules that say the same in both directions, and those about parts of the document outside of the callback.
const SAME: [&str; 19] = [
    "api-callbacks-changed",
    "api-schema-added",
    "api-schema-removed",
    "api-security-added",
    "api-security-component-bearer-format-changed",
    "api-security-component-place-changed",
    "api-security-component-renamed",
    "api-security-component-type-changed",
    "api-security-lifted",
    "api-security-removed",
    "api-security-required",
    "api-security-scope-added",
    "api-security-scope-removed",
    "extension-changed",
    "keyword-changed",
    "not-understood",
    "response-links-changed",
    "server-added",
    "server-removed",
];

/// Returns a document whose only operation sends the requests that the paths of another document describe.
fn sent(text: &str) -> String {
    let mut document = document::read(text).unwrap().to_json();
    let paths = document["paths"].take();
    let subscribe =
        json!({ "responses": { "204": { "description": "Done." } }, "callbacks": { "done": paths } });
    document["paths"] = json!({ "/subscriptions": { "post": subscribe } });
    document.to_string()
}

#[test]
fn no_rule_of_the_other_direction_is_reported_for_a_callback() {
    let mut same = BTreeSet::new();
    // Most cases have the same base.
    let mut bases = HashMap::new();
    for case in CASES.iter().filter(|case| case.breaks) {
        let base = bases.entry(&case.base).or_insert_with(|| document("base.yaml", &sent(&case.base)));
        let found = compare(base, &document("new.yaml", &sent(&case.text)), TODAY);
        same.extend(found.iter().map(|change| change.rule.name).filter(|name| *name == case.rule));
    }
    assert_eq!(same, SAME.into());
}
