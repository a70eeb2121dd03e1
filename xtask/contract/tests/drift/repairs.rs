//! Each repair of a difference removes the difference.

use std::collections::BTreeSet;
use std::path::Path;

use contract::document::Document;
use contract::drift::{Help, compare};
use contract::finding::Finding;
use contract::repair::Edit;

use crate::fixture::{cases, document};
use crate::fixtures::FOLDER;

/// The rules with a repair in some fixture.
const REPAIRED: &[&str] = &[
    "document-differs",
    "header-differs",
    "header-not-in-code",
    "operation-differs",
    "parameter-differs",
    "parameter-not-in-code",
    "path-not-in-code",
    "request-body-differs",
    "response-differs",
    "schema-differs",
    "security-scheme-differs",
    "unknown-keyword",
];

fn of_rule(findings: &[Finding], rule: &str) -> usize {
    findings.iter().filter(|finding| finding.rule == rule).count()
}

#[test]
fn each_repair_removes_its_difference() {
    let (mut wrong, mut rules) = (String::new(), BTreeSet::new());
    let frozen = std::fs::read_to_string(document().with_extension("code.json")).unwrap();
    for case in cases(Path::new(FOLDER), &document()).into_iter().filter(|case| case.breaks) {
        let code = Document::parse("code.json", case.code.as_deref().unwrap_or(&frozen)).unwrap();
        let written = Document::parse("library.yaml", &case.text).unwrap();
        let findings = compare(&written, &code, Help::default());
        for (finding, repair) in
            findings.iter().flat_map(|it| it.repairs.iter().map(move |repair| (it, repair)))
        {
            let name = format!("{}, {}: {}", case.name, finding.rule, repair.title());
            let Some(Edit { range, text }) = repair.edit(&written) else {
                wrong.push_str(&format!("\n{name}: no edit"));
                continue;
            };
            let mut repaired = case.text.clone();
            repaired.replace_range(range, &text);
            let left =
                Document::parse("library.yaml", &repaired).map(|it| compare(&it, &code, Help::default()));
            match left {
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
