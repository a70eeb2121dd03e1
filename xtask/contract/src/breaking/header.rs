//! The headers of an answer. Their names have no case (RFC 9110, section 5.1); `Content-Type` is not one of
//! them (OpenAPI 3.0.3, section 4.7.17).

use std::collections::{HashMap, HashSet};

use crate::document::{Entry, Node};

use super::comparer::{Comparer, Side};
use super::deprecation::is_deprecated;
use super::role::Role;
use super::{parameter, rules, unknown};

const KEYWORDS: [&str; 8] =
    ["description", "required", "deprecated", "explode", "schema", "example", "examples", "content"];

pub(super) fn compare<'a>(cx: &mut Comparer<'a>, base: &'a Node, revision: &'a Node) {
    let old = headers(cx, Side::Base, base);
    let new = headers(cx, Side::Revision, revision);
    let index: HashMap<_, _> = new.iter().map(|(name, entry, node)| (name, (*entry, *node))).collect();
    let names: HashSet<_> = old.iter().map(|(name, ..)| name).collect();
    for (name, entry, node) in &old {
        match index.get(name) {
            Some((_, new)) => both(cx, node, new),
            None => {
                let rule = match is_required(node) {
                    true => &rules::HEADER_REMOVED_REQUIRED,
                    false => &rules::HEADER_REMOVED_OPTIONAL,
                };
                let survivor = revision.get("headers").unwrap_or(revision);
                let what = format!("the header `{}` was removed", entry.key);
                cx.report(rule, Some(&entry.value), Some(survivor), what);
            }
        }
    }
    for (_, entry, _) in new.iter().filter(|(name, ..)| !names.contains(name)) {
        cx.report(&rules::HEADER_ADDED, None, Some(&entry.value), "it is new");
    }
}

/// Name as it is compared, entry, and header through its reference.
type Named<'a> = (String, &'a Entry, &'a Node);

fn headers<'a>(cx: &mut Comparer<'a>, side: Side, response: &'a Node) -> Vec<Named<'a>> {
    let entries = cx.mapping(side, response, "headers").map(Node::entries).unwrap_or_default();
    let mut headers = Vec::new();
    for entry in entries {
        let name = entry.key.to_ascii_lowercase();
        if name == "content-type" {
            continue;
        }
        if let Some(node) = cx.resolve(side, &entry.value) {
            headers.push((name, entry, node));
        }
    }
    headers
}

fn is_required(header: &Node) -> bool {
    header.get("required").and_then(Node::as_bool) == Some(true)
}

fn both<'a>(cx: &mut Comparer<'a>, base: &'a Node, revision: &'a Node) {
    unknown::compare(cx, (base, revision), &KEYWORDS);
    let place = revision.get("required").unwrap_or(revision);
    match (is_required(base), is_required(revision)) {
        (true, false) => {
            cx.report(&rules::HEADER_OPTIONAL, base.get("required"), Some(place), "it became optional");
        }
        (false, true) => {
            cx.report(&rules::HEADER_REQUIRED, base.get("required"), Some(place), "it became required");
        }
        _ => {}
    }
    let (before, after) = (base.get("deprecated"), revision.get("deprecated").unwrap_or(revision));
    match (is_deprecated(base), is_deprecated(revision)) {
        (false, true) => {
            let rule = rules::SCHEMA_DEPRECATED.rule(Role::ResponseHeader);
            cx.report(&rule, before, Some(after), "it is now deprecated");
        }
        (true, false) => {
            let rule = rules::SCHEMA_REACTIVATED.rule(Role::ResponseHeader);
            cx.report(&rule, before, Some(after), "it is no longer deprecated");
        }
        _ => {}
    }
    let explode = |header: &Node| header.get("explode").and_then(Node::as_bool) == Some(true);
    if explode(base) != explode(revision) {
        let what = format!("`explode` went from {} to {}", explode(base), explode(revision));
        let place = revision.get("explode").unwrap_or(revision);
        cx.report(&rules::HEADER_SERIALIZATION, base.get("explode"), Some(place), what);
    }
    parameter::value(cx, (base, revision), &rules::HEADER_SERIALIZATION, Role::ResponseHeader);
}
