//! Components. What they say is compared where it is used; here, only which schemas and security schemes
//! there are, since generated clients have a type for each schema.

use animal_store::yaml::Node;

use super::comparer::{Comparer, Side};
use super::{rules, security_schemes, unknown};

/// The sections, OpenAPI 3.0.3, section 4.7.7.
const SECTIONS: [&str; 9] = [
    "schemas",
    "responses",
    "parameters",
    "examples",
    "requestBodies",
    "headers",
    "securitySchemes",
    "links",
    "callbacks",
];

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
