//! Edits that a client makes: the repairs of findings, and the new name of a component in all places that refer to it.

use checks::lint;
use document::edits::{Edit, edits, is_component};
use document::openapi::{Keys, Object, shapes};
use document::repair::Repair;
use document::{Node, Span, pointer, shortened};
use lsp_server::ErrorCode;
use lsp_types::{
    CodeAction, CodeActionKind, CodeActionOrCommand, CodeActionParams, CodeActionResponse, DocumentChanges,
    OneOf, OptionalVersionedTextDocumentIdentifier, PrepareRenameResponse, RenameParams, TextDocumentEdit,
    TextDocumentPositionParams, TextEdit, WorkspaceEdit,
};

use crate::diagnostics::diagnostic;
use crate::documents::{Document, Refusal, World};
use crate::place::Place;

/// Answers `textDocument/codeAction`. There are no repairs while the text cannot be read.
pub(crate) fn actions(world: &World, params: &CodeActionParams) -> Option<CodeActionResponse> {
    let view = world.view(&params.text_document.uri)?;
    let tree = view.newest_tree()?;
    let is_quick_fix =
        |kind: &CodeActionKind| *kind == CodeActionKind::QUICKFIX || *kind == CodeActionKind::EMPTY;
    if params.context.only.as_deref().is_some_and(|kinds| !kinds.iter().any(is_quick_fix)) {
        return Some(Vec::new());
    }
    let mut actions = Vec::new();
    for (finding, span) in view.findings() {
        let range = view.text.range(span.start..span.end);
        let is_here = range.start <= params.range.end && params.range.start <= range.end;
        if !is_here || !is_there(&tree.document().root, &finding.pointer, span.start) {
            continue;
        }
        for repair in &finding.repairs {
            let Some(edits) = edits(tree.model(), repair) else { continue };
            actions.push(CodeActionOrCommand::CodeAction(CodeAction {
                title: repair.title(),
                kind: Some(CodeActionKind::QUICKFIX),
                diagnostics: Some(vec![diagnostic(finding, range, None)]),
                edit: Some(workspace_edit(view, edits)),
                ..CodeAction::default()
            }));
        }
    }
    Some(actions)
}

/// Whether the pointer of a finding still leads to its place. Since it was found, the items before it in a list may have
/// changed.
fn is_there(root: &Node, at: &str, offset: usize) -> bool {
    let contains = |span: Span| (span.start..=span.end).contains(&offset);
    let key = at.rsplit_once('/').and_then(|(owner, _)| {
        let token = pointer::tokens(at)?.last()?;
        root.pointer(owner)?.entry(&token)
    });
    key.is_some_and(|entry| contains(entry.key_span))
        || root.pointer(at).is_some_and(|node| at.is_empty() || contains(node.span))
}

/// Answers `textDocument/prepareRename`: the range of the name at a position. `None` if it is written with escapes.
pub(crate) fn prepare(world: &World, params: &TextDocumentPositionParams) -> Option<PrepareRenameResponse> {
    let (view, Place { span, .. }, object) = component(world, params)?;
    let name = object.name();
    let start = span.start + object.model().source().get(span.start..span.end)?.rfind(name)?;
    let range = view.range(Span { start, end: start + name.len(), ..span });
    Some(PrepareRenameResponse::RangeWithPlaceholder { range, placeholder: name.to_owned() })
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
    let (view, _, object) = component(world, &params.text_document_position).ok_or_else(no_component)?;
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
fn component<'w>(
    world: &'w World,
    params: &TextDocumentPositionParams,
) -> Option<(&'w Document, Place<'w>, Object<'w>)> {
    let (view, place) = world.place(params)?;
    let object = place.named().filter(|object| is_component(*object))?;
    Some((view, place, object))
}

/// Returns edits of the newest text of a document for the client.
fn workspace_edit(view: &Document, edits: Vec<Edit>) -> WorkspaceEdit {
    let text_edit = |edit: Edit| TextEdit { range: view.text.range(edit.range), new_text: edit.text };
    let edits = edits.into_iter().map(|edit| OneOf::Left(text_edit(edit))).collect();
    // A client refuses edits of another version than the one that it has.
    let text_document =
        OptionalVersionedTextDocumentIdentifier { uri: view.uri.clone(), version: Some(view.version) };
    let changes = DocumentChanges::Edits(vec![TextDocumentEdit { text_document, edits }]);
    WorkspaceEdit { document_changes: Some(changes), ..WorkspaceEdit::default() }
}
