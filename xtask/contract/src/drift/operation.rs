//! The Operation Object.

use jiff::civil::Date;
use serde_json::Value;

use super::object::Field::{Elsewhere, Plain, SetOrNone};
use super::object::{self, OR_FALSE, Object};
use super::{deprecation, parameter, request_body, response, security, server};
use crate::document::{Document, Place};
use crate::finding::{Finding, Subject};

const OPERATION: Object = Object {
    name: "operation",
    fields: &[
        ("operationId", Plain),
        ("tags", SetOrNone),
        ("deprecated", OR_FALSE),
        ("parameters", Elsewhere),
        ("requestBody", Elsewhere),
        ("responses", Elsewhere),
        ("callbacks", Plain),
        ("security", Elsewhere),
        ("servers", Elsewhere),
    ],
};

/// Compares an operation. `shared` is the path item that it is in, on both sides.
pub(super) fn compare(
    document: &Document,
    written: &Place<'_>,
    served: &Value,
    shared: (&Place<'_>, &Value),
    everything: &Value,
    today: Date,
) -> Vec<Finding> {
    let id = served.get("operationId").and_then(Value::as_str).unwrap_or_default();
    let subject = Subject::document().with("operation", id);
    let mut findings = object::compare(&OPERATION, &subject, written, served);
    if written.is_mapping() {
        findings.extend(security::compare(&document.root(), &subject, written, served));
        if written.get("servers").is_some() {
            findings.extend(server::compare(written, &subject, everything));
        }
        findings.extend(deprecation::judge(document, &subject, written, served, everything, today));
        findings.extend(parameter::compare_all(document, &subject, (shared.0, written), (shared.1, served)));
        findings.extend(request_body::compare(document, &subject, written, served));
        findings.extend(response::compare_all(document, &subject, written, served));
    }
    for finding in &mut findings {
        finding.operations.push(id.to_owned());
    }
    findings
}
