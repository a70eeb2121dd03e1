//! The Request Body Object.

use serde_json::Value;

use super::object::Field::Elsewhere;
use super::object::{self, OR_FALSE, Object};
use super::{media_type, resolve};
use crate::document::{Document, Place};
use crate::finding::{Finding, Severity, Subject};

const REQUEST_BODY: Object =
    Object { name: "request-body", fields: &[("required", OR_FALSE), ("content", Elsewhere)] };

pub(super) fn compare(
    document: &Document,
    subject: &Subject,
    operation: &Place<'_>,
    served: &Value,
) -> Vec<Finding> {
    match (operation.get("requestBody"), served.get("requestBody")) {
        (None, None) => Vec::new(),
        (Some(written), None) => {
            let finding =
                Finding::new(Severity::Error, "request-body-not-in-code", &written.pointer, written.anchor());
            let message = format!("{subject} takes a body in the file, but not in the code.");
            let finding = finding.message(subject, message).sides("a request body", "no request body");
            vec![finding.fix("Take `requestBody` out, or let the code take a body.")]
        }
        (None, Some(_)) => {
            let finding = Finding::new(
                Severity::Error,
                "request-body-not-in-file",
                &operation.pointer,
                operation.anchor(),
            );
            let message = format!("{subject} takes a body in the code, but not in the file.");
            let finding = finding.message(subject, message).sides("no request body", "a request body");
            vec![finding.fix("Describe the `requestBody`, or let the code take none.")]
        }
        (Some(written), Some(served)) => {
            let subject = subject.with("request body", "");
            let Some((written, subject)) = resolve(document, &written, subject) else { return Vec::new() };
            let mut findings = object::compare(&REQUEST_BODY, &subject, &written, served);
            findings.extend(media_type::compare_all(document, &subject, &written, served));
            findings
        }
    }
}
