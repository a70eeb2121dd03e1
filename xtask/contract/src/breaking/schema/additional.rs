//! `additionalProperties`: whether an object takes properties that are not listed, and which.

use crate::document::Node;

use super::{Both, Schema, compare_at};
use crate::breaking::comparer::Comparer;
use crate::breaking::rules;

enum Additional<'a> {
    All(Option<&'a Node>),
    Some(Vec<&'a Node>),
    None(&'a Node),
}

impl<'a> Additional<'a> {
    fn of(schema: &Schema<'a>) -> Self {
        let said: Vec<_> = schema.all("additionalProperties").collect();
        if let Some(closed) = said.iter().find(|node| node.as_bool() == Some(false)) {
            return Self::None(closed);
        }
        let schemas: Vec<_> = said.iter().copied().filter(|node| !node.entries().is_empty()).collect();
        if schemas.is_empty() { Self::All(said.first().copied()) } else { Self::Some(schemas) }
    }

    fn place(&self) -> Option<&'a Node> {
        match self {
            Self::All(place) => *place,
            Self::Some(schemas) => schemas.first().copied(),
            Self::None(place) => Some(place),
        }
    }
}

pub(super) fn compare<'a>(cx: &mut Comparer<'a>, both: &Both<'a>) {
    let (base, revision) = (Additional::of(&both.base), Additional::of(&both.revision));
    let (family, what) = match (&base, &revision) {
        (Additional::All(_), Additional::All(_)) | (Additional::None(_), Additional::None(_)) => return,
        (Additional::Some(old), Additional::Some(new)) => {
            let (old, new) = ((old.as_slice(), both.base.anchor), (new.as_slice(), both.revision.anchor));
            return compare_at(cx, old, new, both.role.piece());
        }
        (_, Additional::None(_)) => {
            (&rules::ADDITIONAL_CLOSED, "properties that are not listed are no longer allowed")
        }
        (Additional::None(_), _) => {
            (&rules::ADDITIONAL_OPENED, "properties that are not listed are now allowed")
        }
        (Additional::All(_), Additional::Some(_)) => {
            (&rules::ADDITIONAL_NARROWED, "properties that are not listed must now fit a schema")
        }
        (Additional::Some(_), Additional::All(_)) => {
            (&rules::ADDITIONAL_WIDENED, "properties that are not listed may now be anything")
        }
    };
    both.report(cx, family, base.place(), revision.place(), what);
}
