//! Code actions: the repairs of findings.

use document::edits::edits;
use document::repair::Repair;
use document::{Node, Span, pointer};
use lsp_types::{
    CodeAction, CodeActionKind, CodeActionOrCommand, CodeActionParams, CodeActionResponse, Diagnostic,
};

use crate::diagnostics::diagnostic;
use crate::documents::Document;
use crate::rename::workspace_edit;
use crate::tree::Tree;
use crate::world::World;

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
        if is_here && is_there(&tree.document().root, &finding.pointer, span.start) {
            let shown = diagnostic(finding, range, None);
            actions.extend(finding.repairs.iter().filter_map(|repair| fix(view, tree, &shown, repair)));
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

fn fix(view: &Document, tree: &Tree, shown: &Diagnostic, repair: &Repair) -> Option<CodeActionOrCommand> {
    Some(CodeActionOrCommand::CodeAction(CodeAction {
        title: repair.title(),
        kind: Some(CodeActionKind::QUICKFIX),
        diagnostics: Some(vec![shown.clone()]),
        edit: Some(workspace_edit(view, edits(tree.model(), repair)?)),
        ..CodeAction::default()
    }))
}
