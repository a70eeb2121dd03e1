//! Operations: identifier, request body and tags.

use std::collections::HashSet;

use document::finding::shortened;
use document::openapi::{Kind, Model};
use document::rule::{Added, Findings, rules};

use crate::lint::{item_spot, items};

rules! {
    UNIQUE: Spec Error "operation-operationId-unique",
        "OpenAPI 3.0.3, 4.7.10.1; Spectral: operation-operationId-unique; Redocly: \
         operation-operationId-unique",
        "Each `operationId` is unique in the document.";
    URL_SAFE: Recommended Error "operation-operationId-valid-in-url",
        "Spectral: operation-operationId-valid-in-url; Redocly: operation-operationId-url-safe",
        "An `operationId` has only characters that are allowed in a URL.";
    BODY: Recommended Error "no-ignored-request-body", "OpenAPI 3.0.3, 4.7.10.1; RFC 9110, 9.3",
        "GET, HEAD, DELETE and TRACE have no request body, because HTTP defines no meaning for it and \
         clients ignore it.";
    TAGS: Recommended Error "operation-tags", "Spectral: operation-tags",
        "Each operation has a tag.";
    TAG_DEFINED: Recommended Error "operation-tag-defined",
        "Spectral: operation-tag-defined; Redocly: operation-tag-defined",
        "The tags of operations are defined in `tags` of the document.";
    TAG_UNIQUE: Spec Error "openapi-tags-uniqueness",
        "OpenAPI 3.0.3, 4.7.1.1; Spectral: openapi-tags-uniqueness",
        "No two tags have the same name.";
}

pub(crate) fn check(model: &Model<'_>, findings: &mut Findings) {
    let mut ids = HashSet::new();
    for operation in model.all(Kind::Operation) {
        if operation.has("requestBody") && matches!(operation.name(), "get" | "head" | "delete" | "trace") {
            let subject = operation.subject();
            let message =
                format!("{subject} has a request body, which HTTP gives no meaning for its method.");
            let fix = "Use parameters, or another method.";
            findings.add(&BODY, operation.key_spot("requestBody"), message, fix);
        }
        let Some(id) = operation.text("operationId") else { continue };
        let spot = || operation.value_spot("operationId");
        if !ids.insert(id) {
            let message = format!("The `operationId` `{}` is also used by another operation.", shortened(id));
            findings.add(&UNIQUE, spot(), message, "Rename one of them.");
        }
        let safe = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~:/?#[]@!$&'()*+,;=".contains(&byte);
        if id.is_empty() || !id.bytes().all(safe) {
            let message =
                format!("The `operationId` `{}` has characters that a URL does not allow.", shortened(id));
            findings.add(&URL_SAFE, spot(), message, "Use letters and digits.");
        }
    }
    tags(model, findings);
}

fn tags(model: &Model<'_>, findings: &mut Findings) {
    let mut defined = HashSet::new();
    for tag in model.all(Kind::Tag) {
        if tag.text("name").is_some_and(|name| !defined.insert(name)) {
            let message = format!("{} is defined twice.", tag.subject());
            findings.add(&TAG_UNIQUE, tag.value_spot("name"), message, "Remove one.");
        }
    }
    for operation in model.all(Kind::Operation) {
        let tags = items(operation, "tags");
        if tags.is_empty() {
            let message = format!("{} has no tag.", operation.subject());
            findings.add(&TAGS, operation.spot(), message, "Add `tags` with a defined tag.");
        }
        for (number, tag) in tags.iter().enumerate() {
            let Some(name) = tag.as_str().filter(|name| !defined.contains(name)) else { continue };
            let message = format!("The tag `{}` of {} is not defined.", shortened(name), operation.subject());
            let meant = findings.suggestions.nearest(name, defined.iter().copied());
            let fix = "Define it in `tags` of the document, or use a defined one.";
            let added = findings.add(&TAG_DEFINED, item_spot(operation, "tags", number), message, fix);
            added.meant(meant, Added::write);
        }
    }
}
