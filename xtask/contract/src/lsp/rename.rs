//! Rename a component, with everything that refers to it.

use std::collections::HashMap;

use lsp_server::ErrorCode;
use lsp_types::{
    DocumentChanges, OneOf, OptionalVersionedTextDocumentIdentifier, Position, PrepareRenameResponse,
    RenameParams, TextDocumentEdit, TextDocumentPositionParams, TextEdit, Uri, WorkspaceEdit,
};

use super::answer::Refusal;
use super::names::{component, is_component, uses};
use super::place::Place;
use super::references::named;
use super::world::{View, World};
use crate::document::{Span, shortened};
use crate::openapi::{Keys, Object, shapes};

/// Answers `textDocument/prepareRename`: the range of the name at a position.
pub(super) fn prepare(world: &World, params: &TextDocumentPositionParams) -> Option<PrepareRenameResponse> {
    let view = world.view(&params.text_document.uri)?;
    let tree = view.tree.as_ref()?;
    let place = Place::at(tree, view.offset_in_tree(params.position, world.encoding));
    let object = named(&place).filter(|object| is_component(*object))?;
    let span = name_in(place.span, tree.document().text.as_str(), object.name())?;
    let range = view.range(span, world.encoding);
    Some(PrepareRenameResponse::RangeWithPlaceholder { range, placeholder: object.name().to_owned() })
}

/// Answers `textDocument/rename`.
///
/// # Errors
/// When there is no component at the position, the name is not allowed or used already, or the text cannot be read.
pub(super) fn rename(world: &World, params: &RenameParams) -> Result<Option<WorkspaceEdit>, Refusal> {
    let refused = |reason: String| (ErrorCode::RequestFailed, reason);
    let TextDocumentPositionParams { text_document, position } = &params.text_document_position;
    let view = world.view(&text_document.uri);
    let no_component = || refused("there is no component at this place".to_owned());
    let (view, tree) = view.and_then(|view| Some((view, view.tree.as_ref()?))).ok_or_else(no_component)?;
    if !view.since_tree.is_empty() {
        return Err(refused("the document cannot be read now; correct its errors first".to_owned()));
    }
    let object = at(world, view, *position).ok_or_else(no_component)?;
    let new = params.new_name.as_str();
    if let Some(fix) = shapes::wrong_key(Keys::ComponentNames, new) {
        return Err(refused(format!("`{}` cannot be the name of a component. {fix}", shortened(new))));
    }
    if new != object.name() && component(object.model(), object.keyword(), new).is_some() {
        return Err(refused(format!("`components/{}` has `{}` already", object.keyword(), shortened(new))));
    }
    let text = tree.document().text.as_str();
    let declared = object.key_span().and_then(|span| name_in(span, text, object.name()));
    let declared = declared.ok_or_else(no_component)?;
    let mut edits = vec![TextEdit { range: view.range(declared, world.encoding), new_text: new.to_owned() }];
    for used in uses(object) {
        let before = if used.is_pointer { pointer_before(object) } else { 0 };
        let edit = match name_after(used.span, text, object.name(), before) {
            Some(span) => TextEdit { range: view.range(span, world.encoding), new_text: new.to_owned() },
            // The name is written with escapes.
            None => {
                let value = if used.is_pointer { renamed(&used.text, object, new) } else { new.to_owned() };
                // A JSON string is a YAML string too.
                let new_text = serde_json::to_string(&value).unwrap_or_default();
                TextEdit { range: view.range(used.span, world.encoding), new_text }
            }
        };
        edits.push(edit);
    }
    Ok(Some(workspace_edit(world, view, edits)))
}

fn at<'a>(world: &World, view: &'a View, position: Position) -> Option<Object<'a>> {
    let place = Place::at(view.tree.as_ref()?, view.offset_in_tree(position, world.encoding));
    named(&place).filter(|object| is_component(*object))
}

/// The length of a reference to a component before its name: `#/components/schemas/`.
fn pointer_before(object: Object<'_>) -> usize {
    "#/components/".len() + object.keyword().len() + 1
}

/// Returns the place of a name in the text of a key or value. `None` if it is written with escapes.
fn name_in(span: Span, text: &str, name: &str) -> Option<Span> {
    let written = text.get(span.start..span.end)?;
    let start = written.rfind(name)?;
    Some(part(span, start, name.len()))
}

/// Returns the place of a name that begins after `before` characters of a value. `None` if the value has quotes or escapes
/// of another form.
fn name_after(span: Span, text: &str, name: &str, before: usize) -> Option<Span> {
    let written = text.get(span.start..span.end)?;
    let quote = usize::from(written.starts_with(['\'', '"']));
    let start = quote + before;
    let is_here = written.get(start..)?.starts_with(name);
    let is_plain = !written.get(..start)?.contains(['\\', '%', '\n']);
    (is_here && is_plain).then(|| part(span, start, name.len()))
}

fn part(span: Span, start: usize, length: usize) -> Span {
    let start_byte = span.start + start;
    Span { start: start_byte, end: start_byte + length, line: span.line, column: span.column + start }
}

/// Returns a reference to the renamed component, or to the same part of it.
fn renamed(reference: &str, object: Object<'_>, new: &str) -> String {
    let rest = reference.splitn(4, '/').nth(3).and_then(|rest| rest.split_once('/'));
    let rest = rest.map(|(_, rest)| format!("/{rest}")).unwrap_or_default();
    format!("#/components/{}/{new}{rest}", object.keyword())
}

/// Returns edits of one document for the client, with the version of the text if the client accepts it.
pub(super) fn workspace_edit(world: &World, view: &View, edits: Vec<TextEdit>) -> WorkspaceEdit {
    if world.versioned_edits {
        let text_document =
            OptionalVersionedTextDocumentIdentifier { uri: view.uri.clone(), version: view.version };
        let edits = edits.into_iter().map(OneOf::Left).collect();
        let changes = DocumentChanges::Edits(vec![TextDocumentEdit { text_document, edits }]);
        return WorkspaceEdit { document_changes: Some(changes), ..WorkspaceEdit::default() };
    }
    let changes: HashMap<Uri, Vec<TextEdit>> = HashMap::from([(view.uri.clone(), edits)]);
    WorkspaceEdit { changes: Some(changes), ..WorkspaceEdit::default() }
}
