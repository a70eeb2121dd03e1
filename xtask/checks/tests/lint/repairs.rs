//! Each repair of a finding removes the finding, in YAML and in JSON, and leaves a document that can be read.

use std::collections::BTreeSet;
use std::path::Path;

use checks::lint::{lint, rules};
use checks::registry::find;
use document::Document;
use document::edits::{edited, edits};
use document::finding::Finding;
use document::openapi::Model;
use document::repair::Repair;
use document::rule::{Findings, Profile};

use crate::fixture::{cases, document};
use crate::rules::{TODAY, summary};

const FOLDER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/fixtures/lint");

/// The rules with a repair in some fixture.
const REPAIRED: &[&str] = &[
    "bounded-request-values",
    "closed-request-objects",
    "default-type",
    "deprecation-dates",
    "discriminator-mapping",
    "duplicated-entry-in-enum",
    "encoding-property",
    "error-body",
    "error-code-used",
    "error-example-status",
    "field-name-case",
    "format-matches-type",
    "header-name-case",
    "info-version-semver",
    "invalid-ref",
    "link-target",
    "no-$ref-siblings",
    "no-body-with-204",
    "no-empty-descriptions",
    "no-identical-servers",
    "no-ignored-headers",
    "no-ineffective-keywords",
    "no-invalid-defaults",
    "no-invalid-media-type-examples",
    "no-invalid-schema-examples",
    "no-required-default",
    "no-required-schema-properties-undefined",
    "no-schema-type-mismatch",
    "no-unused-tags",
    "oas3-operation-security-defined",
    "oas3-server-trailing-slash",
    "oas3-server-variables",
    "oas3-unused-component",
    "open-responses",
    "openapi-tags-uniqueness",
    "operation-id-case",
    "operation-operationId-valid-in-url",
    "operation-parameters",
    "operation-tag-defined",
    "path-keys-no-trailing-slash",
    "path-params",
    "progenitor-one-media-type",
    "progenitor-parameter-style",
    "progenitor-request-encoding",
    "progenitor-request-media-type",
    "progenitor-response-schema",
    "progenitor-type",
    "progenitor-websocket",
    "quoted-status-codes",
    "schema-name-case",
    "security-scopes-defined",
    "struct-combination",
    "struct-key",
    "struct-keyword",
    "struct-list",
    "struct-type",
    "struct-value",
    "typed-enum",
];

/// The rules without a repair, by the reason.
const UNREPAIRED: &[(&str, &[&str])] = &[
    (
        "A person must write the text or the value.",
        &[
            "array-items",
            "callback-expression",
            "contact-properties",
            "error-code-listed",
            "explicit-status-codes",
            "header-description",
            "info-contact",
            "info-description",
            "info-license",
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
            "operation-id-verb",
            "operation-operationId",
            "operation-success-response",
            "operation-summary",
            "operation-tags",
            "parameter-description",
            "path-declarations-must-exist",
            "prose-code",
            "prose-header",
            "prose-name",
            "prose-operation",
            "prose-status",
            "schema-description",
            "security-defined",
            "struct-missing",
            "tag-description",
            "valid-pattern",
        ],
    ),
    (
        "A person must decide which of several parts is wrong.",
        &[
            "bounds-in-order",
            "no-contradictory-schemas",
            "no-invalid-header-examples",
            "no-invalid-parameter-examples",
            "operation-operationId-unique",
            "progenitor-enum",
            "progenitor-parameter-names",
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
            "progenitor-composition",
            "progenitor-not",
            "progenitor-one-error",
            "progenitor-one-success",
            "progenitor-parameter-content",
            "progenitor-parameter-object",
            "progenitor-references",
            "routable-paths",
        ],
    ),
];

fn repaired(document: &Document, repair: &Repair) -> Option<String> {
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

fn check(file: &str, text: &str, rules: &mut BTreeSet<String>) -> Result<(), String> {
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

#[test]
fn each_repair_removes_its_finding() {
    let (mut wrong, mut rules) = (String::new(), BTreeSet::new());
    for case in cases(Path::new(FOLDER), &document()) {
        let root = document::read(&case.text).unwrap();
        let json = serde_json::to_string_pretty(&root).unwrap();
        for (file, text) in [("library.yaml", &case.text), ("library.json", &json)] {
            if let Err(problem) = check(file, text, &mut rules) {
                wrong.push_str(&format!("\n{} in {file}: {problem}", case.name));
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
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
