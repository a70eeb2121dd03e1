//! References by name: all places that refer to an object.

use std::borrow::Cow;

use crate::openapi::{Kind, Model, Object};
use crate::text::{Node, Span, pointer};

/// A place that refers to an object.
#[derive(Clone, Debug)]
pub struct Use<'a> {
    /// The object with the place.
    pub user: Object<'a>,
    /// The place of the value or key.
    pub span: Span,
    /// The value or key, without quotes.
    pub text: &'a str,
    target: Target<'a>,
}

/// What the text of a place means.
#[derive(Clone, Debug)]
enum Target<'a> {
    /// A reference to this JSON pointer.
    At(Cow<'a, str>),
    /// The name of a component, a tag or an operation of this kind.
    Named(Kind),
    /// The name of a property of this schema.
    Property(Object<'a>),
}

impl<'a> Use<'a> {
    /// Whether the text is a reference, and not only the name.
    pub fn is_reference(&self) -> bool {
        matches!(self.target, Target::At(_))
    }

    /// Returns the object that the place refers to.
    pub fn target(&self, model: &'a Model<'a>) -> Option<Object<'a>> {
        match &self.target {
            Target::At(pointer) => model.object_at(pointer),
            Target::Named(kind) => {
                model.everything().find(|it| it.kind() == *kind && name(*it) == Some(self.text))
            }
            Target::Property(schema) => schema.children("properties").find(|it| it.name() == self.text),
        }
    }
}

/// Whether an object is a component: it has a name that references use.
pub fn is_component(object: Object<'_>) -> bool {
    object.parent().is_some_and(|parent| parent.kind() == Kind::Components) && !object.name().is_empty()
}

/// Returns the name of an object that other places use.
fn name<'a>(object: Object<'a>) -> Option<&'a str> {
    match object.kind() {
        Kind::Operation => object.text("operationId"),
        Kind::Tag => object.text("name"),
        _ => is_component(object).then(|| object.name()),
    }
}

/// Returns all places in a document that refer to an object.
pub fn all_uses<'a>(model: &'a Model<'a>) -> impl Iterator<Item = Use<'a>> {
    model.everything().flat_map(uses_by)
}

/// Returns the places that refer to an object or, for a component, a path or a property, to a part of it, in the order
/// of the text.
pub fn uses(object: Object<'_>) -> Vec<Use<'_>> {
    let own = object.pointer();
    let is_property = object.kind() == Kind::Schema && object.keyword() == "properties";
    let has_parts = is_component(object) || is_property || object.kind() == Kind::PathItem;
    let leads_here = |used: &Use<'_>| match &used.target {
        Target::At(pointer) => {
            let rest = pointer.strip_prefix(&own);
            rest.is_some_and(|rest| rest.is_empty() || (has_parts && rest.starts_with('/')))
        }
        Target::Named(kind) => object.kind() == *kind && name(object) == Some(used.text),
        Target::Property(schema) => {
            is_property && object.parent() == Some(*schema) && object.name() == used.text
        }
    };
    let mut found: Vec<_> = all_uses(object.model()).filter(leads_here).collect();
    found.sort_by_key(|found| found.span.start);
    found.dedup_by_key(|found| found.span.start);
    found
}

/// Returns the places in an object itself that refer to another one.
fn uses_by<'a>(user: Object<'a>) -> Vec<Use<'a>> {
    let entries = |keyword| user.get(keyword).map(Node::entries).unwrap_or_default().iter();
    let items = |keyword| user.get(keyword).map(Node::items).unwrap_or_default().iter();
    let named = |node: &'a Node, target| Some(Use { user, span: node.span, text: node.as_str()?, target });
    let reference = |node: &'a Node| named(node, Target::At(pointer::in_reference(node.as_str()?)?));
    match user.kind() {
        _ if user.is_reference() => user.get("$ref").and_then(reference).into_iter().collect(),
        Kind::Discriminator => {
            let name = |node: &'a Node| reference(node).or_else(|| named(node, Target::Named(Kind::Schema)));
            let property = user.get("propertyName").zip(user.parent());
            let property = property.and_then(|(node, schema)| named(node, Target::Property(schema)));
            entries("mapping").filter_map(|entry| name(&entry.value)).chain(property).collect()
        }
        Kind::Link => {
            let id = user.get("operationId").and_then(|node| named(node, Target::Named(Kind::Operation)));
            id.into_iter().chain(user.get("operationRef").and_then(reference)).collect()
        }
        Kind::Operation => items("tags").filter_map(|node| named(node, Target::Named(Kind::Tag))).collect(),
        Kind::Schema => items("required").filter_map(|node| named(node, Target::Property(user))).collect(),
        Kind::SecurityRequirement => {
            let entries = user.node().entries().iter();
            let target = || Target::Named(Kind::SecurityScheme);
            entries.map(|it| Use { user, span: it.key_span, text: &it.key, target: target() }).collect()
        }
        _ => Vec::new(),
    }
}
