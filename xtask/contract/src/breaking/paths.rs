//! Paths, matched by the URLs of requests: `/pets/{petId}` and `/pets/{id}` are the same path.

use super::comparer::Comparer;
use super::matching::pairs_then;
use super::place::At;
use super::{deprecation, operation, rules, unknown};
use crate::openapi::{METHODS, Object, PathItem, template};

/// A path item, and the object under the path, which may be a reference to it.
type Path<'a> = (PathItem<'a>, Object<'a>);

pub(super) fn compare<'a>(cx: &mut Comparer<'a>) {
    let (old, new) = (cx.base.root(), cx.revision.root());
    for (old, new) in old.child("paths").into_iter().zip(new.child("paths")) {
        unknown::compare(cx, &old, &new, &[]);
    }
    // Equal templates first, so that paths of the same shape are not mixed up.
    let (same, rest) = pairs_then(paths(&old), paths(&new), |(item, _)| template(item.path()).0);
    for ((old, _), (new, _)) in same {
        both(cx, old, new);
    }
    for ((old, declared), (new, object)) in rest.both {
        cx.begin_document();
        let what = format!("its parameters were renamed; the path was `{}`", old.path());
        let (base, revision) = (Some(At::of(&declared)), Some(At::of(&object)));
        cx.report(&rules::PATH_PARAMETER_RENAMED, base, revision, what);
        both(cx, old, new);
    }
    let remaining = At::value_or_object(&cx.revision.root(), "paths");
    for (old, _) in rest.removed {
        old.operations().for_each(|old| deprecation::removed(cx, &old, remaining));
    }
    for (new, _) in rest.added {
        new.operations().for_each(|new| operation::added(cx, &new));
    }
}

/// The path items by template.
fn paths<'a>(root: &Object<'a>) -> Vec<(&'a str, Path<'a>)> {
    let paths = root.child("paths").into_iter().flat_map(|paths| paths.parts());
    paths.filter_map(|object| Some((object.name(), (PathItem::new(object)?, object)))).collect()
}

fn both<'a>(cx: &mut Comparer<'a>, old: PathItem<'a>, new: PathItem<'a>) {
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
