//! Paths, matched by the URLs of requests: `/pets/{petId}` and `/pets/{id}` are the same path.

use document::openapi::{METHODS, Object, Operation, PathItem, template};

use super::comparer::Comparer;
use super::matching::pairs_then;
use super::place::At;
use super::{deprecation, operation, rules, unknown};

pub(super) fn compare<'a>(cx: &mut Comparer<'a>) {
    let (old, new) = (cx.base.root(), cx.revision.root());
    for (old, new) in old.child("paths").into_iter().zip(new.child("paths")) {
        unknown::compare(cx, &old, &new, &[]);
    }
    // Equal templates first, so that paths of the same shape are not mixed up.
    let (same, rest) = pairs_then(paths(&old), paths(&new), |path| template(path.name()).0);
    let (mut removed, mut added) = (Vec::new(), Vec::new());
    for (old, new) in &rest.both {
        renamed(cx, *old, *new);
    }
    for (old, new) in same.into_iter().chain(rest.both) {
        // A reference that leads nowhere is reported as not understood.
        let (Some(old), Some(new)) = (PathItem::new(old), PathItem::new(new)) else { continue };
        cx.begin_document();
        unknown::compare(cx, &old, &new, &[]);
        for method in METHODS {
            match (old.operation(method), new.operation(method)) {
                (Some(old), Some(new)) => operation::compare(cx, &old, &new),
                (Some(old), None) => removed.push((old, At::of(&new))),
                (None, Some(new)) => added.push((new, At::of(&new))),
                (None, None) => {}
            }
        }
    }
    let remaining = At::value_or_object(&cx.revision.root(), "paths");
    for old in rest.removed.into_iter().filter_map(PathItem::new) {
        removed.extend(old.operations().map(|old| (old, remaining)));
    }
    for new in rest.added.into_iter().filter_map(PathItem::new) {
        added.extend(new.operations().map(|new| (new, At::of(&new))));
    }
    unpaired(cx, removed, added);
}

fn renamed<'a>(cx: &mut Comparer<'a>, old: Object<'a>, new: Object<'a>) {
    cx.begin_document();
    let what = format!("its parameters were renamed; the path was `{}`", old.name());
    cx.report(&rules::PATH_PARAMETER_RENAMED, Some(At::of(&old)), Some(At::of(&new)), what);
}

/// The path items, or references to them, by template.
fn paths<'a>(root: &Object<'a>) -> Vec<(&'a str, Object<'a>)> {
    let paths = root.child("paths").into_iter().flat_map(|paths| paths.parts());
    paths.map(|path| (path.name(), path)).collect()
}

/// Reports the operations whose method and path only one document has, at their places. An operation that moved keeps
/// its operationId, and is one change.
fn unpaired<'a>(
    cx: &mut Comparer<'a>,
    removed: Vec<(Operation<'a>, At<'a>)>,
    added: Vec<(Operation<'a>, At<'a>)>,
) {
    // The names of the parameters in a path are not sent.
    let keyed = |operations: Vec<(Operation<'a>, At<'a>)>| {
        let operations = operations.into_iter();
        operations.map(|item| ((item.0.method(), template(item.0.path()).0), item)).collect::<Vec<_>>()
    };
    let id =
        |(operation, _): (Operation<'a>, At<'a>)| operation.id().ok_or(std::ptr::from_ref(operation.node()));
    let (same, rest) = pairs_then(keyed(removed), keyed(added), id);
    for ((old, _), (new, _)) in same {
        renamed(cx, *old.item(), *new.item());
        operation::compare(cx, &old, &new);
    }
    for ((old, _), (new, place)) in rest.both {
        deprecation::removed(cx, &old, place, Some(&new));
    }
    rest.removed.into_iter().for_each(|(old, place)| deprecation::removed(cx, &old, place, None));
    rest.added.into_iter().for_each(|(new, _)| operation::added(cx, &new));
}
