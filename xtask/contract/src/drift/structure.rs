//! What cannot be compared, because the structure of the document is not that of OpenAPI.

use std::collections::HashSet;

use super::rules::NOT_UNDERSTOOD;
use crate::document::{Document, pointer};
use crate::finding::{Finding, Subject};
use crate::rule::Findings;

/// The rules of the structure that leave a place without a meaning. The others leave one that can be compared.
const WITHOUT_MEANING: [&str; 4] = ["struct-type", "struct-key", "invalid-ref", "no-circular-refs"];

/// The pointers of the places without a meaning, and one finding at the first of them.
pub(super) fn not_understood(
    document: &Document,
    code: &Document,
    found: Findings,
) -> (HashSet<String>, Option<Finding>) {
    let missing_schema = |finding: &Finding| {
        // Reported where the schema is missing.
        let node = document.root.pointer(&finding.pointer).and_then(|node| node.as_str());
        let target = node.filter(|reference| reference.starts_with("#/components/schemas/"));
        target.and_then(pointer::in_reference).is_some_and(|target| code.root.pointer(&target).is_some())
    };
    let places: Vec<Finding> = found
        .sorted()
        .into_iter()
        .filter(|finding| WITHOUT_MEANING.contains(&finding.rule.as_str()))
        .filter(|finding| !(finding.rule == "invalid-ref" && missing_schema(finding)))
        .collect();
    let pointers = places.iter().map(|place| place.pointer.clone()).collect();
    // A reference may lead nowhere because of another place.
    let first = places.iter().min_by_key(|place| (place.rule == "invalid-ref", place.span.start));
    let finding = first.map(|first| {
        let others = match places.len() - 1 {
            0 => String::new(),
            1 => " 1 other place cannot be compared either.".to_owned(),
            others => format!(" {others} other places cannot be compared either."),
        };
        let reason = first.message.trim_end_matches('.');
        let message = format!("{reason}, so this place cannot be compared with the code.{others}");
        let rule = &NOT_UNDERSTOOD;
        Finding::new(rule.severity, rule.name, &first.pointer, first.span)
            .message(&Subject::document(), message)
            .fix("Run lint, and fix what it reports first.")
    });
    (pointers, finding)
}
