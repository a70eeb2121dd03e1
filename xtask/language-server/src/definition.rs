//! Go to definition: from the document along references and to the code, and from the code to the document.

use document::finding;
use document::openapi::{Kind, Model, Object};
use lsp_types::{GotoDefinitionParams, GotoDefinitionResponse, Location, TextDocumentPositionParams};

use crate::documents::Document;
use crate::place::Place;
use crate::text::word_at;
use crate::world::World;

/// Answers `textDocument/definition`.
pub(crate) fn definition(world: &World, params: &GotoDefinitionParams) -> Option<GotoDefinitionResponse> {
    let TextDocumentPositionParams { text_document, position } = &params.text_document_position_params;
    let view = world.view(&text_document.uri)?;
    let locations = match &view.tree {
        Some(tree) => {
            let place = Place::at(tree, view.offset_in_tree(*position));
            from_document(world, view, &place)
        }
        None => from_code(world, view, view.text.offset(*position)),
    };
    (!locations.is_empty()).then_some(GotoDefinitionResponse::Array(locations))
}

fn from_document(world: &World, view: &Document, place: &Place<'_>) -> Vec<Location> {
    if !place.is_on_text() {
        return Vec::new();
    }
    if let Some(target) = place.target() {
        return vec![view.location(target.span())];
    }
    let source = meant(place).and_then(|object| in_code(world, view, object));
    source.and_then(|source| world.location(&source)).into_iter().collect()
}

/// Returns the object that a key or value stands for: the object that the key opens, or else the one that contains it.
pub(crate) fn meant<'a>(place: &Place<'a>) -> Option<Object<'a>> {
    let shown = |object: &Object<'_>| !matches!(object.kind(), Kind::OpenApi | Kind::Info | Kind::Paths);
    place.is_on_text().then_some(place.object).filter(shown)
}

/// Returns the place in the code of an object. The code of a component is that of its first use that has code.
pub(crate) fn in_code(world: &World, view: &Document, object: Object<'_>) -> Option<finding::Location> {
    if !world.is_of_project(view) {
        return None;
    }
    // Examples are not implemented.
    if object.within(Kind::Example).is_some() {
        return None;
    }
    let implementation = world.implementation.as_ref()?;
    let own = implementation.locate(&object.subject());
    own.or_else(|| {
        let model = object.model();
        let users = model
            .everything()
            .filter(|user| user.is_reference() && user.resolved().is_some_and(|target| target == object));
        users.into_iter().find_map(|user| implementation.locate(&user.subject()))
    })
}

/// Returns the objects of the project's document that a place in the code implements.
fn from_code(world: &World, view: &Document, offset: usize) -> Vec<Location> {
    let (Some(document), Some(implementation)) = (world.project_view(), &world.implementation) else {
        return Vec::new();
    };
    let (Some(tree), Some(path)) = (&document.tree, &view.path) else { return Vec::new() };
    let root = world.project.root();
    let Some(file) = path.strip_prefix(root).ok().and_then(|path| path.to_str()) else { return Vec::new() };
    let Some(text) = implementation.text(file) else { return Vec::new() };
    let saved = view.since_save.back(offset);
    let located: Vec<(finding::Location, Object<'_>)> = implemented(tree.model())
        .filter_map(|object| Some((implementation.locate(&object.subject())?, object)))
        .collect();
    let contains = |place: &finding::Location| {
        place.file == file && (place.span.start..=place.span.end).contains(&saved)
    };
    let smallest = located.iter().filter(|(place, _)| contains(place)).map(|(place, _)| length(place)).min();
    let mut found: Vec<Object<'_>> = match smallest {
        Some(smallest) => {
            let at_offset = located.iter().filter(|(place, _)| contains(place) && length(place) == smallest);
            at_offset.map(|(_, object)| *object).collect()
        }
        None => {
            // The name of a type or an operation that is used elsewhere stands for its declaration.
            let name = &text[word_at(text, saved, |c| c.is_alphanumeric() || c == '_')];
            let is_named = |place: &finding::Location| {
                let text = implementation.text(&place.file).unwrap_or_default();
                !name.is_empty() && text.get(place.span.start..place.span.end) == Some(name)
            };
            let named = located.iter().filter(|(place, _)| is_named(place)).map(|(_, object)| *object);
            let operations = tree.model().all(Kind::Operation);
            named.chain(operations.filter(|operation| operation.text("operationId") == Some(name))).collect()
        }
    };
    found.sort_by_key(|object| object.span().start);
    found.dedup();
    found.into_iter().map(|object| document.location(object.span())).collect()
}

/// The length of a place in bytes.
fn length(place: &finding::Location) -> usize {
    place.span.end.saturating_sub(place.span.start)
}

/// The objects that code implements: operations, parameters, schemas and properties.
fn implemented<'a>(model: &'a Model<'a>) -> impl Iterator<Item = Object<'a>> {
    model.everything().filter(|object| match object.kind() {
        Kind::Operation => true,
        Kind::Parameter => object.within(Kind::Operation).is_some(),
        Kind::Schema => {
            matches!(object.keyword(), "schemas" | "properties") && object.within(Kind::Operation).is_none()
        }
        _ => false,
    })
}
