//! The list of schemas under `components`: generated clients have a type for each. The components themselves are
//! compared where operations use them.

use document::openapi::{Model, Object};

use super::comparer::Comparer;
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
