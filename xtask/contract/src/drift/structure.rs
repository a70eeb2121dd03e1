//! What cannot be compared, because the structure of the document is not that of OpenAPI.

use std::collections::HashSet;

use crate::document::{Document, pointer};
use crate::finding::{Finding, Subject};
use crate::openapi::{LeftOut, NOT_UNDERSTOOD, left_out};
use crate::rule::Findings;

/// The pointers of the places that are left out, and one finding at the first of them.
pub(super) fn not_understood(
    document: &Document,
    code: &Document,
    found: Findings,
) -> (HashSet<String>, Option<Finding>) {
    // A schema that only the code has is reported where it is missing.
    let missing_schema = |finding: &Finding| {
        let node = document.root.pointer(&finding.pointer).and_then(|node| node.as_str());
        let target = node.filter(|reference| reference.starts_with("#/components/schemas/"));
        target.and_then(pointer::in_reference).is_some_and(|target| code.root.pointer(&target).is_some())
    };
    let findings = found.sorted().into_iter().filter(|finding| !missing_schema(finding)).collect();
    let Some(LeftOut { pointers, first, message }) = left_out(findings) else { return Default::default() };
    let finding = Finding::new(NOT_UNDERSTOOD.severity, NOT_UNDERSTOOD.name, &first.pointer, first.span)
        .message(&Subject::document(), message)
        .fix("Run lint, and fix what it reports first.");
    (pointers, Some(finding))
}
