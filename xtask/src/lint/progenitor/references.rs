//! References: progenitor finds what they name by the last word alone.

use super::super::outline::Outline;
use super::super::rule::{Findings, Origin, Rule};
use super::super::structure::kinds::Kind;
use super::super::structure::shown;

pub(super) const REFERENCES: Rule = Rule::error(
    "progenitor-references",
    Origin::Progenitor,
    "References lead to `components`, and paths have none.",
);

/// What can be referred to, and where it must be.
const SHELVES: &[(Kind, &str)] = &[
    (Kind::Schema, "schemas"),
    (Kind::Response, "responses"),
    (Kind::Parameter, "parameters"),
    (Kind::RequestBody, "requestBodies"),
];

pub(super) fn check(outline: &Outline<'_>, findings: &mut Findings) {
    for object in outline.everything().filter(|object| object.is_reference()) {
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
    for path in outline.all(Kind::PathItem).filter(|path| path.has("$ref")) {
        let message = format!("{} is a reference.", path.subject());
        findings.add(&REFERENCES, path.key_spot("$ref"), message, "Write the path out.");
    }
}
