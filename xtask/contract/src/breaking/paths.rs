//! Paths, matched by what they are on the wire: `/pets/{petId}` and `/pets/{id}` are the same path.

use super::comparer::{Comparer, Owner};
use super::data::pairs;
use super::place::At;
use super::{deprecation, operation, rules, servers, unknown};
use crate::openapi::{METHODS, Object, PathItem};

/// A path item, and the object under the path, which may be a reference to it.
type Path<'a> = (PathItem<'a>, Object<'a>);

pub(super) fn compare(cx: &mut Comparer<'_>) {
    let (old, new) = (cx.base.root(), cx.revision.root());
    for (old, new) in old.child("paths").into_iter().zip(new.child("paths")) {
        unknown::compare(cx, &old, &new, &[]);
    }
    // Equal templates first, so that paths of the same shape are not mixed up.
    let all = pairs(paths(&old), paths(&new));
    let (mut removed, mut added) = (Vec::new(), Vec::new());
    for pair in all {
        match pair {
            (Some((old, _)), Some((new, _))) => both(cx, old, new),
            (Some(old), None) => removed.push((shape(old.0.path()), old)),
            (None, Some(new)) => added.push((shape(new.0.path()), new)),
            (None, None) => {}
        }
    }
    for pair in pairs(removed, added) {
        match pair {
            (Some((old, declared)), Some((new, object))) => {
                cx.owner = Owner::Document;
                let what = format!("its parameters were renamed; the path was `{}`", old.path());
                let places = (At::of(&declared), At::of(&object));
                cx.report(&rules::PATH_PARAMETER_RENAMED, Some(places.0), Some(places.1), what);
                both(cx, old, new);
            }
            (Some((old, _)), None) => {
                let survivor = At::value_or_object(&cx.revision.root(), "paths");
                for old in METHODS.into_iter().filter_map(|method| old.operation(method)) {
                    deprecation::removed(cx, &old, survivor, true);
                }
            }
            (None, Some((new, _))) => {
                for new in METHODS.into_iter().filter_map(|method| new.operation(method)) {
                    operation::added(cx, &new);
                }
            }
            (None, None) => {}
        }
    }
}

/// The path items by template.
fn paths<'a>(root: &Object<'a>) -> Vec<(&'a str, Path<'a>)> {
    let paths = root.child("paths").into_iter().flat_map(|paths| paths.parts());
    paths.filter_map(|object| Some((object.name(), (PathItem::new(object)?, object)))).collect()
}

/// The path without the names between its braces.
fn shape(template: &str) -> String {
    let mut shape = String::with_capacity(template.len());
    let mut rest = template;
    while let Some((before, after)) = rest.split_once('{') {
        shape.push_str(before);
        shape.push_str("{}");
        rest = after.split_once('}').map_or("", |(_, after)| after);
    }
    shape + rest
}

fn both<'a>(cx: &mut Comparer<'a>, old: PathItem<'a>, new: PathItem<'a>) {
    cx.owner = Owner::Document;
    unknown::compare(cx, &old, &new, &[]);
    servers::compare(cx, &old, &new);
    for method in METHODS {
        match (old.operation(method), new.operation(method)) {
            (Some(old), Some(new)) => operation::compare(cx, &old, &new),
            (Some(old), None) => deprecation::removed(cx, &old, At::of(&new), false),
            (None, Some(new)) => operation::added(cx, &new),
            (None, None) => {}
        }
    }
}
