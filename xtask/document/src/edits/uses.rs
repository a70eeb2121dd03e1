//! References by name: all places that refer to an object.

use std::borrow::Cow;

use crate::openapi::{Kind, Model, Object, Step};
use crate::text::{Node, Span, pointer};

/// Returns the object at a JSON pointer.
pub fn object_at<'a>(model: &'a Model<'a>, pointer: &str) -> Option<Object<'a>> {
    let mut object = model.root();
    let mut steps: Vec<Cow<'_, str>> = Vec::new();
    for token in pointer::tokens(pointer)? {
        steps.push(token);
        let is_it = |part: &Object<'_>| {
            let known = part.steps();
            known.len() == steps.len()
                && known.iter().zip(&steps).all(|(known, step)| match known {
                    Step::Key(key) => key == step,
                    Step::Item(number) => number.to_string() == *step,
                })
        };
        if let Some(inner) = object.parts().find(is_it) {
            object = inner;
            steps.clear();
        }
    }
    steps.is_empty().then_some(object)
}

/// Returns the component with this name.
pub fn component<'a>(model: &'a Model<'a>, keyword: &str, name: &str) -> Option<Object<'a>> {
    let components = model.root().child("components")?;
    components.children(keyword).find(|component| component.name() == name)
}

/// Whether an object is a component: it has a name that references use.
pub fn is_component(object: Object<'_>) -> bool {
    object.parent().is_some_and(|parent| parent.kind() == Kind::Components) && !object.name().is_empty()
}

/// The pointer that a value of a `mapping` means: a reference, or the name of a schema.
pub fn mapped(model: &Model<'_>, text: &str) -> Option<String> {
    if let Some(pointer) = pointer::in_reference(text) {
        return Some(pointer.into_owned());
    }
    component(model, "schemas", text)?;
    Some(pointer::below("/components/schemas", text))
}

/// A place that refers to an object.
#[derive(Clone, Debug)]
pub struct Use {
    /// The text of the value or key.
    pub span: Span,
    /// The value, without quotes.
    pub text: String,
    /// Whether the text is a JSON pointer, and not only the name.
    pub is_pointer: bool,
}

/// Returns the places that refer to an object or, for a component, a path or a property, to a part of it, in the order
/// of the text.
pub fn uses(object: Object<'_>) -> Vec<Use> {
    let model = object.model();
    let mut found = Vec::new();
    let mut add = |node: &Node, is_pointer| {
        let text = node.as_str().unwrap_or_default().to_owned();
        found.push(Use { span: node.span, text, is_pointer });
    };
    let own = object.pointer();
    let has_parts = is_component(object) || is_property(object) || object.kind() == Kind::PathItem;
    let is_own = |pointer: &str| {
        let rest = pointer.strip_prefix(&own);
        rest.is_some_and(|rest| rest.is_empty() || (has_parts && rest.starts_with('/')))
    };
    let leads_here =
        |reference: &str| pointer::in_reference(reference).is_some_and(|pointer| is_own(&pointer));
    for user in model.everything() {
        if let Some(node) = user.get("$ref").filter(|_| user.is_reference())
            && node.as_str().is_some_and(leads_here)
        {
            add(node, true);
        }
        match user.kind() {
            Kind::Discriminator if is_component(object) && object.keyword() == "schemas" => {
                for entry in user.get("mapping").map(Node::entries).unwrap_or_default() {
                    let Some(text) = entry.value.as_str() else { continue };
                    let is_here = mapped(model, text).is_some_and(|pointer| is_own(&pointer));
                    if is_here {
                        add(&entry.value, text.starts_with('#'));
                    }
                }
            }
            Kind::Link if matches!(object.kind(), Kind::Operation | Kind::PathItem) => {
                let id = user.get("operationId").filter(|_| object.kind() == Kind::Operation);
                let id = id.filter(|id| id.as_str().is_some() && id.as_str() == object.text("operationId"));
                id.into_iter().for_each(|node| add(node, false));
                let reference = user.get("operationRef");
                let reference = reference.filter(|it| it.as_str().is_some_and(leads_here));
                reference.into_iter().for_each(|node| add(node, true));
            }
            Kind::Operation if object.kind() == Kind::Tag => {
                let tags = user.get("tags").map(Node::items).unwrap_or_default();
                let tags =
                    tags.iter().filter(|tag| tag.as_str().is_some() && tag.as_str() == object.text("name"));
                tags.for_each(|node| add(node, false));
            }
            _ => {}
        }
    }
    if let Some(schema) = object.parent().filter(|_| is_property(object)) {
        let required = schema.get("required").map(Node::items).unwrap_or_default().iter();
        let discriminator = schema.child("discriminator").and_then(|it| it.get("propertyName"));
        let named = required.chain(discriminator).filter(|node| node.as_str() == Some(object.name()));
        named.for_each(|node| add(node, false));
    }
    if object.kind() == Kind::SecurityScheme && is_component(object) {
        let requirements = model.all(Kind::SecurityRequirement);
        let entries = requirements.filter_map(|requirement| requirement.node().entry(object.name()));
        found.extend(entries.map(|entry| Use {
            span: entry.key_span,
            text: entry.key.clone(),
            is_pointer: false,
        }));
    }
    found.sort_by_key(|found| found.span.start);
    found.dedup_by_key(|found| found.span.start);
    found
}

fn is_property(object: Object<'_>) -> bool {
    object.kind() == Kind::Schema && object.keyword() == "properties"
}
