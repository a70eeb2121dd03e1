//! Go to definition: along references, by names, and from the document to the code.

use checks::finding;
use document::openapi::{Kind, Object};
use lsp_types::{GotoDefinitionParams, GotoDefinitionResponse};

use crate::documents::Document;
use crate::place::Place;
use crate::world::World;

/// Answers `textDocument/definition`.
pub(crate) fn definition(world: &World, params: &GotoDefinitionParams) -> Option<GotoDefinitionResponse> {
    let (view, place) = world.place(&params.text_document_position_params)?;
    let locations = match place.target().filter(|_| place.is_on_text()) {
        Some(target) => view.locations([target.span()].into_iter()),
        None => vec![world.location(&in_code(world, view, meant(&place)?)?)?],
    };
    Some(GotoDefinitionResponse::Array(locations))
}

/// Returns the object that a key or value stands for: the object that the key opens, or else the one that contains it.
pub(crate) fn meant<'a>(place: &Place<'a>) -> Option<Object<'a>> {
    let shown = |object: &Object<'_>| !matches!(object.kind(), Kind::OpenApi | Kind::Info | Kind::Paths);
    place.is_on_text().then_some(place.object).filter(shown)
}

/// Returns the place in the code of an object. The code of a component is that of its first use that has code.
pub(crate) fn in_code(world: &World, view: &Document, object: Object<'_>) -> Option<finding::Location> {
    // Examples are not implemented.
    if world.project.document() != view.path || object.within(Kind::Example).is_some() {
        return None;
    }
    let locate = world.implementation.as_ref()?;
    let uses = |user: &Object<'_>| user.is_reference() && user.resolved() == Some(object);
    let users = object.model().everything().filter(uses);
    std::iter::once(object).chain(users).find_map(|object| locate(&object.subject()))
}
