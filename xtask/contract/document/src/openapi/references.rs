//! Resolves references. Each must lead to an object of this document, of the right kind, without cycles.

use petgraph::algo::kosaraju_scc;
use petgraph::graph::{DiGraph, NodeIndex};

use super::model::{Id, Model, Object, Record, Step, address, head};
use super::{Flaw, Invalid, Kind, Reason};
use crate::text::Node;
use crate::text::{Span, pointer};

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

/// Notes references that lead nowhere, to an object of another kind, to another file, or back to their own place.
pub(super) fn check(model: &mut Model<'_>) {
    let references = (0..model.objects.len()).filter(|id| model.objects[*id].is_reference);
    let (mut found, mut external) = (Vec::new(), Vec::new());
    for id in references {
        let Record { node, kind, target, .. } = &model.objects[id];
        let Some(reference) = node.get("$ref").and_then(Node::as_str) else { continue };
        match target {
            Some(target) if model.objects[*target].kind == *kind => {}
            Some(target) => found.push((id, Flaw::OtherKind(*target), Some(Reason::Reference))),
            None if reference.starts_with('#') => found.push((id, Flaw::NoTarget, Some(Reason::Reference))),
            None => external.push(id),
        }
    }
    if let Some(first) = external.first() {
        found.push((*first, Flaw::OtherFile(external.len()), Some(Reason::OtherFile)));
    } else {
        // Schemas that reach themselves through `allOf` and `oneOf` can be compared.
        let cycles = cycles(model).into_iter();
        let reason = |id: Id| model.objects[id].end.is_none().then_some(Reason::Reference);
        found.extend(cycles.map(|id| (id, Flaw::Cycle, reason(id))));
    }
    for (object, flaw, reason) in found {
        let reference = model.objects[object].node.get("$ref");
        let span = reference.map_or_else(Span::default, head);
        model.invalid.push(Invalid { object, steps: vec![Step::Key("$ref")], span, flaw, reason });
    }
}

/// Returns a reference of each cycle of references, and of schemas that apply to the same value.
fn cycles(model: &Model<'_>) -> Vec<Id> {
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
    let first = |circle: Vec<NodeIndex>| {
        let goes_round = circle.len() > 1 || graph.contains_edge(circle[0], circle[0]);
        let references = circle.iter().map(|node| graph[*node]).filter(|id| model.objects[*id].is_reference);
        references.min().filter(|_| goes_round)
    };
    kosaraju_scc(&graph).into_iter().filter_map(first).collect()
}

/// Returns the schemas in this one that apply to the same value.
pub fn in_place<'a>(schema: Object<'a>) -> impl Iterator<Item = Object<'a>> {
    let applies = |part: &Object<'_>| matches!(part.keyword(), "allOf" | "anyOf" | "oneOf" | "not");
    schema
        .parts()
        .filter(move |part| schema.kind() == Kind::Schema && part.kind() == Kind::Schema && applies(part))
}
