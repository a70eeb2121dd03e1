//! The Path Item Object.

use jiff::civil::Date;
use serde_json::Value;

use super::names::Names;
use super::object::Field::Elsewhere;
use super::object::{self, Object};
use super::{list, operation, resolve, served_entries, server};
use crate::document::{Document, Place};
use crate::finding::{Finding, Subject};

const METHODS: [&str; 8] = ["get", "put", "post", "delete", "options", "head", "patch", "trace"];

const PATH_ITEM: Object = Object {
    name: "path",
    fields: &[
        ("get", Elsewhere),
        ("put", Elsewhere),
        ("post", Elsewhere),
        ("delete", Elsewhere),
        ("options", Elsewhere),
        ("head", Elsewhere),
        ("patch", Elsewhere),
        ("trace", Elsewhere),
        ("servers", Elsewhere),
        ("parameters", Elsewhere),
        ("$ref", Elsewhere),
    ],
};

pub(super) fn compare(
    document: &Document,
    subject: &Subject,
    written: &Place<'_>,
    served: &Value,
    everything: &Value,
    today: Date,
) -> Vec<Finding> {
    let Some((written, _)) = resolve(document, written, subject.clone()) else { return Vec::new() };
    let mut findings = object::compare(&PATH_ITEM, subject, &written, served);
    if written.get("servers").is_some() {
        findings.extend(server::compare(&written, subject, everything));
    }
    findings.extend(list(&written, "parameters", subject).err());
    let names = Names { kind: "operation", owner: subject, container: &written, case_matters: true };
    let operations = written.entries().filter(|(method, _)| METHODS.contains(method));
    let matched =
        names.matched(operations, served_entries(Some(served)).filter(|(name, _)| METHODS.contains(name)));
    findings.extend(matched.findings);
    for (_, place, operation) in matched.pairs {
        let shared = (&written, served);
        findings.extend(operation::compare(document, &place, operation, shared, everything, today));
    }
    findings
}
