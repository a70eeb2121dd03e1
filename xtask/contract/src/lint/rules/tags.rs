//! Tags, which documentation groups operations by.

use std::collections::{HashMap, HashSet};

use crate::document::Node;

use crate::finding::Severity;
use crate::finding::shortened as shown;
use crate::openapi::Kind;
use crate::openapi::{Model, Step};
use crate::rule::{Findings, Rule};

const OPERATION: Rule =
    Rule::recommended("operation-tags", Severity::Error, "Spectral", "Each operation has a tag.");
const DEFINED: Rule = Rule::recommended(
    "operation-tag-defined",
    Severity::Error,
    "Spectral, Redocly",
    "The tags of operations are defined.",
);
const USED: Rule = Rule::strict(
    "no-unused-tags",
    Severity::Error,
    "this project",
    "Each tag that is defined is one of an operation.",
);
const DESCRIPTION: Rule =
    Rule::recommended("tag-description", Severity::Error, "Spectral, Redocly", "Each tag has a description.");
const UNIQUE: Rule =
    Rule::recommended("openapi-tags-uniqueness", Severity::Error, "Spectral", "No tag is defined twice.");

pub(crate) const RULES: &[&Rule] = &[&OPERATION, &DEFINED, &USED, &DESCRIPTION, &UNIQUE];

pub(crate) fn check(model: &Model<'_>, findings: &mut Findings) {
    let mut defined = HashMap::new();
    for tag in model.all(Kind::Tag) {
        if !tag.has("description") {
            let message = format!("{} has no description.", tag.subject());
            findings.add(&DESCRIPTION, tag.spot(), message, "Say what its operations have in common.");
        }
        let Some(name) = tag.text("name") else { continue };
        if defined.insert(name, tag).is_some() {
            let message = format!("{} is defined twice.", tag.subject());
            findings.add(&UNIQUE, tag.value_spot("name"), message, "Take one out.");
        }
    }
    let mut used = HashSet::new();
    for operation in model.all(Kind::Operation) {
        let tags = operation.get("tags").map(Node::items).unwrap_or_default();
        if !operation.has("tags") {
            let message = format!("{} has no tag.", operation.subject());
            findings.add(&OPERATION, operation.spot(), message, "Add `tags` with one that is defined.");
        }
        for (number, tag) in tags.iter().enumerate() {
            let Some(name) = tag.as_str() else { continue };
            used.insert(name);
            if !defined.contains_key(name) {
                let message = format!("The tag `{}` of {} is not defined.", shown(name), operation.subject());
                let spot = operation.spot_at(&[Step::Key("tags"), Step::Item(number)], tag.span);
                findings.add(
                    &DEFINED,
                    spot,
                    message,
                    "Define it under `tags` of the document, or use one that is.",
                );
            }
        }
    }
    for tag in model.all(Kind::Tag).filter(|tag| tag.text("name").is_some_and(|name| !used.contains(name))) {
        let message = format!("No operation has {}.", tag.subject());
        findings.add(&USED, tag.value_spot("name"), message, "Take it out, or give it to an operation.");
    }
}
