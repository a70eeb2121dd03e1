//! Components without a reference.

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
    let uses = Uses::of(model);
    let roots = model.root().parts().filter(|part| part.kind() != Kind::Components);
    // Extensions such as `x-webhooks` may refer to components.
    let used = closure(roots.chain(in_extensions(model)), |it| it.parts().chain(uses.by(it)).collect());
    let components = model.all(Kind::Components).flat_map(|components| components.parts());
    let unused: Vec<_> = components.filter(|component| !used.contains(&component.id)).collect();
    let mut used_by_others = HashSet::new();
    for component in &unused {
        for part in closure([*component].into_iter(), |object| object.parts().collect()) {
            let others = uses.by(model.object(part)).into_iter().filter(|other| other != component);
            used_by_others.extend(others.map(|other| other.id));
        }
    }
    let dangling = model.everything().filter(|object| object.is_reference() && object.resolved().is_none());
    let dangling: HashSet<Kind> = dangling.map(|object| object.kind()).collect();
    for component in unused {
        let (subject, spot) = (component.subject(), component.spot());
        let message = format!("Nothing references {subject}.");
        if used_by_others.contains(&component.id) {
            let message = format!("Only unused components reference {subject}.");
            findings.add(&UNUSED, spot, message, "Delete it together with them, or reference one of them.");
        } else if dangling.contains(&component.kind()) {
            let fix = "Correct the references without a target first; one of them may mean it.";
            findings.add(&UNUSED, spot, message, fix);
        } else {
            findings.add(&UNUSED, spot, message, "Delete it, or reference it.").remove();
        }
    }
}

/// What the objects of a document use, beside their parts.
struct Uses<'a> {
    model: &'a Model<'a>,
    /// The schemas whose `allOf` refers to a schema, by that schema.
    extending: HashMap<Id, Vec<Object<'a>>>,
    /// The schemas to which a discriminator can lead, also through several levels of `allOf`.
    discriminated: HashSet<Id>,
}

impl<'a> Uses<'a> {
    fn of(model: &'a Model<'a>) -> Self {
        let mut extending: HashMap<Id, Vec<Object<'_>>> = HashMap::new();
        for schema in model.schemas() {
            for parent in schema.children("allOf").filter_map(|parent| parent.resolved()) {
                extending.entry(parent.id).or_default().push(schema);
            }
        }
        let owners = model.all(Kind::Discriminator).filter_map(|discriminator| discriminator.parent());
        let discriminated = closure(owners, |it| extending.get(&it.id).cloned().unwrap_or_default());
        Self { model, extending, discriminated }
    }

    /// Returns the components that an object uses.
    fn by(&self, object: Object<'a>) -> Vec<Object<'a>> {
        let mut used: Vec<_> = self.model.target(object.id).into_iter().collect();
        match object.kind() {
            Kind::SecurityRequirement => {
                let names = object.node().entries().iter().map(|entry| &*entry.key);
                let places = names.map(|name| pointer::below("/components/securitySchemes", name));
                used.extend(places.filter_map(|place| self.model.object_at(&place)));
            }
            // The values of a mapping are names or references.
            Kind::Discriminator => {
                let values = object.get("mapping").into_iter().flat_map(Node::entries);
                let values = values.filter_map(|entry| entry.value.as_str());
                let places = values.map(|value| match pointer::in_reference(value) {
                    Some(place) => place.into_owned(),
                    None => pointer::below("/components/schemas", value),
                });
                used.extend(places.filter_map(|place| self.model.object_at(&place)));
            }
            // The values of a discriminator are the names of the schemas that extend its own (section 4.7.25).
            Kind::Schema if self.discriminated.contains(&object.id) => {
                used.extend(self.extending.get(&object.id).into_iter().flatten());
            }
            _ => {}
        }
        // A reference to a part of a component uses the component.
        used.into_iter().filter_map(|it| it.ancestors().find(|it| is_component(*it))).collect()
    }
}

/// Returns the objects to which the extensions of the document refer.
fn in_extensions<'a>(model: &'a Model<'a>) -> Vec<Object<'a>> {
    let extensions = model.root().node().entries().iter().filter(|entry| entry.key.starts_with("x-"));
    let mut open: Vec<&Node> = extensions.map(|entry| &entry.value).collect();
    let mut found = Vec::new();
    while let Some(node) = open.pop() {
        let place = node.get("$ref").and_then(Node::as_str).and_then(pointer::in_reference);
        found.extend(place.and_then(|place| model.object_at(&place)));
        open.extend(node.items().iter().chain(node.entries().iter().map(|entry| &entry.value)));
    }
    found
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
