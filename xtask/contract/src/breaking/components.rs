//! Components. They are compared where they are used. Here only the lists of schemas and security schemes are
//! compared, since generated clients have a type for each schema, and what is compared as data.

use super::comparer::{Comparer, named};
use super::data::pairs;
use super::place::At;
use super::schema::is_same;
use super::{rules, unknown};
use crate::openapi::{Model, Object};

/// The Components Object, or else the document, which has nothing under the keywords of components.
fn components<'a>(model: &'a Model<'a>) -> Object<'a> {
    model.root().child("components").unwrap_or(model.root())
}

pub(super) fn compare(cx: &mut Comparer<'_>) {
    let (old, new) = (components(cx.base), components(cx.revision));
    if old.kind() == new.kind() {
        unknown::compare(cx, &old, &new, &[]);
        for (keyword, rule) in [("links", &rules::LINKS_CHANGED), ("callbacks", &rules::CALLBACKS_CHANGED)] {
            cx.compare_keyword(rule, (&old, &new), keyword);
        }
    }
    let rules = (&rules::SCHEMA_ADDED, &rules::SCHEMA_REMOVED);
    cx.children_in_both("schema", rules, (&old, &new), "schemas");
    let rules = (&rules::SCHEME_ADDED, &rules::SCHEME_REMOVED);
    for (old, new) in cx.children_in_both("security scheme", rules, (&old, &new), "securitySchemes") {
        for (old, new) in old.resolved().into_iter().zip(new.resolved()) {
            security_scheme(cx, &old, &new);
        }
    }
}

/// Reports the schemas that changed though no operation uses them, as nothing else has compared them.
pub(super) fn compare_unused(cx: &mut Comparer<'_>) {
    cx.begin_document();
    let used = cx.parts();
    let (old, new) = (components(cx.base), components(cx.revision));
    for (old, new) in pairs(named(&old, "schemas"), named(&new, "schemas")).both {
        if !used.contains(&old.id) && !is_same(cx, old, new) {
            let what = "it changed, though no operation uses it";
            cx.report(&rules::UNUSED_SCHEMA_CHANGED, Some(At::of(&old)), Some(At::of(&new)), what);
        }
    }
}

/// Compares what credentials are and how they are sent.
fn security_scheme<'a>(cx: &mut Comparer<'a>, old: &Object<'a>, new: &Object<'a>) {
    unknown::compare(cx, old, new, &[]);
    // The names of HTTP schemes have no case (RFC 9110, section 11.1).
    let scheme = |object: &Object<'a>| object.text("scheme").map(str::to_ascii_lowercase);
    if scheme(old) != scheme(new) {
        cx.compare_keyword(&rules::SCHEME_PLACE, (old, new), "scheme");
    }
    for (rule, keyword) in [
        (&rules::SCHEME_TYPE, "type"),
        (&rules::SCHEME_PLACE, "in"),
        (&rules::SCHEME_PLACE, "name"),
        (&rules::SCHEME_HINT, "bearerFormat"),
        (&rules::SCHEME_AUTHORIZATION_URL, "openIdConnectUrl"),
    ] {
        cx.compare_keyword(rule, (old, new), keyword);
    }
    let flows = |scheme: &Object<'a>| {
        let flows = scheme.child("flows").into_iter().flat_map(|flows| flows.parts());
        flows.map(|flow| (flow.name(), flow)).collect::<Vec<_>>()
    };
    let rules = (&rules::SCHEME_FLOW_ADDED, &rules::SCHEME_FLOW_REMOVED);
    let survivor = At::value_or_object(new, "flows");
    for (old, new) in cx.in_both("flow", rules, (flows(old), flows(new)), survivor) {
        flow(cx, &old, &new);
    }
}

fn flow<'a>(cx: &mut Comparer<'a>, old: &Object<'a>, new: &Object<'a>) {
    unknown::compare(cx, old, new, &[]);
    cx.compare_keyword(&rules::SCHEME_AUTHORIZATION_URL, (old, new), "authorizationUrl");
    cx.compare_keyword(&rules::SCHEME_TOKEN_URL, (old, new), "tokenUrl");
    cx.compare_keyword(&rules::SCHEME_TOKEN_URL, (old, new), "refreshUrl");
    let scopes = |flow: &Object<'a>| At::value(flow, "scopes").into_iter().flat_map(At::entries);
    let rules = (&rules::SCHEME_SCOPE_ADDED, &rules::SCHEME_SCOPE_REMOVED);
    cx.in_both("scope", rules, (scopes(old), scopes(new)), At::value_or_object(new, "scopes"));
}
