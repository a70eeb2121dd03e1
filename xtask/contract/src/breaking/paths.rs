//! Paths, matched by the URLs of requests: `/pets/{petId}` and `/pets/{id}` are the same path.

use super::comparer::Comparer;
use super::matching::pairs_then;
use super::place::At;
use super::{deprecation, operation, rules, unknown};
use crate::openapi::{METHODS, Object, PathItem, template};

pub(super) fn compare<'a>(cx: &mut Comparer<'a>) {
    let (old, new) = (cx.base.root(), cx.revision.root());
    for (old, new) in old.child("paths").into_iter().zip(new.child("paths")) {
        unknown::compare(cx, &old, &new, &[]);
    }
    // Equal templates first, so that paths of the same shape are not mixed up.
    let (same, rest) = pairs_then(paths(&old), paths(&new), |path| template(path.name()).0);
    for (old, new) in same {
        both(cx, old, new);
    }
    for (old, new) in rest.both {
        cx.begin_document();
        let what = format!("its parameters were renamed; the path was `{}`", old.name());
        cx.report(&rules::PATH_PARAMETER_RENAMED, Some(At::of(&old)), Some(At::of(&new)), what);
        both(cx, old, new);
    }
    let remaining = At::value_or_object(&cx.revision.root(), "paths");
    for old in rest.removed.into_iter().filter_map(PathItem::new) {
        old.operations().for_each(|old| deprecation::removed(cx, &old, remaining));
    }
    for new in rest.added.into_iter().filter_map(PathItem::new) {
        new.operations().for_each(|new| operation::added(cx, &new));
    }
}

/// The path items, or references to them, by template.
fn paths<'a>(root: &Object<'a>) -> Vec<(&'a str, Object<'a>)> {
    let paths = root.child("paths").into_iter().flat_map(|paths| paths.parts());
    paths.map(|path| (path.name(), path)).collect()
}

fn both<'a>(cx: &mut Comparer<'a>, old: Object<'a>, new: Object<'a>) {
    // A reference that leads nowhere is reported as not understood.
    let (Some(old), Some(new)) = (PathItem::new(old), PathItem::new(new)) else { return };
    cx.begin_document();
    unknown::compare(cx, &old, &new, &[]);
    for method in METHODS {
        match (old.operation(method), new.operation(method)) {
            (Some(old), Some(new)) => operation::compare(cx, &old, &new),
            (Some(old), None) => deprecation::removed(cx, &old, At::of(&new)),
            (None, Some(new)) => operation::added(cx, &new),
            (None, None) => {}
        }
    }
}
