//! Components without a reference.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};

use document::{Node, pointer};

use document::edits::is_component;
use document::openapi::{Id, Kind, Model, Object};

use crate::rule::{Findings, rules};

rules! {
    UNUSED: Recommended Error fix Unsafe "oas3-unused-component",
        "Spectral: oas3-unused-component; Redocly: no-unused-components",
        "Each component is referenced from outside itself.";
}

pub(crate) fn check(model: &Model<'_>, findings: &mut Findings) {
    let used = used(model);
    let dangling = model.everything().filter(|object| object.is_reference() && object.resolved().is_none());
    let dangling: HashSet<Kind> = dangling.map(|object| object.kind()).collect();
    for components in model.all(Kind::Components) {
        for component in components.parts().filter(|component| !used.contains(&component.id)) {
            let message = format!("Nothing references {}.", component.subject());
            if dangling.contains(&component.kind()) {
                let fix = "Correct the references without a target first; one of them may mean it.";
                findings.add(&UNUSED, component.spot(), message, fix);
            } else {
                findings.add(&UNUSED, component.spot(), message, "Delete it, or reference it.").remove();
            }
        }
    }
}

/// Returns the components that can be reached from outside of `components`.
fn used(model: &Model<'_>) -> HashSet<Id> {
    let components = model.all(Kind::Components).flat_map(|components| components.parts());
    let named: HashMap<_, _> =
        components.map(|component| ((component.keyword(), component.name()), component)).collect();
    let roots = model.root().parts().filter(|part| part.kind() != Kind::Components);
    // Extensions such as `x-webhooks` may refer to components.
    let in_extensions =
        extensions(model.root().node()).into_iter().filter_map(|pointer| model.object_at(&pointer));
    let roots = roots.chain(in_extensions);
    let extending = extending(model);
    // Those that a discriminator can lead to, also through several levels of `allOf`.
    let discriminated = model.all(Kind::Discriminator).filter_map(|it| it.parent());
    let discriminated = closure(discriminated, |schema| {
        extending
            .get(&schema.id)
            .into_iter()
            .flatten()
            .filter_map(|name| named.get(&("schemas", *name)).copied())
            .collect()
    });
    reachable(roots, |object| {
        // Security requirements name schemes; the values of a mapping are names or references.
        let names: Vec<_> = match object.kind() {
            Kind::SecurityRequirement => {
                object.node().entries().iter().map(|entry| ("securitySchemes", &*entry.key)).collect()
            }
            Kind::Discriminator => {
                let mapping = object.get("mapping").into_iter().flat_map(Node::entries);
                let values = mapping.filter_map(|entry| entry.value.as_str());
                let prefix = "#/components/schemas/";
                values.map(|value| ("schemas", value.strip_prefix(prefix).unwrap_or(value))).collect()
            }
            // The values of a discriminator are the names of the schemas that extend its own (section 4.7.25).
            Kind::Schema if discriminated.contains(&object.id) => {
                extending.get(&object.id).into_iter().flatten().map(|name| ("schemas", *name)).collect()
            }
            _ => Vec::new(),
        };
        let targets = model.target(object.id).into_iter();
        let targets = targets.chain(names.iter().filter_map(|name| named.get(name).copied()));
        // A reference to a part of a component uses the component.
        targets.filter_map(|target| target.ancestors().find(|object| is_component(*object))).collect()
    })
}

/// The names of the schemas whose `allOf` refers to a schema, by that schema.
fn extending<'a>(model: &'a Model<'a>) -> HashMap<Id, Vec<&'a str>> {
    let mut extending: HashMap<Id, Vec<&str>> = HashMap::new();
    for (name, schema) in model.schemas() {
        for parent in schema.children("allOf").filter_map(|parent| parent.resolved()) {
            extending.entry(parent.id).or_default().push(name);
        }
    }
    extending
}

/// Returns the pointers in the references of the extensions of the document.
fn extensions(root: &Node) -> Vec<String> {
    let mut open: Vec<&Node> =
        root.entries().iter().filter(|entry| entry.key.starts_with("x-")).map(|entry| &entry.value).collect();
    let mut found = Vec::new();
    while let Some(node) = open.pop() {
        found.extend(
            node.get("$ref").and_then(Node::as_str).and_then(pointer::in_reference).map(Cow::into_owned),
        );
        open.extend(node.items().iter().chain(node.entries().iter().map(|entry| &entry.value)));
    }
    found
}

/// Returns the objects that can be reached from `roots` through their parts and through the objects that `more`
/// returns.
pub(super) fn reachable<'a>(
    roots: impl Iterator<Item = Object<'a>>,
    more: impl Fn(Object<'a>) -> Vec<Object<'a>>,
) -> HashSet<Id> {
    closure(roots, |object| object.parts().chain(more(object)).collect())
}

/// Returns the objects that can be reached from `roots` through those that `next` returns.
fn closure<'a>(
    roots: impl Iterator<Item = Object<'a>>,
    next: impl Fn(Object<'a>) -> Vec<Object<'a>>,
) -> HashSet<Id> {
    let mut open: Vec<_> = roots.collect();
    let mut seen = HashSet::new();
    while let Some(object) = open.pop() {
        if seen.insert(object.id) {
            open.extend(next(object));
        }
    }
    seen
}
