//! References by name: the object that a place refers to.

use super::place::Place;
use crate::document::pointer;
use crate::edits::{component, mapped, object_at};
use crate::openapi::{Kind, Object, Step};

/// Returns the object that the text at a place names without `$ref`: an operation in a link, a schema in the mapping of
/// a discriminator, a scheme in a security requirement, a tag, or a property in `required`.
pub(super) fn used_at<'a>(place: &Place<'a>) -> Option<Object<'a>> {
    let (object, model) = (place.object, place.object.model());
    let text = place.node.as_str();
    match (object.kind(), &place.steps[..]) {
        (Kind::SecurityRequirement, [Step::Key(name), ..]) => component(model, "securitySchemes", name),
        (Kind::Discriminator, [Step::Key("mapping"), Step::Key(_)]) if !place.in_key => {
            mapped(model, text?).and_then(|pointer| object_at(model, &pointer))
        }
        (Kind::Link, [Step::Key("operationId")]) => {
            model.all(Kind::Operation).find(|operation| operation.text("operationId") == text)
        }
        (Kind::Link, [Step::Key("operationRef")]) => object_at(model, &pointer::in_reference(text?)?),
        (Kind::Schema, [Step::Key("required"), Step::Item(_)]) => {
            object.children("properties").find(|property| Some(property.name()) == text)
        }
        (Kind::Operation, [Step::Key("tags"), Step::Item(_)]) => {
            model.all(Kind::Tag).find(|tag| tag.text("name") == text)
        }
        _ => None,
    }
}
