//! Where references lead: to an object of this document, of the right kind, and to an end.

use std::collections::HashMap;

use crate::document::Node;
use petgraph::algo::kosaraju_scc;
use petgraph::graph::{DiGraph, NodeIndex};

use super::Kind;
use super::model::{End, Id, Model, Object};
use crate::document::pointer;
use crate::finding::Severity;
use crate::finding::shortened as shown;
use crate::rule::{Findings, Rule};

const INVALID: Rule = Rule::recommended(
    "invalid-ref",
    Severity::Error,
    "Spectral",
    "Each reference leads to an object of this document, of the kind that its place demands.",
);
const CIRCLE: Rule = Rule::strict(
    "no-circular-refs",
    Severity::Error,
    "this project",
    "No reference leads back to itself without a property or item between, since nothing could satisfy it.",
);

pub(super) const RULES: &[&Rule] = &[&INVALID, &CIRCLE];

/// Finds out where each reference leads.
pub(super) fn follow(root: &Node, model: &mut Model<'_>) {
    let places: HashMap<*const Node, Id> =
        model.objects.iter().enumerate().map(|(id, object)| (std::ptr::from_ref(object.node), id)).collect();
    let references: Vec<Id> = (0..model.objects.len()).filter(|id| model.objects[*id].is_reference).collect();
    for id in &references {
        let target = model.objects[*id].node.get("$ref").and_then(Node::as_str);
        let node = target.and_then(pointer::in_reference).and_then(|pointer| root.pointer(&pointer));
        model.objects[*id].target = node.and_then(|node| places.get(&std::ptr::from_ref(node)).copied());
    }
    let mut known = vec![false; model.objects.len()];
    for id in references {
        let mut chain = Vec::new();
        let mut next = Some(id);
        let end = loop {
            let Some(id) = next else { break End::Nowhere };
            let object = &model.objects[id];
            if !object.is_reference || (known[id] && object.end != End::Circle) {
                break object.end;
            }
            if known[id] {
                // Either the circle that it began, or one found before.
                break End::Circle;
            }
            known[id] = true;
            model.objects[id].end = End::Circle;
            chain.push(id);
            next = model.objects[id].target;
        };
        for id in chain {
            model.objects[id].end = end;
        }
    }
}

pub(super) fn check(model: &Model<'_>, findings: &mut Findings) {
    for object in model.everything().filter(Object::is_reference) {
        let Some(reference) = object.text("$ref") else { continue };
        let name = object.kind().table().name;
        let target = model.objects[object.id].target.map(|id| model.object(id));
        let (message, fix) = match target {
            Some(target) if target.kind() == object.kind() => continue,
            Some(target) => {
                let other = target.kind().table().name;
                (
                    format!("`{}` is a {other}, and a {name} is wanted here.", shown(reference)),
                    "Refer to one.",
                )
            }
            None if !reference.starts_with('#') => (
                format!("`{}` leads out of this document.", shown(reference)),
                "Copy what it refers to into `components`, and begin the reference with `#/components/`.",
            ),
            None => (
                format!("`{}` leads to nothing that is an object of OpenAPI.", shown(reference)),
                "Correct the reference, or add what it refers to to `components`.",
            ),
        };
        findings.add(&INVALID, object.value_spot("$ref"), message, fix);
    }
    circles(model, findings);
}

/// Circles of references alone, and of schemas that contain themselves without a property between.
fn circles(model: &Model<'_>, findings: &mut Findings) {
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
        let reference = shown(object.text("$ref").unwrap_or_default());
        let message = format!("`{reference}` leads in a circle, back to this place.");
        let fix = "Put a property or item between, or write out what is meant.";
        findings.add(&CIRCLE, object.value_spot("$ref"), message, fix);
    }
}

/// The schemas that apply to the same value as this one.
pub fn in_place<'a>(schema: Object<'a>) -> impl Iterator<Item = Object<'a>> {
    let applies = |part: &Object<'_>| matches!(part.keyword(), "allOf" | "anyOf" | "oneOf" | "not");
    schema
        .parts()
        .filter(move |part| schema.kind() == Kind::Schema && part.kind() == Kind::Schema && applies(part))
}
