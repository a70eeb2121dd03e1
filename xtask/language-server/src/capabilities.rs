//! What the client and the server can do.

use lsp_server::Request;
use lsp_types::notification::{DidChangeWatchedFiles, Notification as _};
use lsp_types::request::{RegisterCapability, Request as _};
use lsp_types::{
    CodeActionKind, CodeActionOptions, CodeActionProviderCapability, CompletionOptions,
    DidChangeWatchedFilesRegistrationOptions, ExecuteCommandOptions, FileSystemWatcher, GlobPattern,
    HoverProviderCapability, InitializeParams, InitializeResult, OneOf, Registration, RegistrationParams,
    RenameOptions, SaveOptions, ServerCapabilities, ServerInfo, TextDocumentSyncCapability,
    TextDocumentSyncKind, TextDocumentSyncOptions, TextDocumentSyncSaveOptions, WorkDoneProgressOptions,
};

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
pub(crate) fn of_server() -> InitializeResult {
    let sync = TextDocumentSyncOptions {
        open_close: Some(true),
        change: Some(TextDocumentSyncKind::INCREMENTAL),
        save: Some(TextDocumentSyncSaveOptions::SaveOptions(SaveOptions { include_text: Some(false) })),
        ..TextDocumentSyncOptions::default()
    };
    let triggers = ["/", "#", "'", "\"", ":", " "];
    let capabilities = ServerCapabilities {
        text_document_sync: Some(TextDocumentSyncCapability::Options(sync)),
        hover_provider: Some(HoverProviderCapability::Simple(true)),
        definition_provider: Some(OneOf::Left(true)),
        references_provider: Some(OneOf::Left(true)),
        document_symbol_provider: Some(OneOf::Left(true)),
        rename_provider: Some(OneOf::Right(RenameOptions {
            prepare_provider: Some(true),
            work_done_progress_options: WorkDoneProgressOptions::default(),
        })),
        completion_provider: Some(CompletionOptions {
            trigger_characters: Some(triggers.map(str::to_owned).into()),
            ..CompletionOptions::default()
        }),
        code_action_provider: Some(CodeActionProviderCapability::Options(CodeActionOptions {
            code_action_kinds: Some(vec![CodeActionKind::QUICKFIX]),
            ..CodeActionOptions::default()
        })),
        execute_command_provider: Some(ExecuteCommandOptions {
            commands: vec![SCAFFOLD.to_owned()],
            ..ExecuteCommandOptions::default()
        }),
        ..ServerCapabilities::default()
    };
    let server_info =
        ServerInfo { name: SOURCE.to_owned(), version: Some(env!("CARGO_PKG_VERSION").to_owned()) };
    InitializeResult { capabilities, server_info: Some(server_info) }
}

/// Returns the request to watch the files that answers and diagnostics depend on.
pub(crate) fn watch_request() -> Request {
    let globs = ["**/*.rs", "**/contract.toml", "**/*.yaml"];
    let watcher =
        |glob: &str| FileSystemWatcher { glob_pattern: GlobPattern::String(glob.to_owned()), kind: None };
    let options = DidChangeWatchedFilesRegistrationOptions { watchers: globs.map(watcher).into() };
    let method = DidChangeWatchedFiles::METHOD.to_owned();
    let registration = Registration {
        id: method.clone(),
        method,
        // A list of strings is always valid JSON.
        register_options: serde_json::to_value(options).ok(),
    };
    let params = RegistrationParams { registrations: vec![registration] };
    Request::new("watch".to_owned().into(), RegisterCapability::METHOD.to_owned(), params)
}
