//! Operations: identifier, summary, description, request body.

use std::collections::HashSet;

use crate::finding::shortened as shown;
use crate::openapi::{Kind, Model};
use crate::rule::{Findings, rules};

rules! {
    ID: Recommended Error "operation-operationId",
        "Spectral: operation-operationId; Redocly: operation-operationId",
        "Each operation has an `operationId`.";
    UNIQUE: Spec Error "operation-operationId-unique",
        "OpenAPI 3.0.3, 4.7.10.1; Spectral: operation-operationId-unique; Redocly: \
         operation-operationId-unique",
        "Each `operationId` is unique in the document.";
    URL_SAFE: Recommended Error "operation-operationId-valid-in-url",
        "Spectral: operation-operationId-valid-in-url; Redocly: operation-operationId-url-safe",
        "An `operationId` has only characters that are allowed in a URL.";
    SUMMARY: Recommended Error "operation-summary", "Redocly: operation-summary",
        "Each operation has a `summary`.";
    DESCRIPTION: Recommended Error "operation-description",
        "Spectral: operation-description; Redocly: operation-description",
        "Each operation has a `description`.";
    BODY: Recommended Error "no-ignored-request-body", "OpenAPI 3.0.3, 4.7.10.1; RFC 9110, 9.3",
        "GET, HEAD, DELETE and TRACE have no request body, because HTTP defines no meaning for it and \
         clients ignore it.";
}

pub(crate) fn check(model: &Model<'_>, findings: &mut Findings) {
    let mut ids = HashSet::new();
    for operation in model.all(Kind::Operation) {
        let subject = operation.subject();
        let demanded = [
            ("operationId", &ID, "a name such as `listPets`"),
            ("summary", &SUMMARY, "a few words, for lists of operations"),
            ("description", &DESCRIPTION, "what a client should know"),
        ];
        for (keyword, rule, what) in demanded {
            if !operation.has(keyword) {
                let message = format!("{subject} has no `{keyword}`.");
                findings.add(rule, operation.spot(), message, format!("Add `{keyword}`: {what}."));
            }
        }
        if operation.has("requestBody") && matches!(operation.name(), "get" | "head" | "delete" | "trace") {
            let message =
                format!("{subject} has a request body, which HTTP gives no meaning for its method.");
            let fix = "Use parameters, or another method.";
            findings.add(&BODY, operation.key_spot("requestBody"), message, fix);
        }
        let Some(id) = operation.text("operationId") else { continue };
        let spot = || operation.value_spot("operationId");
        if !ids.insert(id) {
            let message = format!("The `operationId` `{}` is also that of another operation.", shown(id));
            findings.add(&UNIQUE, spot(), message, "Rename one of them.");
        }
        let safe = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~:/?#[]@!$&'()*+,;=".contains(&byte);
        if id.is_empty() || !id.bytes().all(safe) {
            let message =
                format!("The `operationId` `{}` has characters that a URL does not allow.", shown(id));
            findings.add(&URL_SAFE, spot(), message, "Use letters and digits.");
        }
    }
}
