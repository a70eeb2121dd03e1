//! Operations: what they are called and what is said of them.

use std::collections::HashMap;

use super::super::outline::Outline;
use super::super::rule::{Findings, Origin, Rule};
use super::super::structure::kinds::Kind;
use super::super::structure::shown;

const ID: Rule =
    Rule::error("operation-operationId", Origin::SpectralAndRedocly, "Each operation has an `operationId`.");
const UNIQUE: Rule = Rule::error(
    "operation-operationId-unique",
    Origin::SpectralAndRedocly,
    "No two operations have the same `operationId`.",
);
const URL_SAFE: Rule = Rule::error(
    "operation-operationId-valid-in-url",
    Origin::Spectral,
    "An `operationId` can stand in a URL as it is (Redocly: `operation-operationId-url-safe`).",
);
const SUMMARY: Rule = Rule::error("operation-summary", Origin::Redocly, "Each operation has a summary.");
const DESCRIPTION: Rule =
    Rule::error("operation-description", Origin::SpectralAndRedocly, "Each operation has a description.");
const BODY: Rule = Rule::error(
    "no-body-without-meaning",
    Origin::OpenApi,
    "GET, HEAD, DELETE and TRACE have no request body (RFC 9110, section 9.3, gives it no meaning).",
);

pub(in crate::lint) const RULES: &[&Rule] = &[&ID, &UNIQUE, &URL_SAFE, &SUMMARY, &DESCRIPTION, &BODY];

pub(in crate::lint) fn check(outline: &Outline<'_>, findings: &mut Findings) {
    let mut ids = HashMap::new();
    for operation in outline.all(Kind::Operation) {
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
