//! Security schemes: what credentials are and how they are sent.

use super::comparer::Comparer;
use super::components::named;
use super::data::{same, shown};
use super::place::At;
use super::rules::{self, ChangeRule};
use super::unknown;
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

/// Compares the value of a keyword.
fn keyword<'a>(
    cx: &mut Comparer<'a>,
    rule: &'static ChangeRule,
    (old, new): (&Object<'a>, &Object<'a>),
    key: &str,
) {
    // The names of HTTP schemes have no case (RFC 9110, section 11.1).
    let text = |object: &Object<'a>| object.text(key).map(str::to_ascii_lowercase);
    let what = match (old.get(key), new.get(key)) {
        (None, None) => return,
        (Some(before), Some(after)) if same(before, after) => return,
        (Some(_), Some(_)) if key == "scheme" && text(old) == text(new) => return,
        (Some(before), Some(after)) => format!("`{key}` changed from {} to {}", shown(before), shown(after)),
        (Some(before), None) => format!("`{key}` {} was removed", shown(before)),
        (None, Some(after)) => format!("`{key}` was set to {}", shown(after)),
    };
    cx.report_keyword(rule, (old, new), key, what);
}

fn both<'a>(cx: &mut Comparer<'a>, old: &Object<'a>, new: &Object<'a>) {
    unknown::compare(cx, old, new, &[]);
    keyword(cx, &rules::SCHEME_TYPE, (old, new), "type");
    keyword(cx, &rules::SCHEME_PLACE, (old, new), "in");
    keyword(cx, &rules::SCHEME_PLACE, (old, new), "name");
    keyword(cx, &rules::SCHEME_PLACE, (old, new), "scheme");
    keyword(cx, &rules::SCHEME_HINT, (old, new), "bearerFormat");
    keyword(cx, &rules::SCHEME_AUTHORIZATION_URL, (old, new), "openIdConnectUrl");
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
    keyword(cx, &rules::SCHEME_AUTHORIZATION_URL, (old, new), "authorizationUrl");
    keyword(cx, &rules::SCHEME_TOKEN_URL, (old, new), "tokenUrl");
    keyword(cx, &rules::SCHEME_TOKEN_URL, (old, new), "refreshUrl");
    let scopes =
        |flow: &Object<'a>| At::value(flow, "scopes").into_iter().flat_map(At::entries).collect::<Vec<_>>();
    let survivor = At::value_or_object(new, "scopes");
    let rules = (&rules::SCHEME_SCOPE_ADDED, &rules::SCHEME_SCOPE_REMOVED);
    cx.in_both("scope", rules, (scopes(old), scopes(new)), survivor);
}
