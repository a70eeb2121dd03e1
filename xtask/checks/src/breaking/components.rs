//! The list of schemas under `components`: generated clients have a type for each. The components themselves are
//! compared where operations use them.

use document::openapi::{Model, Object};

use super::comparer::Comparer;
use super::data::pairs;
use super::lists::named;
use super::place::At;
use super::{rules, unknown};

/// Returns the Components Object, or else the root, which has none of the keywords of components.
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

/// Reports changed schemas that no operation uses, which no other comparison covers.
pub(super) fn compare_unused(cx: &mut Comparer<'_>) {
    cx.begin_document();
    let used = cx.parts();
    let (old, new) = (components(cx.base), components(cx.revision));
    for (old, new) in pairs(named(&old, "schemas"), named(&new, "schemas")).both {
        if !used.contains(&old.id) && !cx.inclusion.is_same_text(old, new) {
            let what = "it changed, but no operation uses it";
            cx.report(&rules::UNUSED_SCHEMA_CHANGED, Some(At::of(&old)), Some(At::of(&new)), what);
        }
    }
}
