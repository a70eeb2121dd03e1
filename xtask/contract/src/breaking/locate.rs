//! From nodes to places: the pointer, the line and the words for every node that a change names.
//!
//! The comparison keeps nodes only. Each document is walked once afterwards, so that the pointers of the
//! many nodes that no change names are never made.

use std::collections::HashMap;

use crate::document::{Node, Span, Value};

use super::change::{Change, Location};
use super::comparer::Raw;
use crate::document::Document;
use crate::finding::Subject;

/// What one has to know about a node to speak of it.
struct Found {
    pointer: String,
    span: Span,
    subject: Subject,
}

type Places = HashMap<*const Node, Option<Found>>;

/// The changes with their places.
pub(super) fn locate(
    base: &Document,
    revision: &Document,
    raws: Vec<Raw<'_>>,
    operations: &[String],
) -> Vec<Change> {
    let wanted = |nodes: &mut dyn Iterator<Item = Option<&Node>>| -> Places {
        nodes.flatten().map(|node| (std::ptr::from_ref(node), None)).collect()
    };
    let mut in_base = wanted(&mut raws.iter().map(|raw| raw.base));
    let mut in_revision = wanted(&mut raws.iter().map(|raw| raw.revision));
    walk(base, &mut in_base);
    walk(revision, &mut in_revision);
    let found = |places: &Places, document: &Document, node: Option<&Node>| -> Option<(Location, Subject)> {
        let place = places.get(&std::ptr::from_ref(node?))?.as_ref()?;
        let Found { pointer, span, subject } = place;
        let location = Location { file: document.path.clone(), pointer: pointer.clone(), span: *span };
        Some((location, subject.clone()))
    };
    let mut changes = Vec::with_capacity(raws.len());
    for raw in raws {
        let old = found(&in_base, base, raw.base);
        let new = found(&in_revision, revision, raw.revision);
        let Some((place, subject)) = new.clone().or_else(|| old.clone()) else { continue };
        let names = raw.operations.iter().filter_map(|operation| operations.get(*operation as usize));
        changes.push(Change {
            rule: raw.rule,
            subject,
            what: raw.what,
            place,
            base: old.filter(|_| new.is_some()).map(|(location, _)| location),
            operations: names.cloned().collect(),
            waived: None,
        });
    }
    changes
}

/// One step from the root to a node.
#[derive(Clone, Copy)]
struct Step<'a> {
    /// The key; empty for an item of a list.
    key: &'a str,
    /// The number of the item.
    index: Option<usize>,
    /// What stands there.
    node: &'a Node,
}

/// The steps from the root to a node.
type Way<'a> = Vec<Step<'a>>;

fn walk(document: &Document, places: &mut Places) {
    if !places.is_empty() {
        visit(&document.root, document.root.span, &mut Vec::new(), places);
    }
}

/// Visits a node and all below; no deeper than the reader allows. `anchor` is where its key stands.
fn visit<'a>(node: &'a Node, anchor: Span, way: &mut Way<'a>, places: &mut Places) {
    if let Some(place) = places.get_mut(&std::ptr::from_ref(node)) {
        let is_whole = matches!(node.value, Value::Mapping(_) | Value::Sequence(_));
        let span = if is_whole { anchor } else { node.span };
        *place = Some(Found { pointer: pointer(way), span, subject: subject(way) });
    }
    for entry in node.entries() {
        way.push(Step { key: &entry.key, index: None, node: &entry.value });
        visit(&entry.value, entry.key_span, way, places);
        way.pop();
    }
    for (index, item) in node.items().iter().enumerate() {
        way.push(Step { key: "", index: Some(index), node: item });
        // A block begins where its first key does; what is after that line would be too much to point at.
        let first = item.entries().first().map_or(item.span, |entry| entry.key_span);
        visit(item, first, way, places);
        way.pop();
    }
}

/// JSON pointer (RFC 6901).
fn pointer(way: &Way<'_>) -> String {
    let mut pointer = String::new();
    for step in way {
        pointer.push('/');
        match step.index {
            Some(index) => pointer.push_str(&index.to_string()),
            None => pointer.push_str(&step.key.replace('~', "~0").replace('/', "~1")),
        }
    }
    pointer
}

/// What stands at a place, in the words of OpenAPI.
fn subject(way: &Way<'_>) -> Subject {
    let mut subject = Subject::document();
    let mut steps = way.iter().map(|step| (step.key, step.node));
    match steps.next() {
        Some(("paths", _)) => return path(subject, &mut steps),
        Some(("components", _)) => {
            let (Some((section, _)), Some((name, _))) = (steps.next(), steps.next()) else { return subject };
            let kind = match section {
                "schemas" => "schema",
                "responses" => "response",
                "parameters" => "parameter",
                "requestBodies" => "request body",
                "headers" => "header",
                "securitySchemes" => "security scheme",
                "links" => "link",
                _ => "component",
            };
            subject = subject.with(kind, name);
        }
        Some(("servers", _)) => return servers(subject, &mut steps),
        _ => return subject,
    }
    below(subject, &mut steps)
}

fn servers<'a>(subject: Subject, steps: &mut dyn Iterator<Item = (&'a str, &'a Node)>) -> Subject {
    let Some((_, server)) = steps.next() else { return subject };
    let subject = subject.with("server", server.get("url").and_then(Node::as_str).unwrap_or_default());
    match (steps.next(), steps.next()) {
        (Some(("variables", _)), Some((name, _))) => subject.with("variable", name),
        _ => subject,
    }
}

fn path<'a>(subject: Subject, steps: &mut dyn Iterator<Item = (&'a str, &'a Node)>) -> Subject {
    let Some((template, _)) = steps.next() else { return subject };
    let path = subject.with("path", template);
    let Some((method, node)) = steps.next() else { return path };
    if method == "servers" {
        return servers(path, steps);
    }
    if !super::paths::METHODS.contains(&method) {
        return below(path, &mut std::iter::once((method, node)).chain(steps));
    }
    let id = node.get("operationId").and_then(Node::as_str);
    let name = id.map_or_else(|| format!("{} {template}", method.to_uppercase()), str::to_owned);
    below(subject.with("operation", &name), steps)
}

/// What stands below an operation or a component.
fn below<'a>(mut subject: Subject, steps: &mut dyn Iterator<Item = (&'a str, &'a Node)>) -> Subject {
    while let Some((key, _)) = steps.next() {
        let kind = match key {
            "requestBody" => {
                subject = subject.with("request body", "");
                continue;
            }
            "items" => {
                subject = subject.with("items", "");
                continue;
            }
            "additionalProperties" => {
                subject = subject.with("other properties", "");
                continue;
            }
            "parameters" => "parameter",
            "responses" => "response",
            "headers" => "header",
            "content" => "media type",
            "properties" => "property",
            "oneOf" | "anyOf" => "alternative",
            "schema" | "allOf" => continue,
            "servers" => return servers(subject, steps),
            "" => continue,
            _ => break,
        };
        let Some((name, node)) = steps.next() else { break };
        let reference = || node.get("$ref").and_then(Node::as_str).and_then(|text| text.rsplit('/').next());
        let own = || node.get("name").or_else(|| node.get("title")).and_then(Node::as_str);
        let name = if name.is_empty() { own().or_else(reference).unwrap_or_default() } else { name };
        subject = subject.with(kind, name);
    }
    subject
}
