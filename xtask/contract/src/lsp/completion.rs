//! Completion.

use lsp_types::{CompletionParams, CompletionResponse};

use super::world::World;

/// Answers `textDocument/completion`.
pub(super) fn completion(_world: &World, _params: &CompletionParams) -> Option<CompletionResponse> {
    None
}
