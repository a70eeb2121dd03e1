//! Paths, matched by what they are on the wire: `/pets/{petId}` and `/pets/{id}` are the same path.

use super::comparer::Comparer;
use super::data::pairs;
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
    let paired = pairs(paths(&old), paths(&new));
    for ((old, _), (new, _)) in paired.both {
        both(cx, old, new);
    }
    let shaped = |paths: Vec<Path<'a>>| paths.into_iter().map(|path| (template(path.0.path()).0, path));
    let paired = pairs(shaped(paired.removed), shaped(paired.added));
    for ((old, declared), (new, object)) in paired.both {
        cx.begin_document();
        let what = format!("its parameters were renamed; the path was `{}`", old.path());
        let (base, revision) = (Some(At::of(&declared)), Some(At::of(&object)));
        cx.report(&rules::PATH_PARAMETER_RENAMED, base, revision, what);
        both(cx, old, new);
    }
    let survivor = At::value_or_object(&cx.revision.root(), "paths");
    for (old, _) in paired.removed {
        old.operations().for_each(|old| deprecation::removed(cx, &old, survivor));
    }
    for (new, _) in paired.added {
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
