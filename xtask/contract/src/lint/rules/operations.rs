//! Operations: what they are called and what is said of them.

use std::collections::HashMap;

use crate::finding::Severity;
use crate::finding::shortened as shown;
use crate::openapi::Kind;
use crate::openapi::Model;
use crate::rule::{Findings, Rule};

const ID: Rule = Rule::recommended(
    "operation-operationId",
    Severity::Error,
    "Spectral, Redocly",
    "Each operation has an `operationId`.",
);
const UNIQUE: Rule = Rule::recommended(
    "operation-operationId-unique",
    Severity::Error,
    "Spectral, Redocly",
    "No two operations have the same `operationId`.",
);
const URL_SAFE: Rule = Rule::recommended(
    "operation-operationId-valid-in-url",
    Severity::Error,
    "Spectral",
    "An `operationId` can stand in a URL as it is (Redocly: `operation-operationId-url-safe`).",
);
const SUMMARY: Rule =
    Rule::recommended("operation-summary", Severity::Error, "Redocly", "Each operation has a summary.");
const DESCRIPTION: Rule = Rule::recommended(
    "operation-description",
    Severity::Error,
    "Spectral, Redocly",
    "Each operation has a description.",
);
const BODY: Rule = Rule::spec(
    "no-body-without-meaning",
    "OpenAPI 3.0.3",
    "GET, HEAD, DELETE and TRACE have no request body (RFC 9110, section 9.3, gives it no meaning).",
);

pub(crate) const RULES: &[&Rule] = &[&ID, &UNIQUE, &URL_SAFE, &SUMMARY, &DESCRIPTION, &BODY];

pub(crate) fn check(model: &Model<'_>, findings: &mut Findings) {
    let mut ids = HashMap::new();
    for operation in model.all(Kind::Operation) {
        let subject = operation.subject();
        let demanded = [
            ("operationId", &ID, "a name for it, as `listPets`"),
            ("summary", &SUMMARY, "a few words for lists of operations"),
            ("description", &DESCRIPTION, "what a caller should know"),
        ];
        for (keyword, rule, what) in demanded {
            if !operation.has(keyword) {
                let message = format!("{subject} has no `{keyword}`.");
                findings.add(rule, operation.spot(), message, format!("Add `{keyword}`: {what}."));
            }
        }
        if operation.has("requestBody") && matches!(operation.name(), "get" | "head" | "delete" | "trace") {
            let message = format!("{subject} has a request body, which its method gives no meaning.");
            let fix = "Use parameters, or another method.";
            findings.add(&BODY, operation.key_spot("requestBody"), message, fix);
        }
        let Some(id) = operation.text("operationId") else { continue };
        let spot = || operation.value_spot("operationId");
        if let Some(other) = ids.insert(id, operation) {
            let message = format!("{} has the `operationId` `{}` too.", other.subject(), shown(id));
            findings.add(&UNIQUE, spot(), message, "Give one of them another name.");
        }
        let safe = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~:/?#[]@!$&'()*+,;=".contains(&byte);
        if id.is_empty() || !id.bytes().all(safe) {
            let message = format!("The `operationId` `{}` cannot stand in a URL.", shown(id));
            findings.add(&URL_SAFE, spot(), message, "Use letters and digits.");
        }
    }
}
