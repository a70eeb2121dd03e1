//! Security schemes: what credentials are and how they are sent.

use super::comparer::Comparer;
use super::components::named;
use super::place::At;
use super::{rules, unknown};
use crate::openapi::Object;

pub(super) fn compare<'a>(cx: &mut Comparer<'a>, old: Option<Object<'a>>, new: Option<Object<'a>>) {
    let survivor = At::value_or_object(&new.unwrap_or(cx.revision.root()), "securitySchemes");
    let lists = (named(old, "securitySchemes"), named(new, "securitySchemes"));
    let rules = (&rules::SCHEME_ADDED, &rules::SCHEME_REMOVED);
    for (old, new) in cx.in_both("security scheme", rules, lists, survivor) {
        for (old, new) in old.resolved().into_iter().zip(new.resolved()) {
            both(cx, &old, &new);
        }
    }
}

fn both<'a>(cx: &mut Comparer<'a>, old: &Object<'a>, new: &Object<'a>) {
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
