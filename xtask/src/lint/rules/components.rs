//! Components: shared things that somebody shares.

use std::collections::{HashMap, HashSet};

use animal_store::yaml::Node;

use super::super::outline::{Id, Obj, Outline};
use super::super::rule::{Findings, Origin, Rule};
use super::super::structure::kinds::Kind;

const UNUSED: Rule = Rule::error(
    "oas3-unused-component",
    Origin::Spectral,
    "Something outside of it refers to each component (Redocly: `no-unused-components`).",
);

pub(in crate::lint) const RULES: &[&Rule] = &[&UNUSED];

pub(in crate::lint) fn check(outline: &Outline<'_>, findings: &mut Findings) {
    let used = used(outline);
    for components in outline.all(Kind::Components) {
        for component in components.parts().filter(|component| !used.contains(&component.id)) {
            let message = format!("Nothing refers to {}.", component.subject());
            findings.add(&UNUSED, component.spot(), message, "Delete it, or refer to it where it is meant.");
        }
    }
}

/// The components that can be reached from outside of `components`.
fn used(outline: &Outline<'_>) -> HashSet<Id> {
    let mut used = HashSet::new();
    let components = outline.all(Kind::Components).flat_map(|components| components.parts());
    let schemas = components.filter(|component| component.keyword() == "schemas");
    let schemas: HashMap<&str, Id> = schemas.map(|schema| (schema.name(), schema.id)).collect();
    // What has been reached and not yet looked into. A component is looked into once.
    let mut open: Vec<Obj<'_, '_>> =
        outline.root().parts().filter(|part| part.kind() != Kind::Components).collect();
    let mut names = HashSet::new();
    while let Some(object) = open.pop() {
        open.extend(object.parts());
        if object.kind() == Kind::SecurityRequirement {
            names.extend(object.node().entries().iter().map(|entry| entry.key.as_str()));
        }
        let mut reached: Vec<_> = outline.objects[object.id].target.into_iter().collect();
        if object.kind() == Kind::Discriminator {
            reached.extend(mapped(object, &schemas));
        }
        for target in reached {
            let component = outline.object(target).ancestors().find(|object| is_component(*object));
            if let Some(component) = component.filter(|component| used.insert(component.id)) {
                open.push(component);
            }
        }
    }
    for components in outline.all(Kind::Components) {
        let schemes = components.children("securitySchemes").filter(|scheme| names.contains(scheme.name()));
        used.extend(schemes.map(|scheme| scheme.id));
    }
    used
}

fn is_component(object: Obj<'_, '_>) -> bool {
    object.parent().is_some_and(|parent| parent.kind() == Kind::Components)
}

/// The schemas that a discriminator's mapping names, by name or reference.
fn mapped(discriminator: Obj<'_, '_>, schemas: &HashMap<&str, Id>) -> Vec<Id> {
    let values = discriminator.get("mapping").map(Node::entries).unwrap_or_default().iter();
    let names = values.filter_map(|entry| entry.value.as_str());
    names
        .filter_map(|name| schemas.get(name.strip_prefix("#/components/schemas/").unwrap_or(name)).copied())
        .collect()
}
