//! Components. What they say is compared where it is used; here, only which schemas and security schemes
//! there are, since generated clients have a type for each schema.

use crate::document::Node;

use super::comparer::{Comparer, Owner, Side};
use super::schema::say_the_same;
use super::{rules, security_schemes, unknown};

/// The sections, OpenAPI 3.0.3, section 4.7.7, but for links and callbacks, which are compared as data.
const SECTIONS: [&str; 7] =
    ["schemas", "responses", "parameters", "examples", "requestBodies", "headers", "securitySchemes"];

pub(super) fn compare(cx: &mut Comparer<'_>) {
    let (old, new) = (&cx.base.root, &cx.revision.root);
    let base = cx.mapping(Side::Base, old, "components");
    let revision = cx.mapping(Side::Revision, new, "components");
    if let (Some(base), Some(revision)) = (base, revision) {
        unknown::compare(cx, (base, revision), &SECTIONS);
    }
    let before = base.and_then(|components| cx.mapping(Side::Base, components, "schemas"));
    let after = revision.and_then(|components| cx.mapping(Side::Revision, components, "schemas"));
    let survivor = after.or(revision).unwrap_or(new);
    for entry in before.map(Node::entries).unwrap_or_default() {
        if after.and_then(|schemas| schemas.get(&entry.key)).is_none() {
            let what = format!("the schema `{}` was removed", entry.key);
            cx.report(&rules::SCHEMA_REMOVED, Some(&entry.value), Some(survivor), what);
        }
    }
    for entry in after.map(Node::entries).unwrap_or_default() {
        if before.and_then(|schemas| schemas.get(&entry.key)).is_none() {
            cx.report(&rules::SCHEMA_ADDED, None, Some(&entry.value), "it is new");
        }
    }
    security_schemes::compare(cx, base, revision);
}

/// Notes the schemas that changed though no operation uses them, as nothing else has looked at them.
pub(super) fn compare_unused(cx: &mut Comparer<'_>) {
    cx.owner = Owner::Document;
    let (old, new) = (&cx.base.root, &cx.revision.root);
    let place = "/components/schemas";
    let (Some(before), Some(after)) = (old.pointer(place), new.pointer(place)) else { return };
    let used = cx.parts(Side::Base);
    for entry in before.entries().iter().filter(|entry| !used.contains(&std::ptr::from_ref(&entry.value))) {
        let Some(new) = after.get(&entry.key) else { continue };
        if !say_the_same(cx, (Side::Base, &entry.value), (Side::Revision, new)) {
            let what = "it changed, though no operation uses it";
            cx.report(&rules::UNUSED_SCHEMA_CHANGED, Some(&entry.value), Some(new), what);
        }
    }
}
