//! One operation, in both documents.

use std::collections::HashSet;

use crate::document::Node;

use super::comparer::{Comparer, Owner, Side};
use super::{deprecation, parameter, request_body, response, rules, security, servers, unknown};
use crate::breaking::values::{same, shown};

const KEYWORDS: [&str; 14] = [
    "tags",
    "summary",
    "description",
    "externalDocs",
    "operationId",
    "parameters",
    "requestBody",
    "responses",
    "callbacks",
    "deprecated",
    "security",
    "servers",
    "x-sunset",
    "x-deprecated-since",
];

/// An operation of one document.
#[derive(Clone, Copy)]
pub(super) struct Operation<'a> {
    /// Its path, with the names of its parameters.
    pub(super) template: &'a str,
    pub(super) method: &'static str,
    /// The path item it is in.
    pub(super) item: &'a Node,
    pub(super) node: &'a Node,
}

impl Operation<'_> {
    /// Its operationId, or else its method and path.
    pub(super) fn name(&self) -> String {
        let id = self.node.get("operationId").and_then(Node::as_str);
        id.map_or_else(|| format!("{} {}", self.method.to_uppercase(), self.template), str::to_owned)
    }
}

/// Makes this operation the one whose changes are noted.
pub(super) fn begin(cx: &mut Comparer<'_>, operation: &Operation<'_>) {
    cx.owner = Owner::Operation(u32::try_from(cx.operations.len()).unwrap_or(u32::MAX));
    cx.operations.push(operation.name());
}

pub(super) fn added<'a>(cx: &mut Comparer<'a>, operation: &Operation<'a>) {
    begin(cx, operation);
    let what = format!("`{} {}` is new", operation.method.to_uppercase(), operation.template);
    cx.report(&rules::ENDPOINT_ADDED, None, Some(operation.node), what);
}

pub(super) fn compare<'a>(cx: &mut Comparer<'a>, base: &Operation<'a>, revision: &Operation<'a>) {
    begin(cx, revision);
    let (old, new) = (base.node, revision.node);
    unknown::compare(cx, (old, new), &KEYWORDS);
    operation_id(cx, old, new);
    tags(cx, old, new);
    deprecation::compare(cx, old, new);
    parameter::compare(cx, base, revision);
    request_body::compare(cx, old, new);
    response::compare(cx, old, new);
    callbacks(cx, old, new);
    security::compare(cx, old, new);
    if old.get("servers").is_some() || new.get("servers").is_some() {
        servers::compare(cx, old, new);
    }
}

fn operation_id<'a>(cx: &mut Comparer<'a>, old: &'a Node, new: &'a Node) {
    let (before, after) = (old.get("operationId"), new.get("operationId"));
    match (before, after) {
        (Some(before), None) => {
            let what = format!("its operationId {} was removed", shown(before));
            cx.report(&rules::OPERATION_ID_REMOVED, Some(before), Some(new), what);
        }
        (Some(before), Some(after)) if !same(before, after) => {
            let what = format!("its operationId went from {} to {}", shown(before), shown(after));
            cx.report(&rules::OPERATION_ID_REMOVED, Some(before), Some(after), what);
        }
        (None, Some(after)) => {
            let what = format!("it got the operationId {}", shown(after));
            cx.report(&rules::OPERATION_ID_ADDED, None, Some(after), what);
        }
        _ => {}
    }
}

fn tags<'a>(cx: &mut Comparer<'a>, old: &'a Node, new: &'a Node) {
    let (before, after) = (cx.list(Side::Base, old, "tags"), cx.list(Side::Revision, new, "tags"));
    let names = |tags: &'a [Node]| tags.iter().filter_map(Node::as_str).collect::<HashSet<_>>();
    let (old_names, new_names) = (names(before), names(after));
    let lacks = |names: &HashSet<&str>, tag: &Node| tag.as_str().is_some_and(|name| !names.contains(name));
    for tag in before.iter().filter(|tag| lacks(&new_names, tag)) {
        let survivor = new.get("tags").unwrap_or(new);
        cx.report(
            &rules::TAG_REMOVED,
            Some(tag),
            Some(survivor),
            format!("its tag {} was removed", shown(tag)),
        );
    }
    for tag in after.iter().filter(|tag| lacks(&old_names, tag)) {
        cx.report(&rules::TAG_ADDED, None, Some(tag), format!("it got the tag {}", shown(tag)));
    }
}

/// Callbacks turn client and service round; they are compared as data only.
fn callbacks<'a>(cx: &mut Comparer<'a>, old: &'a Node, new: &'a Node) {
    let (before, after) = (old.get("callbacks"), new.get("callbacks"));
    let differs = match (before, after) {
        (Some(before), Some(after)) => !same(before, after),
        (before, after) => before.is_some() != after.is_some(),
    };
    if differs {
        cx.report(&rules::CALLBACKS_CHANGED, before, after.or(Some(new)), "its callbacks changed");
    }
}
