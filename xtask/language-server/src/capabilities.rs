//! What the client and the server can do.

use lsp_server::Request;
use lsp_types::notification::{DidChangeWatchedFiles, Notification as _};
use lsp_types::request::{RegisterCapability, Request as _};
use lsp_types::{CodeActionKind, InitializeParams, TextDocumentSyncKind};
use serde_json::{Value, json};

use crate::actions::SCAFFOLD;
use crate::diagnostics::SOURCE;

/// What the client can do.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Client {
    /// Whether it accepts edits with versions.
    pub(crate) versioned_edits: bool,
    /// Whether it can watch files on request.
    pub(crate) watches_files: bool,
    /// Whether it shows the progress of work that takes long.
    pub(crate) shows_progress: bool,
}

impl Client {
    /// Reads what the client says about itself.
    pub(crate) fn of(params: &InitializeParams) -> Self {
        let capabilities = &params.capabilities;
        let workspace = capabilities.workspace.as_ref();
        let edits = workspace.and_then(|workspace| workspace.workspace_edit.as_ref());
        let watched = workspace.and_then(|workspace| workspace.did_change_watched_files);
        let progress = capabilities.window.as_ref().and_then(|window| window.work_done_progress);
        Self {
            versioned_edits: edits.and_then(|edits| edits.document_changes).unwrap_or_default(),
            watches_files: watched.and_then(|watched| watched.dynamic_registration).unwrap_or_default(),
            shows_progress: progress.unwrap_or_default(),
        }
    }
}

/// Returns the response to `initialize`.
pub(crate) fn of_server() -> Value {
    json!({
        "capabilities": {
            "textDocumentSync": { "openClose": true, "change": TextDocumentSyncKind::INCREMENTAL, "save": {} },
            "hoverProvider": true,
            "definitionProvider": true,
            "referencesProvider": true,
            "documentSymbolProvider": true,
            "renameProvider": { "prepareProvider": true },
            "completionProvider": { "triggerCharacters": ["/", "#", "'", "\"", ":", " "] },
            "codeActionProvider": { "codeActionKinds": [CodeActionKind::QUICKFIX] },
            "executeCommandProvider": { "commands": [SCAFFOLD] },
        },
        "serverInfo": { "name": SOURCE, "version": env!("CARGO_PKG_VERSION") },
    })
}

/// Returns the request to watch the files that answers and diagnostics depend on.
pub(crate) fn watch_request() -> Request {
    let watchers = ["**/*.rs", "**/contract.toml", "**/*.yaml"].map(|glob| json!({ "globPattern": glob }));
    let method = DidChangeWatchedFiles::METHOD;
    let registration = json!({ "id": method, "method": method, "registerOptions": { "watchers": watchers } });
    let params = json!({ "registrations": [registration] });
    Request::new("watch".to_owned().into(), RegisterCapability::METHOD.to_owned(), params)
}
