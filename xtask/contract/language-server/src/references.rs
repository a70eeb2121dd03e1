//! Find references: of components, operations and tags.

use document::edits::uses;
use document::openapi::{Kind, Object};
use lsp_types::{Location, ReferenceParams};

use crate::place::Place;
use crate::world::World;

/// Answers `textDocument/references`.
pub(crate) fn references(world: &World, params: &ReferenceParams) -> Option<Vec<Location>> {
    let (view, place) = world.place(&params.text_document_position)?;
    let object = named(&place)?;
    let declared = params.context.include_declaration.then(|| object.span());
    Some(view.locations(declared.into_iter().chain(uses(object).into_iter().map(|used| used.span))))
}

/// Returns the object whose name or reference is at a place.
pub(crate) fn named<'a>(place: &Place<'a>) -> Option<Object<'a>> {
    if !place.is_on_text() {
        return None;
    }
    // The name of a component that is a reference is its own.
    if let Some(target) = place.target().filter(|_| !place.in_key || !place.steps.is_empty()) {
        return Some(target);
    }
    let is_name = match place.object.kind() {
        Kind::Tag => place.keyword() == Some("name"),
        Kind::Operation => place.keyword() == Some("operationId"),
        _ => false,
    };
    (is_name || (place.in_key && place.steps.is_empty())).then_some(place.object)
}
