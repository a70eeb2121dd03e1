//! Constructs of OpenAPI that progenitor 0.15 cannot generate a client from.
//!
//! progenitor panics on them, or fails with an error that names neither the place nor the construct. The test
//! `tests/generator` of the root package runs progenitor on the fixtures of these rules: it must fail on what
//! they report, and succeed on the unchanged document.

pub(crate) mod requests;
pub(crate) mod responses;
pub(crate) mod schemas;

use document::finding::shortened;
use document::openapi::{Kind, Model};
use document::rule::{Findings, rules};

rules! {
    REFERENCES: Strict Error "progenitor-references", "progenitor 0.15",
        "References lead to `components`, and no path is a reference.";
}

/// progenitor looks up only the last segment of a reference.
pub(super) fn check(model: &Model<'_>, findings: &mut Findings) {
    for object in model.everything().filter(|object| object.is_reference()) {
        match object.kind() {
            Kind::Schema | Kind::Response | Kind::Parameter | Kind::RequestBody => {}
            Kind::PathItem => {
                let message = format!("{} is a reference.", object.subject());
                let fix = "Replace the reference by the path item.";
                findings.add(&REFERENCES, object.key_spot("$ref"), message, fix);
                continue;
            }
            _ => continue,
        }
        let reference = object.text("$ref").unwrap_or_default();
        let owner = model.target(object.id).and_then(|target| target.parent());
        let is_component = owner.is_some_and(|owner| owner.kind() == Kind::Components);
        if object.resolved().is_some() && (!is_component || reference.contains(['%', '~'])) {
            let message = format!("`{}` is not the plain name of a component.", shortened(reference));
            let fix = "Move the target to `components`, and reference it there.";
            findings.add(&REFERENCES, object.value_spot("$ref"), message, fix);
        }
    }
}
