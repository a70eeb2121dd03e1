//! Resolves references. Each must lead to an object of this document, of the right kind, without cycles.

use crate::text::Node;
use petgraph::algo::kosaraju_scc;
use petgraph::graph::{DiGraph, NodeIndex};

use super::model::{Id, Model, Object, address};
use super::shapes::with_article;
use super::{Kind, Reason};
use crate::finding::{Finding, Suggestions, shortened};
use crate::rule::{Added, Findings, rules};
use crate::text::pointer;

rules! {
    INVALID: Spec Error fix Unsafe "invalid-ref",
        "OpenAPI 3.0.3, 4.7.23; Spectral: invalid-ref; Redocly: no-unresolved-refs",
        "Each `$ref` leads to an object of this document, of the kind that its place requires.";
    CYCLE: Spec Error "no-circular-refs", "JSON Schema draft Wright-00, 7",
        "No chain of references or compositions leads back to its beginning without a property or item \
         between.";
}

/// Resolves all references.
pub(super) fn follow(root: &Node, model: &mut Model<'_>) {
    let references: Vec<Id> = (0..model.objects.len()).filter(|id| model.objects[*id].is_reference).collect();
    for id in &references {
        let target = model.objects[*id].node.get("$ref").and_then(Node::as_str);
        let node = target.and_then(pointer::in_reference).and_then(|pointer| root.pointer(&pointer));
        model.objects[*id].target = node.and_then(|node| model.places.get(&address(node)).copied());
    }
    let mut known = vec![false; model.objects.len()];
    for id in references {
        let mut chain = Vec::new();
        let mut next = Some(id);
        let end = loop {
            let Some(id) = next else { break None };
            let object = &model.objects[id];
            if !object.is_reference || known[id] {
                // If the chain is a cycle, the end of a reference in it is still `None`.
                break object.end;
            }
            known[id] = true;
            chain.push(id);
            next = object.target;
        };
        for id in chain {
            model.objects[id].end = end;
        }
    }
}

pub(super) fn check(model: &mut Model<'_>, findings: &mut Findings) {
    let (mut external, mut without_target) = (Vec::new(), Vec::new());
    for object in model.everything().filter(Object::is_reference) {
        let Some(reference) = object.text("$ref") else { continue };
        let (message, fix) = match model.target(object.id) {
            Some(target) if target.kind() == object.kind() => continue,
            Some(target) => {
                let [other, name] = [target, object].map(|object| with_article(object.kind().table().name));
                (
                    format!("`{}` is {other}, but {name} is required here.", shortened(reference)),
                    "Correct the reference.",
                )
            }
            None if !reference.starts_with('#') => {
                external.push(object);
                continue;
            }
            None => (
                format!("`{}` does not lead to an object of OpenAPI.", shortened(reference)),
                "Correct the reference, or add its target to `components`.",
            ),
        };
        let meant = meant(reference, object, &mut findings.suggestions);
        let added = findings.add(&INVALID, object.value_spot("$ref"), message, fix);
        without_target.extend(added.copied());
        added.meant(meant.as_deref(), Added::write);
    }
    if let Some(first) = external.first() {
        let reference = shortened(first.text("$ref").unwrap_or_default());
        let spot = first.value_spot("$ref");
        let place = format!("`{reference}` on line {}", spot.span.line);
        let message = match external.len() {
            1 => format!("A reference leads to another file: {place}."),
            number => format!("{number} references lead to other files, the first {place}."),
        };
        let fix = "Bundle the document into one file first, for example with `redocly bundle`.";
        let found = findings.add(&INVALID, spot, message, fix).copied();
        model.note_invalid(found, Reason::OtherFile);
        model.complete = false;
    } else {
        without_target.extend(cycles(model, findings));
    }
    for finding in without_target {
        model.note_invalid(Some(finding), Reason::Reference);
    }
}

/// Returns the reference to the component whose name is similar to the last part of a wrong one.
fn meant(wrong: &str, object: Object<'_>, suggestions: &mut Suggestions) -> Option<String> {
    let name = wrong.rsplit('/').next().unwrap_or_default();
    let components = object.model().root().child("components")?;
    let known = || components.parts().filter(|it| it.kind() == object.kind());
    let found = suggestions.nearest(name, known().map(|it| it.name()))?;
    Some(format!("#{}", known().find(|it| it.name() == found)?.pointer()))
}

/// Reports cycles of references, and of schemas that apply to the same value. Returns the findings about references without
/// a target; schemas that reach themselves through `allOf` and `oneOf` can be compared.
fn cycles(model: &Model<'_>, findings: &mut Findings) -> Vec<Finding> {
    let mut without_target = Vec::new();
    let mut graph: DiGraph<Id, ()> = DiGraph::new();
    let nodes: Vec<NodeIndex> = (0..model.objects.len()).map(|id| graph.add_node(id)).collect();
    for object in model.everything() {
        if let Some(target) = model.objects[object.id].target {
            graph.add_edge(nodes[object.id], nodes[target], ());
        }
        for part in in_place(object) {
            graph.add_edge(nodes[object.id], nodes[part.id], ());
        }
    }
    for circle in kosaraju_scc(&graph) {
        let goes_round = circle.len() > 1 || graph.contains_edge(circle[0], circle[0]);
        let first = circle.iter().map(|node| graph[*node]).filter(|id| model.objects[*id].is_reference).min();
        let Some(first) = first.filter(|_| goes_round) else { continue };
        let object = model.object(first);
        let reference = shortened(object.text("$ref").unwrap_or_default());
        let message = format!("`{reference}` leads back to this place.");
        let fix = "Replace the reference by the object, or move it into a property or items.";
        let added = findings.add(&CYCLE, object.value_spot("$ref"), message, fix);
        without_target.extend(added.copied().filter(|_| object.resolved().is_none()));
    }
    without_target
}

/// Returns the schemas in this one that apply to the same value.
pub fn in_place<'a>(schema: Object<'a>) -> impl Iterator<Item = Object<'a>> {
    let applies = |part: &Object<'_>| matches!(part.keyword(), "allOf" | "anyOf" | "oneOf" | "not");
    schema
        .parts()
        .filter(move |part| schema.kind() == Kind::Schema && part.kind() == Kind::Schema && applies(part))
}
