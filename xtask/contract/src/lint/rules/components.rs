//! Components that nothing references.

use std::collections::{HashMap, HashSet};

use crate::document::Node;

use crate::openapi::{Id, Kind, Model, Object};
use crate::rule::{Findings, rules};

rules! {
    UNUSED: Recommended Error "oas3-unused-component",
        "Spectral: oas3-unused-component; Redocly: no-unused-components",
        "Each component is referenced from outside itself.";
}

pub(crate) fn check(model: &Model<'_>, findings: &mut Findings) {
    let used = used(model);
    for components in model.all(Kind::Components) {
        for component in components.parts().filter(|component| !used.contains(&component.id)) {
            let message = format!("Nothing references {}.", component.subject());
            findings.add(&UNUSED, component.spot(), message, "Delete it, or reference it.");
        }
    }
}

/// The components that can be reached from outside of `components`.
fn used(model: &Model<'_>) -> HashSet<Id> {
    let mut used = HashSet::new();
    let components = model.all(Kind::Components).flat_map(|components| components.parts());
    let schemas = components.filter(|component| component.keyword() == "schemas");
    let schemas: HashMap<&str, Object<'_>> = schemas.map(|schema| (schema.name(), schema)).collect();
    // Objects that have been reached and whose parts are still to be visited; a component is visited once.
    let mut open: Vec<Object<'_>> =
        model.root().parts().filter(|part| part.kind() != Kind::Components).collect();
    let mut names = HashSet::new();
    while let Some(object) = open.pop() {
        open.extend(object.parts());
        if object.kind() == Kind::SecurityRequirement {
            names.extend(object.node().entries().iter().map(|entry| entry.key.as_str()));
        }
        let mut reached: Vec<_> = model.target(object.id).into_iter().collect();
        if object.kind() == Kind::Discriminator {
            reached.extend(mapped(object, &schemas));
        }
        for target in reached {
            let component = target.ancestors().find(|object| is_component(*object));
            if let Some(component) = component.filter(|component| used.insert(component.id)) {
                open.push(component);
            }
        }
    }
    for components in model.all(Kind::Components) {
        let schemes = components.children("securitySchemes").filter(|scheme| names.contains(scheme.name()));
        used.extend(schemes.map(|scheme| scheme.id));
    }
    used
}

fn is_component(object: Object<'_>) -> bool {
    object.parent().is_some_and(|parent| parent.kind() == Kind::Components)
}

/// The schemas that a discriminator's mapping names, by name or reference.
fn mapped<'a>(discriminator: Object<'a>, schemas: &HashMap<&str, Object<'a>>) -> Vec<Object<'a>> {
    let values = discriminator.get("mapping").map(Node::entries).unwrap_or_default().iter();
    let names = values.filter_map(|entry| entry.value.as_str());
    names
        .filter_map(|name| schemas.get(name.strip_prefix("#/components/schemas/").unwrap_or(name)).copied())
        .collect()
}
