//! Work that takes long, as the client shows it (LSP 3.17, "Work Done Progress").

use crossbeam_channel::Sender;
use lsp_server::{Message, Notification, Request};
use lsp_types::notification::{Notification as _, Progress};
use lsp_types::request::{Request as _, WorkDoneProgressCreate};
use serde_json::{Value, json};

/// Work that the client shows until the value is dropped.
#[derive(Debug)]
pub(crate) struct WorkDone {
    out: Sender<Message>,
    token: String,
}

impl WorkDone {
    /// Tells the client that work began. `number` is unique in the server.
    pub(crate) fn begin(out: Sender<Message>, number: u64, title: &str) -> Self {
        let token = format!("contract/{number}");
        let params = json!({ "token": token });
        let create = Request::new(token.clone().into(), WorkDoneProgressCreate::METHOD.to_owned(), params);
        let progress = Self { out, token };
        progress.send(create);
        progress.report(json!({ "kind": "begin", "title": title }));
        progress
    }

    fn report(&self, value: Value) {
        let params = json!({ "token": self.token, "value": value });
        self.send(Notification { method: Progress::METHOD.to_owned(), params });
    }

    /// Fails only while the process ends.
    fn send(&self, message: impl Into<Message>) {
        let _ = self.out.send(message.into());
    }
}

impl Drop for WorkDone {
    fn drop(&mut self) {
        self.report(json!({ "kind": "end" }));
    }
}
