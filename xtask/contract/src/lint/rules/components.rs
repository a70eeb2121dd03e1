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
    let components = model.all(Kind::Components).flat_map(|components| components.parts());
    let named: HashMap<_, _> =
        components.map(|component| ((component.keyword(), component.name()), component)).collect();
    let mut used = HashSet::new();
    // Objects that have been reached and whose parts are still to be visited; a component is visited once.
    let mut open: Vec<Object<'_>> =
        model.root().parts().filter(|part| part.kind() != Kind::Components).collect();
    while let Some(object) = open.pop() {
        open.extend(object.parts());
        let mut reached: Vec<_> = model.target(object.id).into_iter().collect();
        if object.kind() == Kind::SecurityRequirement {
            let schemes = object.node().entries().iter().map(|entry| ("securitySchemes", &*entry.key));
            reached.extend(schemes.filter_map(|scheme| named.get(&scheme)));
        }
        // The values of a mapping are names or references.
        for entry in object
            .get("mapping")
            .filter(|_| object.kind() == Kind::Discriminator)
            .into_iter()
            .flat_map(Node::entries)
        {
            let value = entry.value.as_str().unwrap_or_default();
            let name = value.strip_prefix("#/components/schemas/").unwrap_or(value);
            reached.extend(named.get(&("schemas", name)));
        }
        for target in reached {
            let component = target.ancestors().find(is_component);
            if let Some(component) = component.filter(|component| used.insert(component.id)) {
                open.push(component);
            }
        }
    }
    used
}

fn is_component(object: &Object<'_>) -> bool {
    object.parent().is_some_and(|parent| parent.kind() == Kind::Components)
}
