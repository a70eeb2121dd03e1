//! The Media Type Object.

use serde_json::Value;

use super::names::Names;
use super::object::Field::{Elsewhere, Plain};
use super::object::{self, Object};
use super::{mapping, schema, served_entries};
use crate::document::{Document, Place};
use crate::finding::{Finding, Subject};

const MEDIA_TYPE: Object =
    Object { name: "media-type", fields: &[("schema", Elsewhere), ("encoding", Plain)] };

/// Compares the `content` of a body, a response, a parameter or a header.
pub(super) fn compare_all(
    document: &Document,
    subject: &Subject,
    owner: &Place<'_>,
    served: &Value,
) -> Vec<Finding> {
    let container = match mapping(owner, "content", subject) {
        Ok(container) => container,
        Err(finding) => return vec![finding],
    };
    let names = Names { kind: "media-type", owner: subject, container: &container, case_matters: true };
    let matched = names.matched(container.entries(), served_entries(served.get("content")));
    let mut findings = matched.findings;
    for (name, place, value) in matched.pairs {
        let subject = subject.with("media type", name);
        findings.extend(object::compare(&MEDIA_TYPE, &subject, &place, value));
        findings.extend(schema::compare_under(document, &subject, &place, value));
    }
    findings
}
