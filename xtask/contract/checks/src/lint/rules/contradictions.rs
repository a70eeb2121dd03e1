//! Schemas that no value matches.

use std::collections::BTreeSet;

use document::openapi::{Kind, Model, Object};

use super::combinations::ENUM;
use super::schemas::{BOUNDS, ENUM_TYPE, REQUIRED};
use crate::rule::{Findings, rules};
use crate::subschema::{Budget, Schemas};

rules! {
    CONTRADICTION: Recommended Warning "no-contradictory-schemas", "this tool",
        "A value can match each schema: its keywords do not exclude each other.";
}

pub(crate) fn check(model: &Model<'_>, findings: &mut Findings) {
    // Schemas beyond the limit of steps count as satisfiable.
    let mut schemas = Schemas::new(model, model, Budget::of(model.len()));
    let known = findings.places(&[&BOUNDS, &ENUM, &ENUM_TYPE, &REQUIRED]);
    for schema in model.all(Kind::Schema).filter(|schema| !schema.has("not")) {
        let is_known = || is_at_or_below(&known, &schema.pointer());
        if schemas.accepts_nothing(schema) && !is_known() && !contains_the_cause(&mut schemas, schema) {
            let message = format!("No value matches {}: its keywords exclude each other.", schema.subject());
            let fix = "Correct the bound, `format`, `enum` or part of `allOf` that excludes the others.";
            findings.add(&CONTRADICTION, schema.spot(), message, fix);
        }
    }
}

/// Whether one of the places is this one or below it.
fn is_at_or_below(places: &BTreeSet<String>, at: &str) -> bool {
    let below = format!("{at}/");
    places.contains(at) || places.range(below.clone()..).next().is_some_and(|next| next.starts_with(&below))
}

/// Whether a schema inside of this one, such as that of a required property, matches no value either.
fn contains_the_cause<'a>(schemas: &mut Schemas<'a>, schema: Object<'a>) -> bool {
    schema.parts().filter_map(|part| part.resolved()).any(|part| schemas.accepts_nothing(part))
}
