//! Components. They are compared where they are used. Here only the lists of schemas and security schemes are
//! compared, since generated clients have a type for each schema, and what is compared as data.

use super::comparer::{Comparer, Owner};
use super::data::pairs;
use super::place::At;
use super::schema::is_same;
use super::{rules, unknown};
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
    security_schemes(cx, base, revision);
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

/// Compares what credentials are and how they are sent.
fn security_schemes<'a>(cx: &mut Comparer<'a>, old: Option<Object<'a>>, new: Option<Object<'a>>) {
    let survivor = At::value_or_object(&new.unwrap_or(cx.revision.root()), "securitySchemes");
    let lists = (named(old, "securitySchemes"), named(new, "securitySchemes"));
    let rules = (&rules::SCHEME_ADDED, &rules::SCHEME_REMOVED);
    for (old, new) in cx.in_both("security scheme", rules, lists, survivor) {
        for (old, new) in old.resolved().into_iter().zip(new.resolved()) {
            security_scheme(cx, &old, &new);
        }
    }
}

fn security_scheme<'a>(cx: &mut Comparer<'a>, old: &Object<'a>, new: &Object<'a>) {
    unknown::compare(cx, old, new, &[]);
    // The names of HTTP schemes have no case (RFC 9110, section 11.1).
    let scheme = |object: &Object<'a>| object.text("scheme").map(str::to_ascii_lowercase);
    for (rule, keyword) in [
        (&rules::SCHEME_TYPE, "type"),
        (&rules::SCHEME_PLACE, "in"),
        (&rules::SCHEME_PLACE, "name"),
        (&rules::SCHEME_PLACE, "scheme"),
        (&rules::SCHEME_HINT, "bearerFormat"),
        (&rules::SCHEME_AUTHORIZATION_URL, "openIdConnectUrl"),
    ] {
        if keyword != "scheme" || scheme(old) != scheme(new) {
            cx.compare_keyword(rule, (old, new), keyword);
        }
    }
    let flows = |scheme: &Object<'a>| {
        let flows = scheme.child("flows").into_iter().flat_map(|flows| flows.parts());
        flows.map(|flow| (flow.name(), flow)).collect::<Vec<_>>()
    };
    let survivor = At::value_or_object(new, "flows");
    let rules = (&rules::SCHEME_FLOW_ADDED, &rules::SCHEME_FLOW_REMOVED);
    for (old, new) in cx.in_both("flow", rules, (flows(old), flows(new)), survivor) {
        flow(cx, &old, &new);
    }
}

fn flow<'a>(cx: &mut Comparer<'a>, old: &Object<'a>, new: &Object<'a>) {
    unknown::compare(cx, old, new, &[]);
    cx.compare_keyword(&rules::SCHEME_AUTHORIZATION_URL, (old, new), "authorizationUrl");
    cx.compare_keyword(&rules::SCHEME_TOKEN_URL, (old, new), "tokenUrl");
    cx.compare_keyword(&rules::SCHEME_TOKEN_URL, (old, new), "refreshUrl");
    let scopes =
        |flow: &Object<'a>| At::value(flow, "scopes").into_iter().flat_map(At::entries).collect::<Vec<_>>();
    let survivor = At::value_or_object(new, "scopes");
    let rules = (&rules::SCHEME_SCOPE_ADDED, &rules::SCHEME_SCOPE_REMOVED);
    cx.in_both("scope", rules, (scopes(old), scopes(new)), survivor);
}
