//! Operations: identifier, request body and tags.

use std::collections::hash_map::Entry;
use std::collections::{BTreeSet, HashMap, HashSet};

use document::Node;
use document::openapi::{Kind, Model};
use document::shortened;

use crate::lint::{item_spot, items, lacking};
use crate::rule::{Added, Findings, rules};

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
    TAG_DEFINED: Recommended Error fix Unsafe "operation-tag-defined",
        "Spectral: operation-tag-defined; Redocly: operation-tag-defined",
        "The tags of operations are defined in `tags` of the document.";
    TAG_UNIQUE: Spec Error "openapi-tags-uniqueness",
        "OpenAPI 3.0.3, 4.7.1.1; Spectral: openapi-tags-uniqueness",
        "No two tags have the same name.";
}

pub(crate) fn check(model: &Model<'_>, findings: &mut Findings) {
    let mut ids = HashMap::new();
    for operation in model.all(Kind::Operation) {
        if operation.has("requestBody") && matches!(operation.name(), "get" | "head" | "delete" | "trace") {
            let (subject, method) = (operation.subject(), operation.name().to_uppercase());
            let message = format!("{subject} has a request body, but HTTP defines none for {method}.");
            let fix = "Use parameters, or another method.";
            findings.add(&BODY, operation.key_spot("requestBody"), message, fix);
        }
        let Some(id) = operation.text("operationId") else { continue };
        let spot = || operation.value_spot("operationId");
        match ids.entry(id) {
            Entry::Vacant(new) => drop(new.insert(spot().span.line)),
            Entry::Occupied(first) => {
                let message = format!(
                    "The operation on line {} has the `operationId` `{}` too.",
                    first.get(),
                    shortened(id)
                );
                findings.add(&UNIQUE, spot(), message, "Rename one of them.");
            }
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
    let (operations, fix) = (model.all(Kind::Operation), "Add `tags` with a defined tag.");
    lacking(&TAGS, operations, ("tag", fix), |it| !items(*it, "tags").is_empty(), findings);
    if !model.root().has("tags") {
        let used = model.all(Kind::Operation).flat_map(|it| items(it, "tags")).filter_map(Node::as_str);
        let used: BTreeSet<_> = used.collect();
        if let Some(first) = used.first() {
            let message = format!(
                "The document has no `tags`, but its operations use {}, the first is `{}`.",
                used.len(),
                shortened(first)
            );
            let fix = "Define each tag of the operations in `tags` of the document.";
            findings.add(&TAG_DEFINED, model.root().spot(), message, fix);
        }
        return;
    }
    for operation in model.all(Kind::Operation) {
        for (number, tag) in items(operation, "tags").iter().enumerate() {
            let Some(name) = tag.as_str().filter(|name| !defined.contains(name)) else { continue };
            let message = format!("The tag `{}` of {} is not defined.", shortened(name), operation.subject());
            let meant = findings.meant(name, defined.iter().copied());
            let fix = "Define it in `tags` of the document, or use a defined one.";
            let added = findings.add(&TAG_DEFINED, item_spot(operation, "tags", number), message, fix);
            added.meant(meant, Added::write);
        }
    }
}
