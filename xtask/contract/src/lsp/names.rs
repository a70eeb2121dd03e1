//! References by name: all places that refer to an object, and the object that a place refers to.

use super::place::{Place, at_pointer};
use crate::document::{Node, Span, pointer};
use crate::openapi::{Kind, Model, Object, Step};

/// Returns the object that the text at a place names without `$ref`: an operation in a link, a schema in the mapping of
/// a discriminator, a scheme in a security requirement, a tag, or a property in `required`.
pub(super) fn used_at<'a>(place: &Place<'a>) -> Option<Object<'a>> {
    let (object, model) = (place.object, place.object.model());
    let text = place.node.as_str();
    match (object.kind(), &place.steps[..]) {
        (Kind::SecurityRequirement, [Step::Key(name), ..]) => component(model, "securitySchemes", name),
        (Kind::Discriminator, [Step::Key("mapping"), Step::Key(_)]) if !place.in_key => {
            mapped(model, text?).and_then(|pointer| at_pointer(model, &pointer))
        }
        (Kind::Link, [Step::Key("operationId")]) => {
            model.all(Kind::Operation).find(|operation| operation.text("operationId") == text)
        }
        (Kind::Link, [Step::Key("operationRef")]) => at_pointer(model, &pointer::in_reference(text?)?),
        (Kind::Schema, [Step::Key("required"), Step::Item(_)]) => {
            object.children("properties").find(|property| Some(property.name()) == text)
        }
        (Kind::Operation, [Step::Key("tags"), Step::Item(_)]) => {
            model.all(Kind::Tag).find(|tag| tag.text("name") == text)
        }
        _ => None,
    }
}

/// Returns the component with this name.
pub(super) fn component<'a>(model: &'a Model<'a>, keyword: &str, name: &str) -> Option<Object<'a>> {
    let components = model.root().child("components")?;
    components.children(keyword).find(|component| component.name() == name)
}

/// Whether an object is a component: it has a name that references use.
pub(super) fn is_component(object: Object<'_>) -> bool {
    object.parent().is_some_and(|parent| parent.kind() == Kind::Components) && !object.name().is_empty()
}

/// The pointer that a value of a `mapping` means: a reference, or the name of a schema.
fn mapped(model: &Model<'_>, text: &str) -> Option<String> {
    if let Some(pointer) = pointer::in_reference(text) {
        return Some(pointer.into_owned());
    }
    component(model, "schemas", text)?;
    let mut pointer = "/components/schemas".to_owned();
    pointer::push(&mut pointer, text);
    Some(pointer)
}

/// A place that refers to an object.
#[derive(Clone, Debug)]
pub(super) struct Use {
    /// The text of the value or key.
    pub(super) span: Span,
    /// The value, without quotes.
    pub(super) text: String,
    /// Whether the text is a JSON pointer, and not only the name.
    pub(super) is_pointer: bool,
}

/// Returns the places that refer to an object or, for a component, to a part of it.
pub(super) fn uses(object: Object<'_>) -> Vec<Use> {
    let model = object.model();
    let mut found = Vec::new();
    let mut add = |node: &Node, is_pointer| {
        let text = node.as_str().unwrap_or_default().to_owned();
        found.push(Use { span: node.span, text, is_pointer });
    };
    let own = object.pointer();
    let is_own = |pointer: &str| {
        pointer
            .strip_prefix(&own)
            .is_some_and(|rest| rest.is_empty() || (is_component(object) && rest.starts_with('/')))
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
            Kind::Link if object.kind() == Kind::Operation => {
                let id = user.get("operationId");
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
