//! Security schemes: what credentials are and how they are sent.

use super::comparer::Comparer;
use super::components::named;
use super::data::{pairs, same, shown};
use super::place::At;
use super::rules::{self, ChangeRule};
use super::unknown;
use crate::openapi::Object;

pub(super) fn compare<'a>(cx: &mut Comparer<'a>, old: Option<Object<'a>>, new: Option<Object<'a>>) {
    let survivor = At::value_or_object(&new.unwrap_or(cx.revision.root()), "securitySchemes");
    for pair in pairs(named(old, "securitySchemes"), named(new, "securitySchemes")) {
        match pair {
            (Some(old), Some(new)) => {
                for (old, new) in old.resolved().into_iter().zip(new.resolved()) {
                    both(cx, &old, &new);
                }
            }
            (Some(old), None) => {
                let what = format!("the security scheme `{}` was removed", old.name());
                cx.report(&rules::SCHEME_REMOVED, Some(At::of(&old)), Some(survivor), what);
            }
            (None, Some(new)) => cx.report(&rules::SCHEME_ADDED, None, Some(At::of(&new)), "it was added"),
            (None, None) => {}
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
    for pair in pairs(flows(old), flows(new)) {
        match pair {
            (Some(old), Some(new)) => flow(cx, &old, &new),
            (Some(old), None) => {
                let what = format!("the flow `{}` was removed", old.name());
                cx.report(&rules::SCHEME_FLOW_REMOVED, Some(At::of(&old)), Some(survivor), what);
            }
            (None, Some(new)) => {
                let what = format!("the flow `{}` was added", new.name());
                cx.report(&rules::SCHEME_FLOW_ADDED, None, Some(At::of(&new)), what);
            }
            (None, None) => {}
        }
    }
}

fn flow<'a>(cx: &mut Comparer<'a>, old: &Object<'a>, new: &Object<'a>) {
    unknown::compare(cx, old, new, &[]);
    keyword(cx, &rules::SCHEME_AUTHORIZATION_URL, (old, new), "authorizationUrl");
    keyword(cx, &rules::SCHEME_TOKEN_URL, (old, new), "tokenUrl");
    keyword(cx, &rules::SCHEME_TOKEN_URL, (old, new), "refreshUrl");
    let scopes = |flow: &Object<'a>| {
        let scopes = At::value(flow, "scopes").into_iter().flat_map(At::entries);
        scopes.map(|(name, at)| (name, (name, at))).collect::<Vec<_>>()
    };
    let survivor = At::value_or_object(new, "scopes");
    for pair in pairs(scopes(old), scopes(new)) {
        match pair {
            (Some((name, old)), None) => {
                let what = format!("the scope `{name}` was removed");
                cx.report(&rules::SCHEME_SCOPE_REMOVED, Some(old), Some(survivor), what);
            }
            (None, Some((name, new))) => {
                cx.report(
                    &rules::SCHEME_SCOPE_ADDED,
                    None,
                    Some(new),
                    format!("the scope `{name}` was added"),
                );
            }
            _ => {}
        }
    }
}
