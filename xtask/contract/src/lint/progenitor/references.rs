//! References: progenitor finds what they name by the last word alone.

use crate::finding::Severity;
use crate::finding::shortened as shown;
use crate::openapi::Kind;
use crate::openapi::Model;
use crate::rule::{Findings, Rule};

pub(crate) const REFERENCES: Rule = Rule::strict(
    "progenitor-references",
    Severity::Error,
    "progenitor",
    "References lead to `components`, and paths have none.",
);

/// What can be referred to, and where it must be.
const SHELVES: &[(Kind, &str)] = &[
    (Kind::Schema, "schemas"),
    (Kind::Response, "responses"),
    (Kind::Parameter, "parameters"),
    (Kind::RequestBody, "requestBodies"),
];

pub(crate) fn check(model: &Model<'_>, findings: &mut Findings) {
    for object in model.everything().filter(|object| object.is_reference()) {
        let Some(reference) = object.text("$ref") else { continue };
        let Some((_, shelf)) = SHELVES.iter().find(|(kind, _)| *kind == object.kind()) else { continue };
        let place = reference.strip_prefix("#/components/").and_then(|rest| rest.strip_prefix(shelf));
        let name = place.and_then(|place| place.strip_prefix('/'));
        if object.resolved().is_some() && name.is_none_or(|name| name.contains(['/', '%', '~'])) {
            let message = format!("`{}` does not simply name a component.", shown(reference));
            let fix = format!("Move what it leads to into `components/{shelf}`, and write its name.");
            findings.add(&REFERENCES, object.value_spot("$ref"), message, fix);
        }
    }
    for path in model.all(Kind::PathItem).filter(|path| path.has("$ref")) {
        let message = format!("{} is a reference.", path.subject());
        findings.add(&REFERENCES, path.key_spot("$ref"), message, "Write the path out.");
    }
}
