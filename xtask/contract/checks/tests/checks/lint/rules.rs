//! Each rule reports the edits of its fixture at their places, and nothing else.

use std::collections::HashSet;
use std::sync::LazyLock;

use checks::breaking::compare;
use checks::finding::{Finding, Severity};
use checks::lint::{self, Settings, lint};
use document::Document;
use fixtures::{Case, LIBRARY, TODAY, cases};

use crate::judge::{summary, wrong_findings};

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

/// Returns the messages of a rule.
fn messages(text: &str, rule: &str) -> Vec<String> {
    findings(text).into_iter().filter(|finding| finding.rule == rule).map(|finding| finding.message).collect()
}

const SHOP: &str = "\
openapi: 3.0.3
info: { title: T, version: 1.0.0 }
paths:
  /pets: { get: { responses: { default: { description: d } } }, put: { responses: { default: { description: d } } } }
  /shops: { get: { tags: [shops, pets], responses: { default: { description: d } } } }
";

#[test]
fn what_all_objects_lack_is_one_finding() {
    for (rule, message) in [
        ("security-defined", "All 3 operations have no `security`."),
        ("operation-summary", "All 3 operations have no `summary`."),
        ("operation-operationId", "All 3 operations have no `operationId`."),
        ("operation-4xx-response", "All 3 operations have no 4xx response."),
        (
            "operation-tag-defined",
            "The document has no `tags`, but its operations use 2, the first is `pets`.",
        ),
    ] {
        assert_eq!(messages(SHOP, rule), [message], "{rule}");
    }
    let two = ["Operation `GET /pets` has no tag.", "Operation `PUT /pets` has no tag."];
    assert_eq!(messages(SHOP, "operation-tags"), two);
    assert_eq!(
        messages(&SHOP.replace("tags: [shops, pets], ", ""), "operation-tags"),
        ["All 3 operations have no tag."]
    );
}

#[test]
fn a_misspelt_reference_is_no_reason_to_delete_its_target() {
    let text = "\
openapi: 3.0.3
info: { title: T, version: 1.0.0 }
paths:
  /pets: { get: { responses: { default: { $ref: '#/components/responses/Petz' } } } }
components:
  responses:
    Pet: { description: A pet. }
    Pets: { description: Pets. }
";
    let found = findings(text);
    let wrong = found.iter().find(|finding| finding.rule == "invalid-ref").unwrap();
    assert!(wrong.fix.starts_with("Did you mean `Pets`?"), "{}", wrong.fix);
    assert_eq!(wrong.repairs[0].title(), "Change `$ref` to `#/components/responses/Pets`");
    let unused: Vec<_> = found.iter().filter(|finding| finding.rule == "oas3-unused-component").collect();
    assert_eq!(unused.len(), 2, "{}", summary(&found));
    assert!(unused.iter().all(|finding| finding.repairs.is_empty()), "{unused:?}");
}

#[test]
fn a_schema_that_extends_one_of_a_discriminator_is_used() {
    let extending = |of: &str| format!("{{ allOf: [{{ $ref: '#/components/schemas/{of}' }}] }}");
    let text = format!(
        "openapi: 3.0.3\ninfo: {{ title: T, version: 1.0.0 }}\npaths:\n  /a: {{ get: {{ responses: {{ default: {{ description: d, \
         content: {{ application/json: {{ schema: {{ $ref: '#/components/schemas/Vehicle' }} }} }} }} }} }} }}\n\
         components:\n  schemas:\n    Vehicle: {{ discriminator: {{ propertyName: kind }} }}\n    Car: {}\n    Racer: {}\n    \
         Other: {}\n",
        extending("Vehicle"),
        extending("Car"),
        extending("Unrelated")
    );
    let text = text + "    Unrelated: { type: object }\n";
    let unused =
        ["Nothing references schema `Other`.", "Only unused components reference schema `Unrelated`."];
    assert_eq!(messages(&text, "oas3-unused-component"), unused);
}

/// The key of a callback is reported once, and does not prevent a comparison.
#[test]
fn a_wrong_key_of_a_callback_is_one_finding() {
    for value in
        ["onAdded: {}", "post: { responses: { '200': { description: d } } }", "url: 'https://example.org'"]
    {
        let operation = "{ responses: { default: { description: d } }, callbacks: { added: { KEY } } }"
            .replace("KEY", value);
        let text = format!(
            "openapi: 3.0.3\ninfo: {{ title: T, version: 1.0.0 }}\npaths: {{ /a: {{ get: {operation} }} }}\n"
        );
        let found = findings(&text);
        let below = found.iter().filter(|it| it.pointer.starts_with("/paths/~1a/get/callbacks"));
        assert_eq!(below.count(), 1, "{}", summary(&found));
        let changed = text.replace(
            "{ default: { description: d } }, callbacks",
            "{ default: { description: e } }, callbacks",
        );
        let parse = |text: &str| Document::parse("a.yaml", text).unwrap();
        let changes = compare(&parse(&text), &parse(&changed), TODAY);
        assert!(changes.iter().all(|change| change.severity < Severity::Error), "{changes:?}");
    }
}

/// A rule that is off has no findings, and changes no others. Keywords that exclude each other are reported by the most
/// specific rule that is on.
#[test]
fn a_rule_that_is_off_has_no_findings() {
    for case in CASES.iter().filter(|case| case.name.ends_with("breaks 0")) {
        let document = Document::parse("library.yaml", &case.text).unwrap();
        let rule = lint::rules().find(|rule| rule.name == case.rule).unwrap();
        let linted = |off| lint::lint(&document, Settings { off, ..TODAY.into() });
        let mut expected = linted(HashSet::new());
        expected.retain(|finding| finding.rule != rule.name);
        let mut found = linted(HashSet::from([rule.name]));
        found.retain(|finding| finding.rule != "no-contradictory-schemas");
        expected.retain(|finding| finding.rule != "no-contradictory-schemas");
        assert!(found == expected, "{}: {}", case.name, summary(&found));
    }
}
