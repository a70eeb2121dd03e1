//! Tags, by which documentation groups operations.

use std::collections::{HashMap, HashSet};

use crate::document::Node;

use crate::finding::shortened as shown;
use crate::openapi::{Kind, Model, Step};
use crate::rule::{Findings, rules};

rules! {
    OPERATION: Recommended Error "operation-tags", "Spectral: operation-tags",
        "Each operation has a tag.";
    DEFINED: Recommended Error "operation-tag-defined",
        "Spectral: operation-tag-defined; Redocly: operation-tag-defined",
        "The tags of operations are defined in `tags` of the document.";
    USED: Strict Error "no-unused-tags", "this project",
        "Each defined tag is used by an operation.";
    DESCRIPTION: Recommended Error "tag-description", "Spectral: tag-description; Redocly: tag-description",
        "Each tag has a `description`.";
    UNIQUE: Spec Error "openapi-tags-uniqueness", "OpenAPI 3.0.3, 4.7.1.1; Spectral: openapi-tags-uniqueness",
        "No two tags have the same name.";
}

pub(crate) fn check(model: &Model<'_>, findings: &mut Findings) {
    let mut defined = HashMap::new();
    for tag in model.all(Kind::Tag) {
        if !tag.has("description") {
            let message = format!("{} has no description.", tag.subject());
            findings.add(&DESCRIPTION, tag.spot(), message, "Describe what its operations have in common.");
        }
        let Some(name) = tag.text("name") else { continue };
        if defined.insert(name, tag).is_some() {
            let message = format!("{} is defined twice.", tag.subject());
            findings.add(&UNIQUE, tag.value_spot("name"), message, "Remove one.");
        }
    }
    let mut used = HashSet::new();
    for operation in model.all(Kind::Operation) {
        let tags = operation.get("tags").map(Node::items).unwrap_or_default();
        if tags.is_empty() {
            let message = format!("{} has no tag.", operation.subject());
            findings.add(&OPERATION, operation.spot(), message, "Add `tags` with a defined tag.");
        }
        for (number, tag) in tags.iter().enumerate() {
            let Some(name) = tag.as_str() else { continue };
            used.insert(name);
            if !defined.contains_key(name) {
                let message = format!("The tag `{}` of {} is not defined.", shown(name), operation.subject());
                let spot = operation.spot_at(&[Step::Key("tags"), Step::Item(number)], tag.span);
                let fix = "Define it in `tags` of the document, or use a defined one.";
                findings.add(&DEFINED, spot, message, fix);
            }
        }
    }
    for tag in model.all(Kind::Tag).filter(|tag| tag.text("name").is_some_and(|name| !used.contains(name))) {
        let message = format!("No operation has {}.", tag.subject());
        findings.add(&USED, tag.value_spot("name"), message, "Remove it, or add it to an operation.");
    }
}
