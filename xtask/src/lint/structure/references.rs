//! Where references lead: to an object of this document, of the right kind, and to an end.

use std::collections::HashMap;

use animal_store::yaml::Node;
use petgraph::algo::kosaraju_scc;
use petgraph::graph::{DiGraph, NodeIndex};

use super::super::outline::{End, Id, Obj, Outline};
use super::super::rule::{Findings, Origin, Rule};
use super::kinds::Kind;
use super::shown;

const INVALID: Rule = Rule::error(
    "invalid-ref",
    Origin::Spectral,
    "Each reference leads to an object of this document, of the kind that its place demands.",
);
const CIRCLE: Rule = Rule::error(
    "no-circular-refs",
    Origin::House,
    "No reference leads back to itself without a property or item between, since nothing could satisfy it.",
);

pub(super) const RULES: &[&Rule] = &[&INVALID, &CIRCLE];

/// Finds out where each reference leads.
pub(super) fn follow(root: &Node, outline: &mut Outline<'_>) {
    let places: HashMap<*const Node, Id> = outline
        .objects
        .iter()
        .enumerate()
        .map(|(id, object)| (std::ptr::from_ref(object.node), id))
        .collect();
    let references: Vec<Id> =
        (0..outline.objects.len()).filter(|id| outline.objects[*id].is_reference).collect();
    for id in &references {
        let target = outline.objects[*id].node.get("$ref").and_then(Node::as_str);
        let node = target.and_then(pointer).and_then(|pointer| root.pointer(&pointer));
        outline.objects[*id].target = node.and_then(|node| places.get(&std::ptr::from_ref(node)).copied());
    }
    let mut known = vec![false; outline.objects.len()];
    for id in references {
        let mut chain = Vec::new();
        let mut next = Some(id);
        let end = loop {
            let Some(id) = next else { break End::Nowhere };
            let object = &outline.objects[id];
            if !object.is_reference || (known[id] && object.end != End::Circle) {
                break object.end;
            }
            if known[id] {
                // Either the circle that it began, or one found before.
                break End::Circle;
            }
            known[id] = true;
            outline.objects[id].end = End::Circle;
            chain.push(id);
            next = outline.objects[id].target;
        };
        for id in chain {
            outline.objects[id].end = end;
        }
    }
}

/// The JSON pointer in a reference to this document.
fn pointer(reference: &str) -> Option<String> {
    let fragment = reference.strip_prefix('#')?;
    if !fragment.contains('%') {
        return Some(fragment.to_owned());
    }
    let fragment = fluent_uri::pct_enc::EStr::<fluent_uri::pct_enc::encoder::Fragment>::new(fragment)?;
    fragment.decode().to_string().ok().map(std::borrow::Cow::into_owned)
}

pub(super) fn check(outline: &Outline<'_>, findings: &mut Findings) {
    for object in outline.everything().filter(Obj::is_reference) {
        let Some(reference) = object.text("$ref") else { continue };
        let name = object.kind().table().name;
        let target = outline.objects[object.id].target.map(|id| outline.object(id));
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
    circles(outline, findings);
}

/// Circles of references alone, and of schemas that contain themselves without a property between.
fn circles(outline: &Outline<'_>, findings: &mut Findings) {
    let mut graph: DiGraph<Id, ()> = DiGraph::new();
    let nodes: Vec<NodeIndex> = (0..outline.objects.len()).map(|id| graph.add_node(id)).collect();
    for object in outline.everything() {
        if let Some(target) = outline.objects[object.id].target {
            graph.add_edge(nodes[object.id], nodes[target], ());
        }
        for part in in_place(object) {
            graph.add_edge(nodes[object.id], nodes[part.id], ());
        }
    }
    for circle in kosaraju_scc(&graph) {
        let goes_round = circle.len() > 1 || graph.contains_edge(circle[0], circle[0]);
        let first =
            circle.iter().map(|node| graph[*node]).filter(|id| outline.objects[*id].is_reference).min();
        let Some(first) = first.filter(|_| goes_round) else { continue };
        let object = outline.object(first);
        let reference = shown(object.text("$ref").unwrap_or_default());
        let message = format!("`{reference}` leads in a circle, back to this place.");
        let fix = "Put a property or item between, or write out what is meant.";
        findings.add(&CIRCLE, object.value_spot("$ref"), message, fix);
    }
}

/// The schemas that apply to the same value as this one.
pub(in crate::lint) fn in_place<'o, 'a>(schema: Obj<'o, 'a>) -> impl Iterator<Item = Obj<'o, 'a>> {
    let applies = |part: &Obj<'_, '_>| matches!(part.keyword(), "allOf" | "anyOf" | "oneOf" | "not");
    schema
        .parts()
        .filter(move |part| schema.kind() == Kind::Schema && part.kind() == Kind::Schema && applies(part))
}
