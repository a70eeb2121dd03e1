//! Components. They are compared where they are used. Here only the lists of schemas and security schemes are
//! compared, since generated clients have a type for each schema, and what is compared as data.

use super::comparer::{Comparer, Owner};
use super::data::pairs;
use super::place::At;
use super::schema::is_same;
use super::{rules, security_schemes, unknown};
use crate::openapi::Object;

pub(super) fn compare(cx: &mut Comparer<'_>) {
    let (old, new) = (cx.base.root(), cx.revision.root());
    let (base, revision) = (old.child("components"), new.child("components"));
    for (old, new) in base.iter().zip(&revision) {
        unknown::compare(cx, old, new, &[]);
        for (keyword, rule) in [("links", &rules::LINKS_CHANGED), ("callbacks", &rules::CALLBACKS_CHANGED)] {
            cx.compare_keyword(rule, (old, new), keyword);
        }
    }
    let survivor = At::value_or_object(&revision.unwrap_or(new), "schemas");
    let lists = (named(base, "schemas"), named(revision, "schemas"));
    cx.in_both("schema", (&rules::SCHEMA_ADDED, &rules::SCHEMA_REMOVED), lists, survivor);
    security_schemes::compare(cx, base, revision);
}

/// The components under a keyword, by name.
pub(super) fn named<'a>(components: Option<Object<'a>>, keyword: &str) -> Vec<(&'a str, Object<'a>)> {
    let objects = components.into_iter().flat_map(|components| components.children(keyword));
    objects.map(|object| (object.name(), object)).collect()
}

/// Reports the schemas that changed though no operation uses them, as nothing else has compared them.
pub(super) fn compare_unused(cx: &mut Comparer<'_>) {
    cx.owner = Owner::Document;
    let used = cx.parts();
    let (old, new) = (cx.base.root().child("components"), cx.revision.root().child("components"));
    for (old, new) in pairs(named(old, "schemas"), named(new, "schemas")).both {
        if !used.contains(&old.id) && !is_same(cx, old, new) {
            let what = "it changed, though no operation uses it";
            cx.report(&rules::UNUSED_SCHEMA_CHANGED, Some(At::of(&old)), Some(At::of(&new)), what);
        }
    }
}
