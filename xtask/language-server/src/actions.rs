//! Code actions: the repairs of findings, and the command that adds an operation to the code.

use std::ops::Range;

use checks::config;
use document::edits::{Edit, edits};
use document::finding::Finding;
use document::repair::Repair;
use document::{Span, pointer};
use lsp_types::{
    CodeAction, CodeActionKind, CodeActionOrCommand, CodeActionParams, CodeActionResponse, Command,
    Diagnostic, TextEdit,
};
use serde_json::json;

use crate::diagnostics::diagnostic;
use crate::documents::Document;
use crate::edits::Edits;
use crate::rename::workspace_edit;
use crate::world::World;

/// The command that adds an operation to the code. Its argument is the `operationId`.
pub(crate) const SCAFFOLD: &str = "contract.scaffold";

/// Answers `textDocument/codeAction`.
pub(crate) fn actions(world: &World, params: &CodeActionParams) -> Option<CodeActionResponse> {
    let view = world.view(&params.text_document.uri)?;
    let asked = view.text.offset(params.range.start)..view.text.offset(params.range.end);
    let wanted = params.context.only.as_deref();
    if wanted.is_some_and(|kinds| !kinds.iter().any(is_quick_fix)) {
        return Some(Vec::new());
    }
    let mut actions = Vec::new();
    for (finding, since) in findings(world, view) {
        let Some(place) = place(view, finding, since) else { continue };
        if place.start > asked.end || asked.start > place.end {
            continue;
        }
        let is_there = is_at(view, &finding.pointer, place.start);
        let range = view.text.range(place);
        let shown = diagnostic(finding, range, Vec::new());
        let repairs = finding.repairs.iter().filter(|_| is_there);
        let repairs = repairs.filter_map(|repair| fix(world, view, &shown, repair));
        actions.extend(repairs);
        actions.extend(
            finding.scaffold.as_deref().and_then(|operation| scaffold(world, view, &shown, operation)),
        );
    }
    Some(actions)
}

/// Whether a pointer of a finding still leads to the place of the finding. Since it was found, the items before it in a
/// list may have changed.
fn is_at(view: &Document, pointer: &str, offset: usize) -> bool {
    let Some(tree) = view.tree.as_ref() else { return true };
    let offset = view.since_tree.back(offset);
    let contains = |span: Span| (span.start..=span.end).contains(&offset);
    let root = &tree.document().root;
    let key = pointer.rsplit_once('/').and_then(|(owner, _)| {
        let token = pointer::tokens(pointer)?.last()?;
        root.pointer(owner)?.entry(&token)
    });
    key.is_some_and(|entry| contains(entry.key_span))
        || root.pointer(pointer).is_some_and(|node| pointer.is_empty() || contains(node.span))
}

fn is_quick_fix(kind: &CodeActionKind) -> bool {
    *kind == CodeActionKind::QUICKFIX || *kind == CodeActionKind::EMPTY
}

/// Returns the findings of a document, each with the edits since it was found.
pub(crate) fn findings<'w>(
    world: &'w World,
    view: &'w Document,
) -> impl Iterator<Item = (&'w Finding, &'w Edits)> {
    let checked = view.findings.iter().map(|finding| (finding, &view.since_findings));
    // The numbers of entries change with an edit; another check follows at once.
    let configured = view.configured.values().flatten().filter(|_| view.since_configured.is_empty());
    let configured = configured.map(|finding| (finding, &view.since_configured));
    let is_compared = world.is_of_project(view);
    let drift = world.drift.iter().filter(move |_| is_compared).map(|finding| (finding, &view.since_save));
    checked.chain(configured).chain(drift)
}

/// Returns the place of a finding in the text of the editor; `None` if it was edited since.
pub(crate) fn place(view: &Document, finding: &Finding, since: &Edits) -> Option<Range<usize>> {
    let range = since.unchanged(finding.span.start..finding.span.end)?;
    let span = Span { start: range.start, end: range.end, ..finding.span };
    let marked = span.first_line(view.text.as_str());
    Some(marked.start..marked.end)
}

fn fix(world: &World, view: &Document, shown: &Diagnostic, repair: &Repair) -> Option<CodeActionOrCommand> {
    let edits = match view.tree.as_ref() {
        Some(tree) => edits(tree.model(), repair)?.into_iter().map(|edit| moved(edit, view)).collect(),
        None => Some(config::edits(view.text.as_str(), repair)?),
    };
    let text_edit = |edit: Edit| {
        let range = view.text.range(edit.range);
        TextEdit { range, new_text: edit.text }
    };
    let edits = edits?.into_iter().map(text_edit).collect();
    Some(CodeActionOrCommand::CodeAction(CodeAction {
        title: repair.title(),
        kind: Some(CodeActionKind::QUICKFIX),
        diagnostics: Some(vec![shown.clone()]),
        edit: Some(workspace_edit(world, view, edits)),
        ..CodeAction::default()
    }))
}

/// Returns an edit of the text of the tree as one of the text in the editor; `None` if the place was edited since.
fn moved(edit: Edit, view: &Document) -> Option<Edit> {
    Some(Edit { range: view.since_tree.unchanged(edit.range)?, ..edit })
}

fn scaffold(
    world: &World,
    view: &Document,
    shown: &Diagnostic,
    operation: &str,
) -> Option<CodeActionOrCommand> {
    let path = view.path.as_ref()?;
    world.project.scaffold(path, operation)?;
    let title = format!("Add operation `{operation}` to the code");
    let arguments = Some(vec![json!(operation)]);
    Some(CodeActionOrCommand::CodeAction(CodeAction {
        title: title.clone(),
        kind: Some(CodeActionKind::QUICKFIX),
        diagnostics: Some(vec![shown.clone()]),
        command: Some(Command { title, command: SCAFFOLD.to_owned(), arguments }),
        ..CodeAction::default()
    }))
}
