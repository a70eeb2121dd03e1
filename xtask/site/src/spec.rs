//! The parts of an OpenAPI document, with references resolved and the rules of inheritance applied. A part that is missing
//! or has another type than OpenAPI demands is left out.

use std::collections::HashSet;

use document::{Node, pointer};

/// The fixed fields of a Path Item Object that hold an operation.
const METHODS: [&str; 8] = ["get", "put", "post", "delete", "options", "head", "patch", "trace"];
/// The longest chain of references that is followed; a longer one is probably a cycle.
const MAX_REFERENCES: usize = 20;

/// A document.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Spec<'a> {
    pub(crate) root: &'a Node,
}

/// An operation with its path item.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Operation<'a> {
    pub(crate) method: &'a str,
    pub(crate) path: &'a str,
    pub(crate) node: &'a Node,
    item: &'a Node,
}

/// Returns the text of a keyword, or nothing if it is missing or not text.
pub(crate) fn text<'a>(node: &'a Node, keyword: &str) -> &'a str {
    node.get(keyword).and_then(Node::as_str).unwrap_or_default()
}

/// Whether a keyword is `true`.
pub(crate) fn flag(node: &Node, keyword: &str) -> bool {
    node.get(keyword).and_then(Node::as_bool).unwrap_or_default()
}

/// Returns the names and values under a keyword.
pub(crate) fn entries<'a>(node: &'a Node, keyword: &str) -> impl Iterator<Item = (&'a str, &'a Node)> {
    let entries = node.get(keyword).map(Node::entries).unwrap_or_default();
    entries.iter().map(|entry| (entry.key.as_str(), &entry.value))
}

/// Returns the items of the list under a keyword.
pub(crate) fn items<'a>(node: &'a Node, keyword: &str) -> impl Iterator<Item = &'a Node> {
    node.get(keyword).map(Node::items).unwrap_or_default().iter()
}

/// Returns a value as JSON in one line.
pub(crate) fn json(node: &Node) -> String {
    // Cannot fail: a tree has only strings as keys.
    serde_json::to_string(node).unwrap_or_default()
}

/// Returns text without quotes, and any other value as JSON in one line.
pub(crate) fn word(value: &Node) -> String {
    value.as_str().map_or_else(|| json(value), str::to_owned)
}

/// Returns text without quotes, and any other value as indented JSON.
pub(crate) fn sample(node: &Node) -> String {
    match node.as_str() {
        Some(text) => text.to_owned(),
        None => serde_json::to_string_pretty(node).unwrap_or_default(),
    }
}

impl<'a> Spec<'a> {
    /// Returns the target of a reference, or the node itself. A reference without a target is returned as it is.
    pub(crate) fn resolve(&self, node: &'a Node) -> &'a Node {
        let target = |node: &'a Node| {
            let pointer = pointer::in_reference(node.get("$ref")?.as_str()?)?;
            self.root.pointer(&pointer)
        };
        let mut chain = std::iter::successors(Some(node), |node| target(node));
        chain.by_ref().take(MAX_REFERENCES).last().unwrap_or(node)
    }

    /// Returns the name and the target of a reference to a schema of the components.
    pub(crate) fn component(&self, node: &'a Node) -> Option<(&'a str, &'a Node)> {
        let name = node.get("$ref")?.as_str()?.strip_prefix("#/components/schemas/")?;
        let (name, _) = self.components("schemas").find(|(known, _)| *known == name)?;
        // The target of a chain that leads nowhere is a reference itself.
        Some((name, self.resolve(node))).filter(|(_, target)| target.get("$ref").is_none())
    }

    /// The operations, in the order of the document.
    pub(crate) fn operations(&self) -> Vec<Operation<'a>> {
        // Other keys are extensions.
        let paths = entries(self.root, "paths").filter(|(path, _)| path.starts_with('/'));
        let operations = paths.flat_map(|(path, item)| {
            let item = self.resolve(item);
            let methods = item.entries().iter().filter(|entry| METHODS.contains(&&*entry.key));
            methods.map(move |entry| Operation { method: &entry.key, path, node: &entry.value, item })
        });
        operations.collect()
    }

    /// The parameters of an operation: its own, then those of its path item that it does not override.
    pub(crate) fn parameters(&self, operation: &Operation<'a>) -> Vec<&'a Node> {
        let mut known = HashSet::new();
        let all = [operation.node, operation.item].into_iter().flat_map(|owner| items(owner, "parameters"));
        let all = all.map(|parameter| self.resolve(parameter));
        all.filter(|parameter| known.insert((text(parameter, "in"), text(parameter, "name")))).collect()
    }

    /// The alternatives of security: its own, else those of the document.
    pub(crate) fn security(&self, operation: &Operation<'a>) -> Vec<&'a Node> {
        let owner = [operation.node, self.root].into_iter().find(|owner| owner.get("security").is_some());
        owner.into_iter().flat_map(|owner| items(owner, "security")).collect()
    }

    /// Returns the components of a kind, such as `schemas`.
    pub(crate) fn components(&self, kind: &str) -> impl Iterator<Item = (&'a str, &'a Node)> {
        self.root.get("components").into_iter().flat_map(move |components| entries(components, kind))
    }

    /// The examples of a parameter, a header or a media type, each with its title.
    pub(crate) fn examples(&self, owner: &'a Node) -> Vec<(&'a str, &'a Node)> {
        let named = entries(owner, "examples").map(|(name, example)| (name, self.resolve(example)));
        let named = named.filter_map(|(name, example)| {
            let title = Some(text(example, "summary")).filter(|summary| !summary.is_empty()).unwrap_or(name);
            Some((title, example.get("value")?))
        });
        owner.get("example").map(|example| ("Example", example)).into_iter().chain(named).collect()
    }

    /// The URLs of servers with the defaults of their variables, each with its description.
    pub(crate) fn servers(&self) -> Vec<(String, &'a str)> {
        let url = |server: &'a Node| {
            entries(server, "variables").fold(text(server, "url").to_owned(), |url, (name, variable)| {
                url.replace(&format!("{{{name}}}"), text(variable, "default"))
            })
        };
        items(self.root, "servers").map(|server| (url(server), text(server, "description"))).collect()
    }
}

impl Operation<'_> {
    /// The `operationId`, else the method and the path.
    pub(crate) fn name(&self) -> String {
        match text(self.node, "operationId") {
            "" => format!("{} {}", self.method, self.path),
            id => id.to_owned(),
        }
    }
}

/// Returns an identifier of an HTML element. Characters that a fragment of a URL would have to encode are replaced.
pub(crate) fn anchor(kind: &str, name: &str) -> String {
    let mut anchor = format!("{kind}-");
    for character in name.chars() {
        match character {
            'a'..='z' | 'A'..='Z' | '0'..='9' | '-' | '.' | '_' => anchor.push(character),
            other => anchor += &format!("_{:x}_", u32::from(other)),
        }
    }
    anchor
}
