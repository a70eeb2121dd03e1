//! Notifications of the client: documents that are opened, changed, saved and closed.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use checks::config;
use document::Span;
use document::finding::Finding;
use lsp_server::{Notification, RequestId};
use lsp_types::notification::{
    Cancel, DidChangeTextDocument, DidChangeWatchedFiles, DidCloseTextDocument, DidOpenTextDocument,
    DidSaveTextDocument, Initialized, Notification as _, PublishDiagnostics,
};
use lsp_types::{NumberOrString, PublishDiagnosticsParams, Uri};
use serde::de::DeserializeOwned;

use crate::diagnostics::{Check, diagnostic, related};
use crate::documents::{Document, Language};
use crate::server::Server;
use crate::text::Text;
use crate::{capabilities, uris};

impl Server {
    /// Handles a notification. One that is unknown or malformed is ignored, as the protocol requires.
    pub(crate) fn notification(&mut self, notification: Notification) {
        let Notification { method, params } = notification;
        match method.as_str() {
            Initialized::METHOD => self.watch_files(),
            DidOpenTextDocument::METHOD => {
                let Some(params) = read::<DidOpenTextDocument>(params) else { return };
                let document = params.text_document;
                self.open(document.uri, Some(document.version), document.text);
            }
            DidChangeTextDocument::METHOD => {
                let Some(params) = read::<DidChangeTextDocument>(params) else { return };
                let key = uris::normal(&params.text_document.uri);
                let number = self.next_number();
                let Some(document) = self.world.documents.get_mut(&key).filter(|it| it.version.is_some())
                else {
                    return;
                };
                document.version = Some(params.text_document.version);
                document.change(params.content_changes, number);
                self.changed(&key);
            }
            DidSaveTextDocument::METHOD => {
                let Some(params) = read::<DidSaveTextDocument>(params) else { return };
                self.saved(&uris::normal(&params.text_document.uri));
            }
            DidCloseTextDocument::METHOD => {
                let Some(params) = read::<DidCloseTextDocument>(params) else { return };
                let key = uris::normal(&params.text_document.uri);
                self.forget(&key);
                self.check_below(&key);
                self.load_project_document();
            }
            DidChangeWatchedFiles::METHOD => {
                let Some(params) = read::<DidChangeWatchedFiles>(params) else { return };
                params.changes.iter().for_each(|change| self.changed_on_disk(&uris::normal(&change.uri)));
            }
            Cancel::METHOD => {
                let Some(params) = read::<Cancel>(params) else { return };
                let id: RequestId = match params.id {
                    NumberOrString::Number(number) => number.into(),
                    NumberOrString::String(text) => text.into(),
                };
                self.cancel(&id);
            }
            _ => {}
        }
    }

    pub(crate) fn next_number(&mut self) -> u64 {
        self.number += 1;
        self.number
    }

    fn open(&mut self, uri: Uri, version: Option<i32>, text: String) {
        let (key, number) = (uris::normal(&uri), self.next_number());
        self.world.documents.insert(key.clone(), Document::new(uri, version, text, number));
        self.changed(&key);
    }

    /// Opens the document of the project, unless the editor has opened it.
    pub(crate) fn load_project_document(&mut self) {
        let Some(path) = self.world.project.document() else { return };
        let Some(uri) = uris::of_path(&path) else { return };
        if self.world.documents.contains_key(&uri) {
            return;
        }
        if let Ok(text) = std::fs::read_to_string(&path) {
            self.open(uri, None, text);
        }
    }

    /// Checks what depends on a changed text.
    fn changed(&mut self, key: &Uri) {
        match self.world.documents.get(key).map(Document::language) {
            Some(Language::Data) => self.check(key),
            Some(Language::Configuration) => self.check_below(key),
            _ => {}
        }
    }

    fn changed_on_disk(&mut self, key: &Uri) {
        match self.world.documents.get(key) {
            // The editor sends its changes.
            Some(document) if document.version.is_some() => return,
            Some(_) => {
                self.forget(key);
                self.load_project_document();
            }
            None => {}
        }
        let path = uris::to_path(key).unwrap_or_default();
        if path.extension().is_some_and(|extension| extension == "rs") {
            self.read_sources();
        } else {
            self.check_below(key);
        }
    }

    fn saved(&mut self, key: &Uri) {
        let Some(document) = self.world.documents.get_mut(key) else { return };
        let (edits, path) = (std::mem::take(&mut document.since_save), document.path.clone());
        let (is_project, language) = (self.world.project.document() == path, document.language());
        self.move_drift(path.as_deref(), &edits);
        match language {
            Language::Rust => {
                self.read_sources();
                self.start_drift();
            }
            Language::Data if is_project => self.start_drift(),
            _ => {}
        }
    }

    /// Checks the documents that a configuration can apply to.
    fn check_below(&mut self, configuration: &Uri) {
        let Some(path) = uris::to_path(configuration).filter(|path| path.ends_with(config::FILE)) else {
            return;
        };
        let directory = path.parent().unwrap_or(Path::new(""));
        let is_below = |document: &Document| {
            document.language() == Language::Data
                && document.path.as_deref().is_some_and(|document| document.starts_with(directory))
        };
        let below: Vec<Uri> =
            self.world.documents.iter().filter(|(_, it)| is_below(it)).map(|(key, _)| key.clone()).collect();
        for key in below {
            let number = self.next_number();
            self.world.documents.get_mut(&key).into_iter().for_each(|document| document.outdated(number));
            self.check(&key);
        }
    }

    /// Returns the configuration of a document, if it is open in the editor.
    pub(crate) fn open_config(&self, key: &Uri) -> Option<(PathBuf, String)> {
        let open = |path: &Path| self.world.documents.get(&uris::of_path(path)?);
        let path = config::nearest(&uris::to_path(key)?, |path| open(path).is_some() || path.exists())?;
        let text = open(&path)?.text.as_str().to_owned();
        Some((path, text))
    }

    /// Publishes the findings of a document, and those in other files.
    pub(crate) fn publish_checked(
        &mut self,
        key: &Uri,
        others: std::collections::BTreeMap<String, Vec<Finding>>,
    ) {
        let Some(document) = self.world.documents.get(key) else { return };
        let mut by_file = HashMap::new();
        let show = |finding: &Finding, text: &Text| {
            let span = finding.span.first_line(text.as_str());
            diagnostic(finding, text.range(span.start..span.end), related(&self.world, finding))
        };
        // If the text was edited since the check began, another check follows.
        let own = document.findings.iter().map(|finding| {
            let mut finding = finding.clone();
            let Span { start, end, .. } = &mut finding.span;
            (*start, *end) = (document.since_findings.forward(*start), document.since_findings.forward(*end));
            show(&finding, &document.text)
        });
        by_file.insert(key.clone(), own.collect());
        for (file, findings) in others {
            let Some(uri) = uris::of_path(Path::new(&file)) else { continue };
            let text = match self.world.documents.get(&uri) {
                Some(document) => document.text.clone(),
                None => Text::new(std::fs::read_to_string(&file).unwrap_or_default()).into(),
            };
            by_file.insert(uri, findings.iter().map(|finding| show(finding, &text)).collect());
        }
        let mut changed = self.board.set(&Check::Document(key.as_str().to_owned()), by_file);
        changed.extend(self.show_drift());
        // The client is told the version that was checked, even if the diagnostics are the same.
        changed.push(key.clone());
        changed.sort();
        changed.dedup();
        self.publish(changed);
    }

    /// Publishes all diagnostics of these files.
    pub(crate) fn publish(&self, files: Vec<Uri>) {
        for key in files {
            let diagnostics = self.board.of(&key);
            let document = self.world.documents.get(&key);
            let version = document.filter(|it| it.is_checked()).and_then(|document| document.version);
            let uri = document.map_or_else(|| key.clone(), |document| document.uri.clone());
            self.notify(PublishDiagnostics::METHOD, PublishDiagnosticsParams { uri, diagnostics, version });
        }
    }

    /// Asks the client to report changes of files that it has not opened.
    fn watch_files(&self) {
        if self.client.watches_files {
            self.send(capabilities::watch_request());
        }
    }
}

fn read<N: lsp_types::notification::Notification>(params: serde_json::Value) -> Option<N::Params>
where
    N::Params: DeserializeOwned,
{
    serde_json::from_value(params).ok()
}
