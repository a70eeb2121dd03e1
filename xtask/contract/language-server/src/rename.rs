//! Rename a component, with everything that refers to it.

use checks::lint;
use document::edits::{Edit, edits, is_component};
use document::openapi::{Keys, Object, shapes};
use document::repair::Repair;
use document::{Span, shortened};
use lsp_server::ErrorCode;
use lsp_types::{
    DocumentChanges, OneOf, OptionalVersionedTextDocumentIdentifier, PrepareRenameResponse, RenameParams,
    TextDocumentEdit, TextDocumentPositionParams, TextEdit, WorkspaceEdit,
};

use crate::documents::Document;
use crate::place::Place;
use crate::references::named;
use crate::world::{Refusal, World};

/// Answers `textDocument/prepareRename`: the range of the name at a position.
pub(crate) fn prepare(world: &World, params: &TextDocumentPositionParams) -> Option<PrepareRenameResponse> {
    let (view, place, object) = at(world, params)?;
    let span = name_in(place.span, object.model().source(), object.name())?;
    let range = view.range(span);
    Some(PrepareRenameResponse::RangeWithPlaceholder { range, placeholder: object.name().to_owned() })
}

/// Answers `textDocument/rename`.
///
/// # Errors
/// When there is no component at the position, the name is not allowed or used already, or the text cannot be read.
pub(crate) fn rename(world: &World, params: &RenameParams) -> Result<Option<WorkspaceEdit>, Refusal> {
    let refused = |reason: String| (ErrorCode::RequestFailed, reason);
    let view = world.view(&params.text_document_position.text_document.uri);
    if view.is_some_and(|view| view.tree.is_some() && view.newest_tree().is_none()) {
        return Err(refused("the document cannot be read now; correct its errors first".to_owned()));
    }
    let no_component = || refused("there is no component at this place".to_owned());
    let (view, _, object) = at(world, &params.text_document_position).ok_or_else(no_component)?;
    let new = params.new_name.as_str();
    if !shapes::has_form(Keys::ComponentNames, new) {
        let fix = lint::form(Keys::ComponentNames);
        return Err(refused(format!("`{}` cannot be the name of a component. {fix}", shortened(new))));
    }
    let mut others = object.parent().into_iter().flat_map(|all| all.children(object.keyword()));
    if new != object.name() && others.any(|other| other.name() == new) {
        return Err(refused(format!("`components/{}` has `{}` already", object.keyword(), shortened(new))));
    }
    let unclear = || refused("a place that refers to it cannot be edited".to_owned());
    let rename = Repair::Rename { at: object.pointer(), to: new.to_owned() };
    let edits = edits(object.model(), &rename).ok_or_else(unclear)?;
    Ok(Some(workspace_edit(view, edits)))
}

/// Returns the component whose name or reference is at a position.
fn at<'w>(
    world: &'w World,
    params: &TextDocumentPositionParams,
) -> Option<(&'w Document, Place<'w>, Object<'w>)> {
    let (view, place) = world.place(params)?;
    let object = named(&place).filter(|object| is_component(*object))?;
    Some((view, place, object))
}

/// Returns the place of a name in the text of a key or value. `None` if it is written with escapes.
fn name_in(span: Span, text: &str, name: &str) -> Option<Span> {
    let written = text.get(span.start..span.end)?;
    let start = span.start + written.rfind(name)?;
    Some(Span { start, end: start + name.len(), ..span })
}

/// Returns edits of the newest text of a document for the client.
pub(crate) fn workspace_edit(view: &Document, edits: Vec<Edit>) -> WorkspaceEdit {
    let text_edit = |edit: Edit| TextEdit { range: view.text.range(edit.range), new_text: edit.text };
    let edits = edits.into_iter().map(|edit| OneOf::Left(text_edit(edit))).collect();
    // A client refuses edits of another version than the one that it has.
    let text_document =
        OptionalVersionedTextDocumentIdentifier { uri: view.uri.clone(), version: Some(view.version) };
    let changes = DocumentChanges::Edits(vec![TextDocumentEdit { text_document, edits }]);
    WorkspaceEdit { document_changes: Some(changes), ..WorkspaceEdit::default() }
}
