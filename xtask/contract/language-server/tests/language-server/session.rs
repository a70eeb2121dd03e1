//! A client of the server.

use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::thread::{self, JoinHandle};
use std::time::Duration;

use language_server::{Project, Standalone, run};
use lsp_server::{Connection, Message, Notification, Request, RequestId, Response, ResponseError};
use lsp_types::notification::Notification as _;
use lsp_types::{Diagnostic, Position, PublishDiagnosticsParams, Range};
use serde_json::{Value, json};
use tempfile::TempDir;

/// The limit of the wait for a message, so that a defect does not block the tests for ever.
const LIMIT: Duration = Duration::from_secs(600);

/// A client with a directory of its own.
pub(crate) struct Session {
    client: Option<Connection>,
    server: Option<JoinHandle<u8>>,
    next: i32,
    directory: TempDir,
    versions: HashMap<String, i32>,
    /// The newest diagnostics of each file.
    published: HashMap<String, PublishDiagnosticsParams>,
    /// All other messages of the server.
    received: Vec<Message>,
}

impl Session {
    /// Starts a server without a project.
    pub(crate) fn new() -> Self {
        Self::with(tempfile::tempdir().unwrap(), Arc::new(Standalone::default()), json!({}))
    }

    /// Starts a server for a project in a directory.
    pub(crate) fn with(directory: TempDir, project: Arc<dyn Project>, capabilities: Value) -> Self {
        let (server, client) = Connection::memory();
        let server = thread::spawn(move || run(server, project));
        let (versions, published, received) = (HashMap::new(), HashMap::new(), Vec::new());
        let mut session = Self {
            client: Some(client),
            server: Some(server),
            next: 0,
            directory,
            versions,
            published,
            received,
        };
        let params = json!({ "processId": null, "rootUri": null, "capabilities": capabilities });
        session.request("initialize", params).unwrap();
        session.notify("initialized", json!({}));
        session
    }

    /// The path of a file in the directory.
    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.directory.path().canonicalize().unwrap().join(name)
    }

    /// The URI of a file in the directory.
    pub(crate) fn uri(&self, name: &str) -> String {
        format!("file://{}", self.path(name).display())
    }

    /// Writes a file.
    pub(crate) fn write(&self, name: &str, text: &str) {
        fs::create_dir_all(self.path(name).parent().unwrap_or(Path::new(""))).unwrap();
        fs::write(self.path(name), text).unwrap();
    }

    pub(crate) fn send(&mut self, message: impl Into<Message>) {
        self.client.as_ref().unwrap().sender.send(message.into()).unwrap();
    }

    pub(crate) fn notify(&mut self, method: &str, params: Value) {
        self.send(Notification { method: method.to_owned(), params });
    }

    /// Sends a request without waiting for the response.
    pub(crate) fn ask(&mut self, method: &str, params: Value) -> RequestId {
        self.next += 1;
        let id: RequestId = self.next.into();
        self.send(Request { id: id.clone(), method: method.to_owned(), params });
        id
    }

    /// Waits for the response to a request.
    pub(crate) fn answer(&mut self, id: &RequestId) -> Result<Value, ResponseError> {
        let is_wanted =
            |message: &Message| matches!(message, Message::Response(response) if response.id == *id);
        if let Some(position) = self.received.iter().position(is_wanted)
            && let Message::Response(response) = self.received.remove(position)
        {
            return response.response_result;
        }
        loop {
            if let Some(Response { response_result, .. }) = self.receive(Some(id)) {
                return response_result;
            }
        }
    }

    pub(crate) fn request(&mut self, method: &str, params: Value) -> Result<Value, ResponseError> {
        let id = self.ask(method, params);
        self.answer(&id)
    }

    /// Receives a message. Returns it if it is the response to this request.
    fn receive(&mut self, wanted: Option<&RequestId>) -> Option<Response> {
        let received = self.client.as_ref().unwrap().receiver.recv_timeout(LIMIT);
        match received.expect("the server sends a message") {
            Message::Response(response) if Some(&response.id) == wanted => return Some(response),
            Message::Notification(it) if it.method == lsp_types::notification::PublishDiagnostics::METHOD => {
                let params: PublishDiagnosticsParams = serde_json::from_value(it.params).unwrap();
                self.published.insert(params.uri.as_str().to_owned(), params);
            }
            other => self.received.push(other),
        }
        None
    }

    /// Opens a file with a text.
    pub(crate) fn open(&mut self, name: &str, text: &str) {
        let uri = self.uri(name);
        self.versions.insert(name.to_owned(), 1);
        let document = json!({ "uri": uri, "languageId": "yaml", "version": 1, "text": text });
        self.notify("textDocument/didOpen", json!({ "textDocument": document }));
    }

    /// Replaces a range of an open file.
    pub(crate) fn change(&mut self, name: &str, range: Option<Range>, text: &str) {
        let change = match range {
            Some(range) => json!({ "range": range, "text": text }),
            None => json!({ "text": text }),
        };
        self.change_all(name, json!([change]));
    }

    pub(crate) fn change_all(&mut self, name: &str, changes: Value) {
        let version = self.versions.get_mut(name).unwrap();
        *version += 1;
        let document = json!({ "uri": format!("file://{}", self.directory.path().canonicalize().unwrap().join(name).display()), "version": *version });
        self.notify("textDocument/didChange", json!({ "textDocument": document, "contentChanges": changes }));
    }

    pub(crate) fn save(&mut self, name: &str) {
        let uri = self.uri(name);
        self.notify("textDocument/didSave", json!({ "textDocument": { "uri": uri } }));
    }

    /// Waits for the diagnostics of the newest version of a file.
    pub(crate) fn diagnostics(&mut self, name: &str) -> Vec<Diagnostic> {
        let version = self.versions[name];
        self.await_diagnostics(name, |published| published.version == Some(version))
    }

    /// Returns the version of the newest diagnostics of a file.
    pub(crate) fn version(&self, name: &str) -> Option<i32> {
        self.published.get(&self.uri(name)).and_then(|published| published.version)
    }

    /// Waits for diagnostics of a file that have a property.
    pub(crate) fn await_diagnostics(
        &mut self,
        name: &str,
        wanted: impl Fn(&PublishDiagnosticsParams) -> bool,
    ) -> Vec<Diagnostic> {
        let uri = self.uri(name);
        loop {
            if let Some(published) = self.published.get(&uri).filter(|published| wanted(published)) {
                return published.diagnostics.clone();
            }
            self.receive(None);
        }
    }

    /// Waits for a message that the server sends of its own accord.
    pub(crate) fn await_message(&mut self, method: &str) -> Value {
        loop {
            let is_wanted = |message: &Message| match message {
                Message::Notification(it) => it.method == method,
                Message::Request(it) => it.method == method,
                Message::Response(_) => false,
            };
            if let Some(position) = self.received.iter().position(is_wanted) {
                return match self.received.remove(position) {
                    Message::Notification(it) => it.params,
                    Message::Request(it) => it.params,
                    Message::Response(_) => Value::Null,
                };
            }
            self.receive(None);
        }
    }

    /// Sends a request about a position.
    pub(crate) fn at(
        &mut self,
        method: &str,
        name: &str,
        position: Position,
        more: Value,
    ) -> Result<Value, ResponseError> {
        let mut params = json!({ "textDocument": { "uri": self.uri(name) }, "position": position });
        params.as_object_mut().unwrap().extend(more.as_object().cloned().unwrap_or_default());
        self.request(&format!("textDocument/{method}"), params)
    }

    /// Returns the text of a hover.
    pub(crate) fn hover(&mut self, name: &str, position: Position) -> String {
        let hover = self.at("hover", name, position, json!({})).unwrap();
        hover["contents"]["value"].as_str().unwrap_or_default().to_owned()
    }

    /// Returns the file names and the lines, from 1, to which a definition leads.
    pub(crate) fn definition(&mut self, name: &str, position: Position) -> Vec<(String, u64)> {
        let locations = self.at("definition", name, position, json!({})).unwrap();
        places(&locations)
    }

    /// Ends the server. Returns its exit status.
    pub(crate) fn end(mut self) -> u8 {
        self.request("shutdown", Value::Null).unwrap();
        self.notify("exit", Value::Null);
        self.server.take().unwrap().join().unwrap()
    }

    /// Closes the connection. Returns the exit status of the server.
    pub(crate) fn close(mut self) -> u8 {
        drop(self.client.take());
        self.server.take().unwrap().join().unwrap()
    }
}

/// Returns the file names and lines, from 1, of locations.
pub(crate) fn places(locations: &Value) -> Vec<(String, u64)> {
    let place = |location: &Value| {
        let uri = location["uri"].as_str().unwrap();
        (uri.rsplit('/').next().unwrap().to_owned(), location["range"]["start"]["line"].as_u64().unwrap() + 1)
    };
    locations.as_array().map(|all| all.iter().map(place).collect()).unwrap_or_default()
}

/// Returns the position of the first occurrence of a text, plus a number of characters.
pub(crate) fn position(text: &str, part: &str, plus: usize) -> Position {
    let offset = text.find(part).unwrap_or_else(|| panic!("`{part}` does not occur")) + plus;
    let line = text[..offset].matches('\n').count();
    let before = text[..offset].rsplit('\n').next().unwrap();
    let (line, character) = (u32::try_from(line), u32::try_from(before.encode_utf16().count()));
    Position { line: line.unwrap(), character: character.unwrap() }
}

/// Returns the range of the first occurrence of a text.
pub(crate) fn range(text: &str, part: &str) -> Range {
    Range { start: position(text, part, 0), end: position(text, part, part.len()) }
}

/// Returns the line, from 1, of the first occurrence of a text.
pub(crate) fn line(text: &str, part: &str) -> u64 {
    u64::from(position(text, part, 0).line) + 1
}
