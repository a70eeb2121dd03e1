//! Each repair of a difference removes the difference.

use std::collections::BTreeSet;

use checks::drift::{compare, rules};
use checks::finding::Finding;
use document::Document;
use document::edits::{edited, edits};
use document::openapi::Model;
use document::repair::Repair;
use fixtures::CODE;

use super::rules::CASES;

/// The rules with a repair in some fixture.
const REPAIRED: &[&str] = &[
    "document-differs",
    "header-differs",
    "media-type-differs",
    "operation-differs",
    "operation-security",
    "parameter-differs",
    "request-body-differs",
    "response-differs",
    "schema-differs",
    "schema-reference",
    "security-scheme-differs",
];

/// The rules without a repair, by the reason.
const UNREPAIRED: &[(&str, &[&str])] = &[
    (
        "A person must add it to the code, or remove it from the document.",
        &[
            "header-not-in-code",
            "media-type-not-in-code",
            "operation-not-in-code",
            "parameter-not-in-code",
            "path-not-in-code",
            "property-not-in-code",
            "request-body-not-in-code",
            "response-not-in-code",
            "schema-not-in-code",
            "security-scheme-not-in-code",
            "tag-not-in-code",
        ],
    ),
    ("A person must choose the URL.", &["server-url"]),
    (
        "A person must describe it in the document, or remove it from the code.",
        &[
            "header-not-in-document",
            "media-type-not-in-document",
            "operation-not-in-document",
            "parameter-not-in-document",
            "path-not-in-document",
            "property-not-in-document",
            "request-body-not-in-document",
            "response-not-in-document",
            "schema-not-in-document",
            "security-scheme-not-in-document",
            "tag-not-in-document",
        ],
    ),
];

fn of_rule(findings: &[Finding], rule: &str) -> usize {
    findings.iter().filter(|finding| finding.rule == rule).count()
}

#[test]
fn each_repair_removes_its_difference() {
    let (mut wrong, mut rules) = (String::new(), BTreeSet::new());
    for case in CASES.iter().filter(|case| case.breaks) {
        let code = Document::parse("code.json", case.code.as_deref().unwrap_or(CODE)).unwrap();
        let written = Document::parse("library.yaml", &case.text).unwrap();
        let findings = compare(&written, &code);
        for (finding, repair) in
            findings.iter().flat_map(|it| it.repairs.iter().map(move |repair| (it, repair)))
        {
            let name = format!("{}, {}: {}", case.name, finding.rule, repair.title());
            let model = Model::of(&written);
            let Some(edits) = edits(&model, repair) else {
                wrong.push_str(&format!("\n{name}: no edit"));
                continue;
            };
            let repaired = edited(&case.text, &edits);
            let left = Document::parse("library.yaml", &repaired).map(|it| compare(&it, &code));
            match left {
                Ok(left)
                    if matches!(repair, Repair::Rename { .. })
                        && finding.rule == case.rule
                        && !left.is_empty() =>
                {
                    wrong.push_str(&format!("\n{name}: the new name differs elsewhere: {left:#?}"));
                }
                Ok(left) if of_rule(&left, &finding.rule) < of_rule(&findings, &finding.rule) => {
                    rules.insert(finding.rule.clone());
                }
                Ok(_) => wrong.push_str(&format!("\n{name}: the finding remains")),
                Err(unread) => wrong.push_str(&format!("\n{name}: {}", unread.problem)),
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
