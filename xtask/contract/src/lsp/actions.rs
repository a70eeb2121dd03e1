//! Code actions: quick fixes, and the command that adds an operation to the code.

use lsp_types::{CodeActionParams, CodeActionResponse};

use super::world::World;

/// The command that adds an operation to the code. Its argument is the `operationId`.
pub(super) const SCAFFOLD: &str = "contract.scaffold";

/// Answers `textDocument/codeAction`.
pub(super) fn actions(_world: &World, _params: &CodeActionParams) -> Option<CodeActionResponse> {
    None
}
