//! Paths, matched by what they are on the wire: `/pets/{petId}` and `/pets/{id}` are one.

use std::collections::HashMap;

use crate::document::Node;

use super::comparer::{Comparer, Owner, Side};
use super::operation::{self, Operation};
use super::{deprecation, rules, servers, unknown};

/// The methods of a path item (OpenAPI 3.0.3, section 4.7.9).
pub(super) const METHODS: [&str; 8] = ["get", "put", "post", "delete", "options", "head", "patch", "trace"];
const KEYWORDS: [&str; 13] = [
    "$ref",
    "summary",
    "description",
    "get",
    "put",
    "post",
    "delete",
    "options",
    "head",
    "patch",
    "trace",
    "servers",
    "parameters",
];

/// A path of one document.
#[derive(Clone, Copy)]
struct Path<'a> {
    template: &'a str,
    /// What stands under it.
    place: &'a Node,
}

pub(super) fn compare(cx: &mut Comparer<'_>) {
    let base = paths(cx, Side::Base);
    let revision = paths(cx, Side::Revision);
    let mut by_template = HashMap::new();
    let mut by_shape: HashMap<String, Vec<usize>> = HashMap::new();
    for (position, path) in revision.iter().enumerate() {
        by_template.insert(path.template, position);
        by_shape.entry(shape(path.template)).or_default().push(position);
    }
    let mut matched = vec![false; revision.len()];
    let mut renamed = Vec::new();
    for old in &base {
        match by_template.get(old.template) {
            Some(position) => {
                matched[*position] = true;
                both(cx, *old, revision[*position]);
            }
            None => renamed.push(*old),
        }
    }
    for old in renamed {
        let same_shape = by_shape.get_mut(&shape(old.template));
        let position = same_shape.and_then(|positions| {
            let free = positions.iter().position(|position| !matched[*position])?;
            Some(positions.swap_remove(free))
        });
        match position {
            Some(position) => {
                matched[position] = true;
                let new = revision[position];
                cx.owner = Owner::Document;
                let what = format!("its parameters were renamed: the path was `{}`", old.template);
                cx.report(&rules::PATH_PARAMETER_RENAMED, Some(old.place), Some(new.place), what);
                both(cx, old, new);
            }
            None => removed(cx, old),
        }
    }
    for (new, matched) in revision.iter().zip(matched) {
        if !matched {
            added(cx, *new);
        }
    }
}

fn paths<'a>(cx: &mut Comparer<'a>, side: Side) -> Vec<Path<'a>> {
    let root = &cx.document(side).root;
    let entries = cx.mapping(side, root, "paths").map(Node::entries).unwrap_or_default();
    if side == Side::Revision
        && let (Some(old), Some(new)) = (cx.base.root.get("paths"), root.get("paths"))
    {
        unknown::compare_unless(cx, (old, new), |key| key.starts_with('/'));
    }
    let paths = entries.iter().filter(|entry| entry.key.starts_with('/'));
    paths.map(|entry| Path { template: &entry.key, place: &entry.value }).collect()
}

/// The path with nothing between its braces.
fn shape(template: &str) -> String {
    let mut shape = String::with_capacity(template.len());
    let mut rest = template;
    while let Some((before, after)) = rest.split_once('{') {
        shape.push_str(before);
        shape.push_str("{}");
        rest = after.split_once('}').map_or("", |(_, after)| after);
    }
    shape + rest
}

/// The path item, through its reference. `None` if it is none, which is noted.
fn item<'a>(cx: &mut Comparer<'a>, side: Side, path: Path<'a>) -> Option<&'a Node> {
    let item = cx.resolve(side, path.place)?;
    if !matches!(item.value, crate::document::Value::Mapping(_)) {
        cx.not_understood(side, item, "a path must be a mapping");
        return None;
    }
    Some(item)
}

fn both<'a>(cx: &mut Comparer<'a>, old: Path<'a>, new: Path<'a>) {
    let (Some(base), Some(revision)) = (item(cx, Side::Base, old), item(cx, Side::Revision, new)) else {
        return;
    };
    cx.owner = Owner::Document;
    unknown::compare(cx, (base, revision), &KEYWORDS);
    if base.get("servers").is_some() || revision.get("servers").is_some() {
        servers::compare(cx, base, revision);
    }
    for method in METHODS {
        let before = cx.mapping(Side::Base, base, method);
        let after = cx.mapping(Side::Revision, revision, method);
        let base = before.map(|node| Operation { template: old.template, method, item: base, node });
        let revision_operation =
            after.map(|node| Operation { template: new.template, method, item: revision, node });
        match (base, revision_operation) {
            (Some(base), Some(revision)) => operation::compare(cx, &base, &revision),
            (Some(base), None) => deprecation::removed(cx, &base, revision, false),
            (None, Some(operation)) => operation::added(cx, &operation),
            (None, None) => {}
        }
    }
}

fn removed<'a>(cx: &mut Comparer<'a>, path: Path<'a>) {
    let Some(base) = item(cx, Side::Base, path) else { return };
    let root = &cx.revision.root;
    let survivor = root.get("paths").unwrap_or(root);
    for method in METHODS {
        if let Some(node) = cx.mapping(Side::Base, base, method) {
            let operation = Operation { template: path.template, method, item: base, node };
            deprecation::removed(cx, &operation, survivor, true);
        }
    }
}

fn added<'a>(cx: &mut Comparer<'a>, path: Path<'a>) {
    let Some(revision) = item(cx, Side::Revision, path) else { return };
    for method in METHODS {
        if let Some(node) = cx.mapping(Side::Revision, revision, method) {
            let operation = Operation { template: path.template, method, item: revision, node };
            operation::added(cx, &operation);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::shape;

    #[test]
    fn a_shape_forgets_the_names() {
        assert_eq!(shape("/a/{b}/c{d}-{e}"), "/a/{}/c{}-{}");
        assert_eq!(shape("/a/{b"), "/a/{}");
        assert_eq!(shape("/a}"), "/a}");
    }
}
