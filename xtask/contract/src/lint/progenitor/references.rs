//! References: progenitor looks up only the last segment of a reference.

use crate::finding::shortened as shown;
use crate::openapi::{Kind, Model};
use crate::rule::{Findings, rules};

rules! {
    REFERENCES: Strict Error "progenitor-references", "progenitor 0.15",
        "References lead to `components`, and no path is a reference.";
}

/// The kinds that can be referenced, and the part of `components` where they must be.
const COMPONENTS: &[(Kind, &str)] = &[
    (Kind::Schema, "schemas"),
    (Kind::Response, "responses"),
    (Kind::Parameter, "parameters"),
    (Kind::RequestBody, "requestBodies"),
];

pub(crate) fn check(model: &Model<'_>, findings: &mut Findings) {
    for object in model.everything().filter(|object| object.is_reference()) {
        let Some(reference) = object.text("$ref") else { continue };
        let Some((_, section)) = COMPONENTS.iter().find(|(kind, _)| *kind == object.kind()) else { continue };
        let place = reference.strip_prefix("#/components/").and_then(|rest| rest.strip_prefix(section));
        let name = place.and_then(|place| place.strip_prefix('/'));
        if object.resolved().is_some() && name.is_none_or(|name| name.contains(['/', '%', '~'])) {
            let message = format!("`{}` is not the plain name of a component.", shown(reference));
            let fix = format!("Move the target to `components/{section}`, and reference it there.");
            findings.add(&REFERENCES, object.value_spot("$ref"), message, fix);
        }
    }
    for path in model.everything().filter(|path| path.kind() == Kind::PathItem && path.is_reference()) {
        let message = format!("{} is a reference.", path.subject());
        findings.add(&REFERENCES, path.key_spot("$ref"), message, "Replace the reference by the path item.");
    }
}
