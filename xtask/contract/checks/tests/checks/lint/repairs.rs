//! Each repair of a finding removes the finding, in YAML and in JSON, and leaves a document that can be read.

use std::collections::BTreeSet;

use checks::lint::{lint, rules};
use checks::registry::find;
use document::Document;
use document::edits::{edited, edits};
use document::finding::Finding;
use document::openapi::Model;
use document::repair::Repair;
use document::rule::{Findings, Profile};
use fixtures::{TODAY, summary};

use super::rules::CASES;

/// The rules with a repair in some fixture.
const REPAIRED: &[&str] = &[
    "deprecation-dates",
    "discriminator-mapping",
    "duplicated-entry-in-enum",
    "encoding-property",
    "field-name-case",
    "invalid-ref",
    "link-target",
    "no-$ref-siblings",
    "no-empty-descriptions",
    "no-ignored-headers",
    "no-ineffective-keywords",
    "no-required-schema-properties-undefined",
    "no-schema-type-mismatch",
    "oas3-operation-security-defined",
    "oas3-server-trailing-slash",
    "oas3-server-variables",
    "oas3-unused-component",
    "operation-id-case",
    "operation-parameters",
    "operation-tag-defined",
    "path-params",
    "quoted-status-codes",
    "schema-name-case",
    "security-scopes-defined",
    "struct-combination",
    "struct-key",
    "struct-keyword",
    "struct-list",
    "struct-type",
    "struct-value",
];

/// The rules without a repair, by the reason.
const UNREPAIRED: &[(&str, &[&str])] = &[
    (
        "A person must write the text or the value.",
        &[
            "array-items",
            "yaml-merge-key",
            "bounded-request-values",
            "callback-expression",
            "closed-request-objects",
            "contact-properties",
            "default-type",
            "explicit-status-codes",
            "format-matches-type",
            "header-description",
            "info-contact",
            "info-description",
            "info-license",
            "info-version-semver",
            "license-url",
            "linear-pattern",
            "media-type-example",
            "no-eval-in-markdown",
            "no-script-tags-in-markdown",
            "oas3-api-servers",
            "oas3-examples-value-or-externalValue",
            "oas3-server-not-example.com",
            "operation-4xx-response",
            "operation-description",
            "operation-operationId",
            "operation-operationId-valid-in-url",
            "operation-success-response",
            "operation-summary",
            "operation-tags",
            "parameter-description",
            "path-declarations-must-exist",
            "path-keys-no-trailing-slash",
            "schema-description",
            "security-defined",
            "struct-missing",
            "tag-description",
            "typed-enum",
            "valid-pattern",
        ],
    ),
    (
        "A person must decide which of several parts is wrong.",
        &[
            "bounds-in-order",
            "no-body-with-204",
            "no-contradictory-schemas",
            "no-invalid-defaults",
            "no-invalid-header-examples",
            "no-invalid-media-type-examples",
            "no-invalid-parameter-examples",
            "no-invalid-schema-examples",
            "openapi-tags-uniqueness",
            "operation-operationId-unique",
            "sunset-near",
            "sunset-passed",
        ],
    ),
    (
        "The document needs another structure.",
        &[
            "example-validation-limit",
            "no-circular-refs",
            "no-identical-paths",
            "no-ignored-request-body",
            "path-not-include-query",
        ],
    ),
];

#[test]
fn each_repair_removes_its_finding() {
    let (mut wrong, mut rules) = (String::new(), BTreeSet::new());
    for case in CASES.iter().filter(|case| case.breaks) {
        let root = document::read(&case.text).unwrap();
        let json = serde_json::to_string_pretty(&root).unwrap();
        for (file, text) in [("library.yaml", &case.text), ("library.json", &json)] {
            if let Err(problem) = repairs(file, text, &mut rules) {
                wrong.push_str(&format!("\n{} in {file}: {problem}", case.name));
            }
        }
    }
    assert_eq!(wrong, "");
    assert_eq!(rules.into_iter().collect::<Vec<_>>(), REPAIRED);
}

#[test]
fn each_rule_has_a_repair_or_a_reason_to_have_none() {
    let unrepaired = UNREPAIRED.iter().flat_map(|(_, rules)| *rules);
    let mut listed: Vec<&str> = REPAIRED.iter().chain(unrepaired).copied().collect();
    let mut all: Vec<&str> = rules().map(|rule| rule.name).collect();
    listed.sort_unstable();
    all.sort_unstable();
    assert_eq!(listed, all);
}

pub(crate) fn repaired(document: &Document, repair: &Repair) -> Option<String> {
    let model = Model::of(document, &mut Findings::default());
    Some(edited(&document.text, &edits(&model, repair)?))
}

/// Returns the number of findings of rules of the profile `spec`.
fn invalid(findings: &[Finding]) -> usize {
    let is_spec = |finding: &&Finding| find(&finding.rule).is_none_or(|rule| rule.profile == Profile::Spec);
    findings.iter().filter(is_spec).count()
}

/// Returns the number of findings of a rule. A repair moves the places of other findings.
fn of_rule(findings: &[Finding], rule: &str) -> usize {
    findings.iter().filter(|finding| finding.rule == rule).count()
}

/// Applies each repair of a document, and collects the rules that have one.
fn repairs(file: &str, text: &str, rules: &mut BTreeSet<String>) -> Result<(), String> {
    let document = Document::parse(file, text).map_err(|unread| unread.problem.to_string())?;
    let findings = lint(&document, TODAY);
    for finding in &findings {
        for repair in &finding.repairs {
            let name = format!("{}, {}", finding.rule, repair.title());
            let Some(text) = repaired(&document, repair) else {
                // The other key exists already.
                match repair {
                    Repair::Rename { .. } => continue,
                    _ => return Err(format!("{name}: no edit")),
                }
            };
            let after =
                Document::parse(file, &text).map_err(|unread| format!("{name}: {}", unread.problem))?;
            let left = lint(&after, TODAY);
            if of_rule(&left, &finding.rule) >= of_rule(&findings, &finding.rule) {
                return Err(format!("{name}: the finding remains"));
            }
            // Of several values, the right one depends on other parts of the document.
            if invalid(&left) > invalid(&findings) && finding.repairs.len() == 1 {
                return Err(format!("{name}: the document becomes invalid{}", summary(&left)));
            }
            rules.insert(finding.rule.clone());
        }
    }
    Ok(())
}
