//! Security schemes: what credentials are and how they are sent.

use crate::document::Node;

use super::comparer::{Comparer, Side};
use super::rules::{self, Rule};
use super::unknown;
use super::values::{same, shown};

const KEYWORDS: [&str; 8] =
    ["type", "description", "name", "in", "scheme", "bearerFormat", "flows", "openIdConnectUrl"];
const FLOW_KEYWORDS: [&str; 4] = ["authorizationUrl", "tokenUrl", "refreshUrl", "scopes"];

pub(super) fn compare<'a>(cx: &mut Comparer<'a>, base: Option<&'a Node>, revision: Option<&'a Node>) {
    let before = base.and_then(|components| cx.mapping(Side::Base, components, "securitySchemes"));
    let after = revision.and_then(|components| cx.mapping(Side::Revision, components, "securitySchemes"));
    let survivor = after.or(revision).unwrap_or(&cx.revision.root);
    for entry in before.map(Node::entries).unwrap_or_default() {
        match after.and_then(|schemes| schemes.get(&entry.key)) {
            None => {
                let what = format!("the security scheme `{}` was removed", entry.key);
                cx.report(&rules::SCHEME_REMOVED, Some(&entry.value), Some(survivor), what);
            }
            Some(new) => {
                let (old, new) = (cx.resolve(Side::Base, &entry.value), cx.resolve(Side::Revision, new));
                if let (Some(old), Some(new)) = (old, new) {
                    both(cx, old, new);
                }
            }
        }
    }
    for entry in after.map(Node::entries).unwrap_or_default() {
        if before.and_then(|schemes| schemes.get(&entry.key)).is_none() {
            cx.report(&rules::SCHEME_ADDED, None, Some(&entry.value), "it is new");
        }
    }
}

/// Notes that a keyword says something else.
fn keyword<'a>(cx: &mut Comparer<'a>, rule: &Rule, (old, new): (&'a Node, &'a Node), key: &str) {
    let (before, after) = (old.get(key), new.get(key));
    // The names of schemes and places have no case (RFC 9110, section 11.1).
    let text = |node: &'a Node| node.as_str().map(str::to_ascii_lowercase);
    let what = match (before, after) {
        (None, None) => return,
        (Some(before), Some(after)) if same(before, after) => return,
        (Some(before), Some(after)) if key == "scheme" && text(before) == text(after) => return,
        (Some(before), Some(after)) => format!("`{key}` went from {} to {}", shown(before), shown(after)),
        (Some(before), None) => format!("`{key}`, {}, was removed", shown(before)),
        (None, Some(after)) => format!("`{key}` was set to {}", shown(after)),
    };
    cx.report(rule, before, after.or(Some(new)), what);
}

fn both<'a>(cx: &mut Comparer<'a>, old: &'a Node, new: &'a Node) {
    unknown::compare(cx, (old, new), &KEYWORDS);
    keyword(cx, &rules::SCHEME_TYPE, (old, new), "type");
    keyword(cx, &rules::SCHEME_PLACE, (old, new), "in");
    keyword(cx, &rules::SCHEME_PLACE, (old, new), "name");
    keyword(cx, &rules::SCHEME_PLACE, (old, new), "scheme");
    keyword(cx, &rules::SCHEME_HINT, (old, new), "bearerFormat");
    keyword(cx, &rules::SCHEME_AUTHORIZATION_URL, (old, new), "openIdConnectUrl");
    let before = cx.mapping(Side::Base, old, "flows");
    let after = cx.mapping(Side::Revision, new, "flows");
    for entry in before.map(Node::entries).unwrap_or_default() {
        match after.and_then(|flows| flows.get(&entry.key)) {
            None => {
                let what = format!("the flow `{}` was removed", entry.key);
                cx.report(&rules::SCHEME_FLOW_REMOVED, Some(&entry.value), after.or(Some(new)), what);
            }
            Some(new) => flow(cx, &entry.value, new),
        }
    }
    for entry in after.map(Node::entries).unwrap_or_default() {
        if before.and_then(|flows| flows.get(&entry.key)).is_none() {
            let what = format!("the flow `{}` is new", entry.key);
            cx.report(&rules::SCHEME_FLOW_ADDED, None, Some(&entry.value), what);
        }
    }
}

fn flow<'a>(cx: &mut Comparer<'a>, old: &'a Node, new: &'a Node) {
    unknown::compare(cx, (old, new), &FLOW_KEYWORDS);
    keyword(cx, &rules::SCHEME_AUTHORIZATION_URL, (old, new), "authorizationUrl");
    keyword(cx, &rules::SCHEME_TOKEN_URL, (old, new), "tokenUrl");
    keyword(cx, &rules::SCHEME_TOKEN_URL, (old, new), "refreshUrl");
    let before = cx.mapping(Side::Base, old, "scopes");
    let after = cx.mapping(Side::Revision, new, "scopes");
    for entry in before.map(Node::entries).unwrap_or_default() {
        if after.and_then(|scopes| scopes.get(&entry.key)).is_none() {
            let what = format!("the scope `{}` was removed", entry.key);
            cx.report(&rules::SCHEME_SCOPE_REMOVED, Some(&entry.value), after.or(Some(new)), what);
        }
    }
    for entry in after.map(Node::entries).unwrap_or_default() {
        if before.and_then(|scopes| scopes.get(&entry.key)).is_none() {
            let what = format!("the scope `{}` is new", entry.key);
            cx.report(&rules::SCHEME_SCOPE_ADDED, None, Some(&entry.value), what);
        }
    }
}
