//! Schemas that no value matches.

use document::openapi::{Kind, Model, Object};
use document::rule::{Findings, rules};

use super::combinations::ENUM;
use super::schemas::{BOUNDS, ENUM_TYPE, REQUIRED};
use crate::subschema::Schemas;

rules! {
    CONTRADICTION: Recommended Warning "no-contradictory-schemas", "this tool",
        "A value can match each schema: its keywords do not exclude each other.";
}

/// The steps for each object of the document. Schemas beyond them count as satisfiable.
const WORK_PER_OBJECT: usize = 16;

pub(crate) fn check(model: &Model<'_>, findings: &mut Findings) {
    let mut schemas = Schemas::new(model, model.everything().count().saturating_mul(WORK_PER_OBJECT));
    for schema in model.all(Kind::Schema).filter(|schema| !schema.has("not")) {
        let is_known = || findings.has(&[&BOUNDS, &ENUM, &ENUM_TYPE, &REQUIRED], &schema.pointer());
        if schemas.accepts_nothing(schema) && !is_known() && !contains_the_cause(&mut schemas, schema) {
            let message = format!("No value matches {}: its keywords exclude each other.", schema.subject());
            let fix = "Correct the keyword that contradicts the others, such as a bound, `format` or `enum`.";
            findings.add(&CONTRADICTION, schema.spot(), message, fix);
        }
    }
}

/// Whether a schema inside of this one, such as that of a required property, matches no value either.
fn contains_the_cause<'a>(schemas: &mut Schemas<'a>, schema: Object<'a>) -> bool {
    schema.parts().filter_map(|part| part.resolved()).any(|part| schemas.accepts_nothing(part))
}
