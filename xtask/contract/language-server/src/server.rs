//! The state of the server and its loop: messages of the client, and results of the threads.

use std::collections::{BTreeMap, HashMap};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex};
use std::thread;

use crossbeam_channel::{Receiver, Sender, bounded, select, unbounded};
use lsp_server::{Connection, ErrorCode, Message, Notification, Request, Response};
use lsp_types::notification::{
    DidChangeTextDocument, DidChangeWatchedFiles, DidCloseTextDocument, DidOpenTextDocument,
    DidSaveTextDocument, Initialized, Notification as Kind, PublishDiagnostics, ShowMessage,
};
use lsp_types::request::{RegisterCapability, Request as _};
use lsp_types::{
    CodeActionKind, Diagnostic, MessageType, PublishDiagnosticsParams, ShowMessageParams,
    TextDocumentSyncKind, Uri,
};
use serde::Serialize;
use serde_json::{Value, json};

use crate::check::{self, Event, Waiting, lock};
use crate::diagnostics::{self, SOURCE};
use crate::documents::{Document, Found, Refusal, World};
use crate::drift::Comparison;
use crate::project::Project;
use crate::{requests, uris};

/// The server.
struct Server {
    out: Sender<Message>,
    events: Sender<Event>,
    waiting: Arc<Mutex<Waiting>>,
    wake: Sender<()>,
    is_shutting_down: bool,
    world: World,
    /// Whether the client can watch files on request.
    watches_files: bool,
    /// The diagnostics that the client has, by the normal form of the URI, in an order that does not depend on chance.
    published: BTreeMap<Uri, Vec<Diagnostic>>,
    /// The comparison of the document with the code that is running.
    drift: Option<Comparison>,
    /// The number of comparisons that were started.
    comparisons: u64,
}

/// Serves a client until it sends `exit` or the input ends. Returns the exit status: 0 after a shutdown, else 1.
pub fn run(connection: Connection, project: Arc<dyn Project>) -> u8 {
    let Ok((id, params)) = connection.initialize_start() else { return 1 };
    let watches_files = "/capabilities/workspace/didChangeWatchedFiles/dynamicRegistration";
    let Connection { sender: out, receiver } = connection;
    let (events, results) = unbounded();
    let (waiting, (wake, wakes)) = (Arc::<Mutex<Waiting>>::default(), bounded(1));
    let of_checks = (project.clone(), waiting.clone(), events.clone());
    thread::spawn(move || check::run(&*of_checks.0, &of_checks.1, &wakes, &of_checks.2));
    let mut server = Server {
        out,
        events,
        waiting,
        wake,
        is_shutting_down: false,
        world: World { project, implementation: None, documents: HashMap::new() },
        watches_files: params.pointer(watches_files) == Some(&json!(true)),
        published: BTreeMap::new(),
        drift: None,
        comparisons: 0,
    };
    server.send(Response::new_ok(id, capabilities()));
    server.serve(&receiver, &results);
    u8::from(!server.is_shutting_down)
}

/// Returns the response to `initialize`.
fn capabilities() -> Value {
    json!({
        "capabilities": {
            "textDocumentSync": { "openClose": true, "change": TextDocumentSyncKind::INCREMENTAL, "save": {} },
            "hoverProvider": true,
            "definitionProvider": true,
            "referencesProvider": true,
            "renameProvider": { "prepareProvider": true },
            "completionProvider": { "triggerCharacters": ["/", "#", "'", "\"", " "] },
            "codeActionProvider": { "codeActionKinds": [CodeActionKind::QUICKFIX] },
        },
        "serverInfo": { "name": SOURCE, "version": env!("CARGO_PKG_VERSION") },
    })
}

impl Server {
    fn serve(&mut self, messages: &Receiver<Message>, results: &Receiver<Event>) {
        loop {
            // A panic ends only the step.
            let done = select! {
                recv(messages) -> message => match message {
                    Ok(Message::Notification(it)) if it.method == "exit" => return,
                    Ok(message) => catch_unwind(AssertUnwindSafe(|| self.message(message))),
                    Err(_) => return,
                },
                recv(results) -> event => catch_unwind(AssertUnwindSafe(|| {
                    event.into_iter().for_each(|event| self.event(event));
                })),
            };
            drop(done);
        }
    }

    fn message(&mut self, message: Message) {
        match message {
            Message::Request(Request { id, method, params }) => {
                let answer = catch_unwind(AssertUnwindSafe(|| self.answer(&method, params)));
                let defect = || format!("`{method}` failed; this is a defect of the server");
                self.send(match answer.unwrap_or_else(|_| Err((ErrorCode::InternalError, defect()))) {
                    Ok(result) => Response::new_ok(id, result),
                    Err((code, reason)) => Response::new_err(id, code as i32, reason),
                });
            }
            Message::Notification(notification) if !self.is_shutting_down => {
                self.notification(notification);
            }
            // The server uses no result of the client.
            Message::Notification(_) | Message::Response(_) => {}
        }
    }

    fn answer(&mut self, method: &str, params: Value) -> Result<Value, Refusal> {
        if self.is_shutting_down || method == "initialize" {
            return Err((ErrorCode::InvalidRequest, "this request is not allowed now".to_owned()));
        }
        if method == "shutdown" {
            self.is_shutting_down = true;
            return Ok(Value::Null);
        }
        requests::answer(&mut self.world, method, params)
    }

    /// Handles a notification. One that is unknown or malformed, or about a file that is not a document, is ignored, as the
    /// protocol requires.
    fn notification(&mut self, Notification { method, params }: Notification) -> Option<()> {
        match method.as_str() {
            Initialized::METHOD => self.watch_files(),
            DidOpenTextDocument::METHOD => {
                let it = read::<DidOpenTextDocument>(params)?.text_document;
                let key = uris::normal(&it.uri);
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
                document.text.apply(params.content_changes);
                document.version = params.text_document.version;
                self.begin_check(&key, &self.world.documents[&key]);
            }
            DidSaveTextDocument::METHOD => {
                self.saved(&uris::normal(&read::<DidSaveTextDocument>(params)?.text_document.uri));
            }
            DidCloseTextDocument::METHOD => {
                let key = uris::normal(&read::<DidCloseTextDocument>(params)?.text_document.uri);
                let Document { uri, .. } = self.world.documents.remove(&key)?;
                self.published.remove(&key);
                let nothing = PublishDiagnosticsParams { uri, diagnostics: Vec::new(), version: None };
                self.notify(PublishDiagnostics::METHOD, nothing);
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

    /// Compares the saved document with the code, if the document is open. Ends a comparison that is still running.
    fn start_drift(&mut self) {
        self.drift = None;
        let Some(path) = self.world.project_view().and_then(|document| document.path.clone()) else { return };
        let Some(command) = self.world.project.drift(&path) else { return };
        let text = std::fs::read_to_string(&path).unwrap_or_default();
        // The columns of a document do not count its byte order mark.
        let text = text.trim_start_matches('\u{feff}').to_owned();
        self.comparisons += 1;
        match Comparison::start(command, self.comparisons, text, self.events.clone()) {
            Ok(running) => self.drift = Some(running),
            Err(error) => {
                let reason = format!("the command cannot be run: {error}");
                self.compared((Found::default(), Some(reason)));
            }
        }
    }

    /// Keeps the findings of a comparison, and shows the reason if there was none.
    fn compared(&mut self, (found, reason): (Found, Option<String>)) {
        const LONGEST: usize = 300;
        if let Some(reason) = reason {
            let reason = &reason[..reason.floor_char_boundary(LONGEST)];
            let message = format!("The document was not compared with the code: {reason}");
            self.notify(ShowMessage::METHOD, ShowMessageParams { typ: MessageType::WARNING, message });
        }
        if let Some(document) = self.world.project_view() {
            document.drift = found;
            self.publish(None);
        }
    }

    fn event(&mut self, event: Event) {
        match event {
            Event::Sources(implementation) => self.world.implementation = implementation,
            Event::Compared { number, stdout, stderr } => {
                let is_this = |running: &mut Comparison| running.number == number;
                let Some(mut running) = self.drift.take_if(is_this) else { return };
                self.compared(running.result(&stdout, &stderr));
            }
            Event::Checked(key, checked) => {
                let Some(document) = self.world.documents.get_mut(&key) else { return };
                document.keep(checked);
                self.publish(Some(&key));
            }
        }
    }

    /// Begins the check of the newest text of a document.
    fn begin_check(&self, key: &Uri, document: &Document) {
        let text = (document.file(), document.text.as_str().to_owned());
        lock(&self.waiting).texts.insert(key.clone(), text);
        // Fails only if the thread was woken already.
        let _ = self.wake.try_send(());
    }

    /// Begins to read the code.
    fn begin_reading(&self) {
        lock(&self.waiting).reads_sources = true;
        let _ = self.wake.try_send(());
    }

    /// Publishes the diagnostics of each file that differ from those of the client, and those of a document that was
    /// checked, so that the client knows the version.
    fn publish(&mut self, checked: Option<&Uri>) {
        let new = diagnostics::by_file(&self.world);
        let old = std::mem::take(&mut self.published);
        let gone = old.keys().filter(|key| !new.contains_key(*key)).map(|key| (key, &[][..]));
        for (key, diagnostics) in new.iter().map(|(key, it)| (key, &**it)).chain(gone) {
            let is_same = old.get(key).map(Vec::as_slice).unwrap_or_default() == diagnostics;
            if is_same && checked != Some(key) {
                continue;
            }
            let document = self.world.documents.get(key);
            let version = document.filter(|it| it.is_checked()).map(|document| document.version);
            let uri = document.map_or(key, |document| &document.uri).clone();
            let diagnostics = diagnostics.to_vec();
            self.notify(PublishDiagnostics::METHOD, PublishDiagnosticsParams { uri, diagnostics, version });
        }
        self.published = new;
    }

    /// Asks the client to report changes of files that it has not opened.
    fn watch_files(&self) {
        if self.watches_files {
            let watchers = ["**/*.rs", "**/contract.toml"].map(|glob| json!({ "globPattern": glob }));
            let method = DidChangeWatchedFiles::METHOD;
            let options = json!({ "watchers": watchers });
            let registration = json!({ "id": method, "method": method, "registerOptions": options });
            let params = json!({ "registrations": [registration] });
            self.send(Request::new("watch".to_owned().into(), RegisterCapability::METHOD.to_owned(), params));
        }
    }

    /// Sends a message. Fails only while the process ends.
    fn send(&self, message: impl Into<Message>) {
        let _ = self.out.send(message.into());
    }

    /// Sends a notification.
    fn notify(&self, method: &str, params: impl Serialize) {
        if let Ok(params) = serde_json::to_value(params) {
            self.send(Notification { method: method.to_owned(), params });
        }
    }
}

fn is_rust(uri: &Uri) -> bool {
    uri.as_str().ends_with(".rs")
}

fn read<N: Kind>(params: serde_json::Value) -> Option<N::Params> {
    serde_json::from_value(params).ok()
}
