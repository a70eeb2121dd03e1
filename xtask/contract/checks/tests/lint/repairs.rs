//! Each repair of a finding removes the finding, in YAML and in JSON, and leaves a document that can be read.

use std::path::Path;

use checks::lint::rules;

use crate::fixture::document;
use crate::judge::wrong_repairs;

const FOLDER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/fixtures/lint");

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
    let (wrong, rules) = wrong_repairs(Path::new(FOLDER), &document());
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
