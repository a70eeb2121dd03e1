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
    let uses = Uses::of(model);
    let roots = model.root().parts().filter(|part| part.kind() != Kind::Components);
    // Extensions such as `x-webhooks` may refer to components.
    let in_extensions =
        extensions(model.root().node()).into_iter().filter_map(|pointer| model.object_at(&pointer));
    let used = reachable(roots.chain(in_extensions), |object| uses.by(object));
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
    components: HashMap<(&'a str, &'a str), Object<'a>>,
    /// The schemas whose `allOf` refers to a schema, by that schema.
    extending: HashMap<Id, Vec<Object<'a>>>,
    /// The schemas to which a discriminator can lead, also through several levels of `allOf`.
    discriminated: HashSet<Id>,
}

impl<'a> Uses<'a> {
    fn of(model: &'a Model<'a>) -> Self {
        let components = model.all(Kind::Components).flat_map(|components| components.parts());
        let components =
            components.map(|component| ((component.keyword(), component.name()), component)).collect();
        let mut extending: HashMap<Id, Vec<Object<'_>>> = HashMap::new();
        for schema in model.schemas() {
            for parent in schema.children("allOf").filter_map(|parent| parent.resolved()) {
                extending.entry(parent.id).or_default().push(schema);
            }
        }
        let owners = model.all(Kind::Discriminator).filter_map(|discriminator| discriminator.parent());
        let discriminated = closure(owners, |it| extending.get(&it.id).cloned().unwrap_or_default());
        Self { model, components, extending, discriminated }
    }

    /// Returns the components that an object uses.
    fn by(&self, object: Object<'a>) -> Vec<Object<'a>> {
        let mut used: Vec<_> = self.model.target(object.id).into_iter().collect();
        match object.kind() {
            Kind::SecurityRequirement => {
                let names = object.node().entries().iter().map(|entry| ("securitySchemes", &*entry.key));
                used.extend(names.filter_map(|name| self.components.get(&name)));
            }
            // The values of a mapping are names or references.
            Kind::Discriminator => {
                let values = object.get("mapping").into_iter().flat_map(Node::entries);
                let values = values.filter_map(|entry| entry.value.as_str());
                let names = values.map(|value| value.strip_prefix("#/components/schemas/").unwrap_or(value));
                used.extend(names.filter_map(|name| self.components.get(&("schemas", name))));
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
