//! Each repair of a finding removes the finding, in YAML and in JSON, and leaves a document that can be read.

use std::collections::BTreeSet;
use std::path::Path;

use contract::document::Document;
use contract::finding::Finding;
use contract::lint::lint;
use contract::repair::{Edit, Repair};

use crate::fixture::{cases, document};
use crate::rules::TODAY;

const FOLDER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/fixtures/lint");

/// The rules with a repair in some fixture.
const REPAIRED: &[&str] = &[
    "closed-request-objects",
    "deprecation-dates",
    "duplicated-entry-in-enum",
    "error-example-status",
    "format-matches-type",
    "invalid-ref",
    "no-$ref-siblings",
    "no-body-with-204",
    "no-empty-descriptions",
    "no-identical-servers",
    "no-ignored-headers",
    "no-ineffective-keywords",
    "no-invalid-media-type-examples",
    "no-required-default",
    "no-schema-type-mismatch",
    "no-unused-tags",
    "oas3-operation-security-defined",
    "oas3-server-trailing-slash",
    "oas3-server-variables",
    "oas3-unused-component",
    "open-responses",
    "openapi-tags-uniqueness",
    "operation-parameters",
    "path-keys-no-trailing-slash",
    "path-params",
    "progenitor-parameter-style",
    "progenitor-request-encoding",
    "progenitor-response-schema",
    "progenitor-websocket",
    "quoted-status-codes",
    "security-scopes-defined",
    "struct-combination",
    "struct-key",
    "struct-keyword",
    "struct-list",
    "struct-type",
    "struct-value",
];

fn repaired(document: &Document, repair: &Repair) -> Option<String> {
    let Edit { range, text } = repair.edit(document)?;
    let mut repaired = document.text.clone();
    repaired.replace_range(range, &text);
    Some(repaired)
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
            rules.insert(finding.rule.clone());
        }
    }
    Ok(())
}

#[test]
fn each_repair_removes_its_finding() {
    let (mut wrong, mut rules) = (String::new(), BTreeSet::new());
    for case in cases(Path::new(FOLDER), &document()) {
        let root = contract::document::read(&case.text).unwrap();
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
