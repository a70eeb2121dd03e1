//! Notifications of the client: documents that are opened, changed, saved and closed.

use lsp_server::Notification;
use lsp_types::Uri;
use lsp_types::notification::{
    DidChangeTextDocument, DidChangeWatchedFiles, DidCloseTextDocument, DidOpenTextDocument,
    DidSaveTextDocument, Initialized, Notification as Kind,
};

use crate::documents::Document;
use crate::server::Server;
use crate::uris;

impl Server {
    /// Handles a notification. One that is unknown or malformed, or about a file that is not a document, is ignored, as the
    /// protocol requires.
    pub(crate) fn notification(&mut self, Notification { method, params }: Notification) -> Option<()> {
        match method.as_str() {
            Initialized::METHOD => self.watch_files(),
            DidOpenTextDocument::METHOD => {
                let it = read::<DidOpenTextDocument>(params)?.text_document;
                let key = uris::normal(&it.uri);
                self.names.insert(key.clone(), it.uri.clone());
                let document = Document::new(it.uri, it.version, it.text)?;
                self.begin_check(&key, &document);
                if self.world.implementation.is_none() {
                    self.begin_reading();
                }
                self.world.documents.insert(key, document);
            }
            DidChangeTextDocument::METHOD => {
                let params = read::<DidChangeTextDocument>(params)?;
                let key = uris::normal(&params.text_document.uri);
                let document = self.world.documents.get_mut(&key)?;
                document.change(params.content_changes, params.text_document.version);
                self.begin_check(&key, &self.world.documents[&key]);
            }
            DidSaveTextDocument::METHOD => {
                self.saved(&uris::normal(&read::<DidSaveTextDocument>(params)?.text_document.uri));
            }
            DidCloseTextDocument::METHOD => {
                let params = read::<DidCloseTextDocument>(params)?;
                self.world.documents.remove(&uris::normal(&params.text_document.uri));
                self.publish(None);
            }
            DidChangeWatchedFiles::METHOD => {
                let changes = read::<DidChangeWatchedFiles>(params)?.changes;
                changes.iter().for_each(|change| self.changed_on_disk(&change.uri));
            }
            _ => {}
        }
        Some(())
    }

    fn saved(&mut self, key: &Uri) {
        self.changed_on_disk(key);
        let document = self.world.documents.get(key);
        if is_rust(key) || document.is_some_and(|it| it.path == self.world.project.document()) {
            self.start_drift();
        }
    }

    /// Reads the code, or checks all documents: the configuration or the base may have changed.
    fn changed_on_disk(&self, key: &Uri) {
        if is_rust(key) {
            return self.begin_reading();
        }
        for (key, document) in &self.world.documents {
            self.begin_check(key, document);
        }
    }
}

fn is_rust(uri: &Uri) -> bool {
    uri.as_str().ends_with(".rs")
}

fn read<N: Kind>(params: serde_json::Value) -> Option<N::Params> {
    serde_json::from_value(params).ok()
}
