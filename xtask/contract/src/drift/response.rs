//! The Responses Object and the Response Object.

use serde_json::Value;

use super::names::Names;
use super::object::Field::{Elsewhere, Plain};
use super::object::{self, Object};
use super::{header, mapping, media_type, resolve, served_entries};
use crate::document::{Document, Place};
use crate::finding::{Finding, Subject};

const RESPONSE: Object =
    Object { name: "response", fields: &[("headers", Elsewhere), ("content", Elsewhere), ("links", Plain)] };

/// Compares the responses of an operation by their status.
pub(super) fn compare_all(
    document: &Document,
    subject: &Subject,
    operation: &Place<'_>,
    served: &Value,
) -> Vec<Finding> {
    let container = match mapping(operation, "responses", subject) {
        Ok(container) => container,
        Err(finding) => return vec![finding],
    };
    let names = Names { kind: "response", owner: subject, container: &container, case_matters: true };
    let written = container.entries().filter(|(status, _)| !status.starts_with("x-"));
    let matched = names.matched(written, served_entries(served.get("responses")));
    let mut findings = matched.findings;
    for (status, place, value) in matched.pairs {
        let subject = subject.with("response", status);
        let Some((place, subject)) = resolve(document, &place, subject) else { continue };
        findings.extend(object::compare(&RESPONSE, &subject, &place, value));
        findings.extend(header::compare_all(document, &subject, &place, value));
        findings.extend(media_type::compare_all(document, &subject, &place, value));
    }
    findings
}
