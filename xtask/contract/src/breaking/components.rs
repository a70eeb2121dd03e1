//! Components. They are compared where they are used. Here only the list of schemas is compared, since generated
//! clients have a type for each.

use super::comparer::{Comparer, named};
use super::data::pairs;
use super::place::At;
use super::{rules, unknown};
use crate::openapi::{Model, Object};
use crate::subschema::are_identical;

/// The Components Object, or else the document, which has nothing under the keywords of components.
fn components<'a>(model: &'a Model<'a>) -> Object<'a> {
    model.root().child("components").unwrap_or(model.root())
}

pub(super) fn compare(cx: &mut Comparer<'_>) {
    let (old, new) = (components(cx.base), components(cx.revision));
    if old.kind() == new.kind() {
        unknown::compare(cx, &old, &new, &[]);
    }
    let rules = (&rules::SCHEMA_ADDED, &rules::SCHEMA_REMOVED);
    cx.children_in_both("schema", rules, (&old, &new), "schemas");
}

/// Reports the schemas that changed though no operation uses them, as nothing else has compared them.
pub(super) fn compare_unused(cx: &mut Comparer<'_>) {
    cx.begin_document();
    let used = cx.parts();
    let (old, new) = (components(cx.base), components(cx.revision));
    for (old, new) in pairs(named(&old, "schemas"), named(&new, "schemas")).both {
        if !used.contains(&old.id) && !are_identical([(old, new)]) {
            let what = "it changed, though no operation uses it";
            cx.report(&rules::UNUSED_SCHEMA_CHANGED, Some(At::of(&old)), Some(At::of(&new)), what);
        }
    }
}
