//! The findings of the profile `spec` on small documents, expected by the text of OpenAPI 3.0.3.

use std::collections::BTreeSet;

use checks::lint::rules;
use checks::rule::Profile;
use document::openapi::Model;
use document::{Document, Node};
use serde_json::json;

use super::rules::findings;
use crate::judge::summary;

/// Adds the required parts that the file leaves out to a document.
fn completed(item: &Node) -> String {
    let mut document = json!({ "openapi": "3.0.3", "info": { "title": "T", "version": "1" }, "paths": {} });
    for entry in item.entries() {
        document[&entry.key] = entry.value.to_json();
    }
    document.to_string()
}

/// Compares the rules that report a document with those that should.
fn judge(item: &Node, expected: &[&str]) -> Result<(), String> {
    let text = completed(item);
    let spec: BTreeSet<_> =
        rules().filter(|rule| rule.profile == Profile::Spec).map(|rule| rule.name).collect();
    let mut findings = findings(&text);
    findings.retain(|finding| spec.contains(&*finding.rule));
    let names: BTreeSet<_> = findings.iter().map(|finding| &*finding.rule).collect();
    let expected = expected.iter().copied().collect();
    if names == expected {
        Ok(())
    } else {
        Err(format!("\n{text}: {expected:?} expected:{}", summary(&findings)))
    }
}

#[test]
fn small_documents_are_valid_or_invalid_by_the_specification() {
    let file = document::read(include_str!("validity.yaml")).unwrap();
    let (valid, invalid) = (file.get("valid").unwrap().items(), file.get("invalid").unwrap().entries());
    assert!(valid.len() > 50 && invalid.len() > 15, "too few documents");
    let valid = valid.iter().map(|item| (item, None));
    let invalid =
        invalid.iter().flat_map(|rule| rule.value.items().iter().map(|item| (item, Some(&*rule.key))));
    let judged = valid.chain(invalid).filter_map(|(item, rule)| judge(item, rule.as_slice()).err());
    let wrong: String = judged.collect();
    assert!(wrong.is_empty(), "{wrong}");
}

/// The keys of a mapping in JSON have quotation marks, so the document is in YAML.
#[test]
fn an_unquoted_status_code_is_reported() {
    for (key, is_valid) in
        [("200", false), ("'200'", true), ("\"200\"", true), ("2XX", true), ("default", true)]
    {
        let responses = format!("{{ {key}: {{ description: d }} }}");
        let text = format!(
            "openapi: 3.0.3\ninfo: {{ title: T, version: '1' }}\npaths: {{ /a: {{ get: {{ responses: {responses} }} }} }}\n"
        );
        let found = findings(&text);
        assert_eq!(!found.iter().any(|finding| finding.rule == "quoted-status-codes"), is_valid, "{text}");
    }
}

/// The fields of a path item beside its reference are read too (section 4.7.9.1).
#[test]
fn operations_beside_the_reference_of_a_path_item_are_its_operations() {
    let text = "\
        openapi: 3.0.3\ninfo: { title: T, version: '1' }\npaths:\n  \
        /a: { $ref: '#/x-items/a', get: { operationId: own, responses: {} } }\n\
        x-items: { a: { get: { operationId: hidden, responses: {} }, put: { operationId: shared, responses: {} } } }\n";
    let document = Document::parse("a.yaml", text).unwrap();
    let model = Model::of(&document);
    let operations = model.operations().map(|operation| (operation.path(), operation.name()));
    assert_eq!(operations.collect::<Vec<_>>(), [("/a", "own".to_owned()), ("/a", "shared".to_owned())]);
}
