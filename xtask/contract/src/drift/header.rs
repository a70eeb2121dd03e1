//! The Header Object.

use serde_json::Value;

use super::names::Names;
use super::object::Field::{Elsewhere, Or};
use super::object::{self, OR_FALSE, Object};
use super::{mapping, media_type, resolve, schema, served_entries};
use crate::document::{Document, Place};
use crate::finding::{Finding, Subject};

const HEADER: Object = Object {
    name: "header",
    fields: &[
        ("required", OR_FALSE),
        ("deprecated", OR_FALSE),
        ("allowEmptyValue", OR_FALSE),
        ("allowReserved", OR_FALSE),
        ("style", Or(|_| "simple".into())),
        ("explode", OR_FALSE),
        ("schema", Elsewhere),
        ("content", Elsewhere),
    ],
};

/// Compares the headers of a response by their names, whose case does not matter.
pub(super) fn compare_all(
    document: &Document,
    subject: &Subject,
    response: &Place<'_>,
    served: &Value,
) -> Vec<Finding> {
    let container = match mapping(response, "headers", subject) {
        Ok(container) => container,
        Err(finding) => return vec![finding],
    };
    let names = Names { kind: "header", owner: subject, container: &container, case_matters: false };
    let matched = names.matched(container.entries(), served_entries(served.get("headers")));
    let mut findings = matched.findings;
    for (name, place, value) in matched.pairs {
        let Some((place, subject)) = resolve(document, &place, subject.with("header", name)) else {
            continue;
        };
        findings.extend(object::compare(&HEADER, &subject, &place, value));
        findings.extend(schema::compare_under(document, &subject, &place, value));
        findings.extend(media_type::compare_all(document, &subject, &place, value));
    }
    findings
}
