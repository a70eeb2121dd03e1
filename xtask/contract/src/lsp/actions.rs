//! Code actions: the repairs of findings, and the command that adds an operation to the code.

use std::ops::Range;

use lsp_types::{
    CodeAction, CodeActionKind, CodeActionOrCommand, CodeActionParams, CodeActionResponse, Command,
    Diagnostic, TextEdit,
};
use serde_json::json;

use super::diagnostics::{diagnostic, marked};
use super::edits::Edits;
use super::rename::workspace_edit;
use super::world::{View, World};
use crate::config;
use crate::edits::{Edit, edits};
use crate::finding::Finding;
use crate::repair::Repair;

/// The command that adds an operation to the code. Its argument is the `operationId`.
pub(super) const SCAFFOLD: &str = "contract.scaffold";

/// Answers `textDocument/codeAction`.
pub(super) fn actions(world: &World, params: &CodeActionParams) -> Option<CodeActionResponse> {
    let view = world.view(&params.text_document.uri)?;
    let asked = view.text.offset(params.range.start, world.encoding)
        ..view.text.offset(params.range.end, world.encoding);
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
        let range = view.text.range(place, world.encoding);
        let shown = diagnostic(finding, range, Vec::new());
        let repairs = finding.repairs.iter().filter_map(|repair| fix(world, view, &shown, repair));
        actions.extend(repairs);
        actions.extend(
            finding.scaffold.as_deref().and_then(|operation| scaffold(world, view, &shown, operation)),
        );
    }
    Some(actions)
}

fn is_quick_fix(kind: &CodeActionKind) -> bool {
    *kind == CodeActionKind::QUICKFIX || *kind == CodeActionKind::EMPTY
}

/// Returns the findings of a document, each with the edits since it was found.
pub(super) fn findings<'w>(
    world: &'w World,
    view: &'w View,
) -> impl Iterator<Item = (&'w Finding, &'w Edits)> {
    let checked = view.findings.iter().map(|finding| (finding, &view.since_findings));
    let configured = view.configured.iter().map(|finding| (finding, &view.since_configured));
    let is_compared = world.is_of_project(view);
    let drift = world.drift.iter().filter(move |_| is_compared).map(|finding| (finding, &view.since_save));
    checked.chain(configured).chain(drift)
}

/// Returns the place of a finding in the text of the editor; `None` if it was edited since.
pub(super) fn place(view: &View, finding: &Finding, since: &Edits) -> Option<Range<usize>> {
    let range = since.unchanged(finding.span.start..finding.span.end)?;
    let mut span = finding.span;
    (span.start, span.end) = (range.start, range.end);
    let marked = marked(&Finding { span, ..Finding::default() }, view.text.as_str());
    Some(marked.start..marked.end)
}

fn fix(world: &World, view: &View, shown: &Diagnostic, repair: &Repair) -> Option<CodeActionOrCommand> {
    let edits = match view.tree.as_ref() {
        Some(tree) => edits(tree.model(), repair)?,
        // The places of a configuration are those of its newest text.
        None => config::edits(view.text.as_str(), repair)?,
    };
    let text_edit = |edit: Edit| {
        let range = view.since_tree.unchanged(edit.range)?;
        Some(TextEdit { range: view.text.range(range, world.encoding), new_text: edit.text })
    };
    let edits = edits.into_iter().map(text_edit).collect::<Option<Vec<_>>>()?;
    Some(CodeActionOrCommand::CodeAction(CodeAction {
        title: repair.title(),
        kind: Some(CodeActionKind::QUICKFIX),
        diagnostics: Some(vec![shown.clone()]),
        edit: Some(workspace_edit(world, view, edits)),
        ..CodeAction::default()
    }))
}

fn scaffold(world: &World, view: &View, shown: &Diagnostic, operation: &str) -> Option<CodeActionOrCommand> {
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
