//! The answers of an operation, by status.

use crate::document::Node;

use super::comparer::{Comparer, Side};
use super::role::Role;
use super::values::same;
use super::{header, media_type, rules, unknown};

const KEYWORDS: [&str; 4] = ["description", "headers", "content", "links"];

pub(super) fn compare<'a>(cx: &mut Comparer<'a>, old: &'a Node, new: &'a Node) {
    let base = cx.mapping(Side::Base, old, "responses");
    let revision = cx.mapping(Side::Revision, new, "responses");
    let before = base.map(Node::entries).unwrap_or_default();
    let after = revision.map(Node::entries).unwrap_or_default();
    if let (Some(base), Some(revision)) = (base, revision) {
        unknown::compare_unless(cx, (base, revision), is_status);
    }
    for entry in before.iter().filter(|entry| is_status(&entry.key)) {
        let status = &entry.key;
        match revision.and_then(|responses| responses.get(status)) {
            Some(new) => both(cx, &entry.value, new),
            None => {
                let rule = if is_success(status) { &rules::SUCCESS_REMOVED } else { &rules::FAILURE_REMOVED };
                let survivor = revision.unwrap_or(new);
                cx.report(
                    rule,
                    Some(&entry.value),
                    Some(survivor),
                    format!("the status {status} was removed"),
                );
            }
        }
    }
    for entry in after.iter().filter(|entry| is_status(&entry.key)) {
        let status = &entry.key;
        if base.and_then(|responses| responses.get(status)).is_none() {
            let rule = if is_success(status) { &rules::SUCCESS_ADDED } else { &rules::FAILURE_ADDED };
            cx.report(rule, None, Some(&entry.value), "it is new");
        }
    }
}

/// `200`, `2XX` or `default`.
fn is_status(key: &str) -> bool {
    let status =
        |rest: &str| rest == "XX" || rest.len() == 2 && rest.bytes().all(|byte| byte.is_ascii_digit());
    key == "default" || key.strip_prefix(['1', '2', '3', '4', '5']).is_some_and(status)
}

fn is_success(status: &str) -> bool {
    status.starts_with('2')
}

fn both<'a>(cx: &mut Comparer<'a>, old: &'a Node, new: &'a Node) {
    let (Some(base), Some(revision)) = (cx.resolve(Side::Base, old), cx.resolve(Side::Revision, new)) else {
        return;
    };
    unknown::compare(cx, (base, revision), &KEYWORDS);
    header::compare(cx, base, revision);
    media_type::compare(cx, base, revision, Role::ResponseBody);
    let (before, after) = (base.get("links"), revision.get("links"));
    let differs = match (before, after) {
        (Some(before), Some(after)) => !same(before, after),
        (before, after) => before.is_some() != after.is_some(),
    };
    if differs {
        cx.report(&rules::LINKS_CHANGED, before, after.or(Some(revision)), "its links changed");
    }
}
