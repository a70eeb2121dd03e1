//! `additionalProperties`: whether an object may have properties that are not listed, and which values.

use super::{Both, Schema};
use crate::breaking::comparer::Comparer;
use crate::breaking::place::At;
use crate::breaking::rules;
use crate::openapi::Object;

enum Additional<'a> {
    Any(Option<At<'a>>),
    Schemas(Vec<Object<'a>>),
    None(At<'a>),
}

impl<'a> Additional<'a> {
    fn of(schema: &Schema<'a>) -> Self {
        if let Some(closed) = closed(schema) {
            return Self::None(closed);
        }
        let mut schemas = schema.children("additionalProperties");
        schemas.retain(|schema| !schema.node().entries().is_empty());
        match schemas.is_empty() {
            true => Self::Any(schema.first("additionalProperties")),
            false => Self::Schemas(schemas),
        }
    }

    fn place(&self) -> Option<At<'a>> {
        match self {
            Self::Any(place) => *place,
            Self::Schemas(schemas) => schemas.first().map(At::of),
            Self::None(place) => Some(*place),
        }
    }
}

/// Where an object forbids properties that are not listed, if it does.
pub(super) fn closed<'a>(schema: &Schema<'a>) -> Option<At<'a>> {
    schema.all("additionalProperties").find(|at| at.as_bool() == Some(false))
}

pub(super) fn compare<'a>(cx: &mut Comparer<'a>, both: &Both<'a>) {
    let (base, revision) = (Additional::of(&both.base), Additional::of(&both.revision));
    let (family, what) = match (&base, &revision) {
        (Additional::Any(_), Additional::Any(_)) | (Additional::None(_), Additional::None(_)) => return,
        (Additional::Schemas(old), Additional::Schemas(new)) => {
            return both.compare_at(cx, old, new, both.role.piece());
        }
        (_, Additional::None(_)) => {
            (&rules::ADDITIONAL_CLOSED, "properties that are not listed are no longer allowed")
        }
        (Additional::None(_), _) => {
            (&rules::ADDITIONAL_OPENED, "properties that are not listed are now allowed")
        }
        (Additional::Any(_), Additional::Schemas(_)) => {
            (&rules::ADDITIONAL_NARROWED, "properties that are not listed must now match a schema")
        }
        (Additional::Schemas(_), Additional::Any(_)) => {
            (&rules::ADDITIONAL_WIDENED, "properties that are not listed may now have any value")
        }
    };
    both.report(cx, family, base.place(), revision.place(), what);
}
