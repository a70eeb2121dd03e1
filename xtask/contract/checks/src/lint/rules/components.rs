//! Components without a reference.

use std::collections::{HashMap, HashSet};

use document::Node;

use document::edits::is_component;
use document::openapi::{Id, Kind, Model, Object};
use document::rule::{Findings, rules};

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
            findings.add(&UNUSED, component.spot(), message, "Delete it, or reference it.").remove();
        }
    }
}

/// Returns the components that can be reached from outside of `components`.
fn used(model: &Model<'_>) -> HashSet<Id> {
    let components = model.all(Kind::Components).flat_map(|components| components.parts());
    let named: HashMap<_, _> =
        components.map(|component| ((component.keyword(), component.name()), component)).collect();
    let roots = model.root().parts().filter(|part| part.kind() != Kind::Components);
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
            _ => Vec::new(),
        };
        let targets = model.target(object.id).into_iter();
        let targets = targets.chain(names.iter().filter_map(|name| named.get(name).copied()));
        // A reference to a part of a component uses the component.
        targets.filter_map(|target| target.ancestors().find(|object| is_component(*object))).collect()
    })
}

/// Returns the objects that can be reached from `roots` through their parts and through the objects that `more`
/// returns.
pub(super) fn reachable<'a>(
    roots: impl Iterator<Item = Object<'a>>,
    more: impl Fn(Object<'a>) -> Vec<Object<'a>>,
) -> HashSet<Id> {
    let mut open: Vec<_> = roots.collect();
    let mut seen = HashSet::new();
    while let Some(object) = open.pop() {
        if seen.insert(object.id) {
            open.extend(object.parts().chain(more(object)));
        }
    }
    seen
}
