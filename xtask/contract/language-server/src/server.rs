//! The state of the server and its loop: messages of the client, and results of the threads.

use std::collections::{BTreeMap, HashMap};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex};
use std::thread;

use crossbeam_channel::{Receiver, Sender, bounded, select, unbounded};
use lsp_server::{Connection, ErrorCode, Message, Notification, Request, Response};
use lsp_types::notification::{DidChangeWatchedFiles, Notification as _, PublishDiagnostics};
use lsp_types::request::{RegisterCapability, Request as _};
use lsp_types::{CodeActionKind, Diagnostic, PublishDiagnosticsParams, TextDocumentSyncKind, Uri};
use serde::Serialize;
use serde_json::{Value, json};

use crate::background::Background;
use crate::check::{self, Event, Waiting, lock};
use crate::diagnostics::{self, SOURCE};
use crate::documents::Document;
use crate::progress::WorkDone;
use crate::project::Project;
use crate::requests;
use crate::world::{Refusal, World};

/// A comparison of the document with the code that is running. It ends when the value is dropped.
pub(crate) struct Comparison {
    pub(crate) number: u64,
    /// The saved text.
    pub(crate) text: String,
    pub(crate) _command: Background,
    pub(crate) _progress: Option<WorkDone>,
}

/// The server.
pub(crate) struct Server {
    pub(crate) out: Sender<Message>,
    pub(crate) events: Sender<Event>,
    waiting: Arc<Mutex<Waiting>>,
    wake: Sender<()>,
    is_shutting_down: bool,
    pub(crate) world: World,
    /// Whether the client can watch files on request.
    watches_files: bool,
    /// Whether the client shows the progress of work that takes long.
    pub(crate) shows_progress: bool,
    /// The diagnostics that the client has, by the normal form of the URI, in an order that does not depend on chance.
    published: BTreeMap<Uri, Vec<Diagnostic>>,
    /// The URIs of documents as the client writes them, by their normal form.
    pub(crate) names: HashMap<Uri, Uri>,
    pub(crate) drift: Option<Comparison>,
    /// The number of comparisons that were started.
    pub(crate) comparisons: u64,
}

/// Serves a client until it sends `exit` or the input ends. Returns the exit status: 0 after a shutdown, else 1.
pub fn run(connection: Connection, project: Arc<dyn Project>) -> u8 {
    let Ok((id, params)) = connection.initialize_start() else { return 1 };
    let can = |capability: &str| params.pointer(&format!("/capabilities/{capability}")) == Some(&json!(true));
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
        watches_files: can("workspace/didChangeWatchedFiles/dynamicRegistration"),
        shows_progress: can("window/workDoneProgress"),
        published: BTreeMap::new(),
        names: HashMap::new(),
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

    fn event(&mut self, event: Event) {
        match event {
            Event::Sources(implementation) => self.world.implementation = implementation,
            Event::Compared { number, stdout, stderr } => self.compared(number, &stdout, &stderr),
            Event::Checked(key, checked) => {
                let Some(document) = self.world.documents.get_mut(&key) else { return };
                document.keep(checked);
                self.publish(Some(&key));
            }
        }
    }

    /// Begins the check of the newest text of a document.
    pub(crate) fn begin_check(&self, key: &Uri, document: &Document) {
        let text = (document.file(), document.text.as_str().to_owned());
        lock(&self.waiting).texts.insert(key.clone(), text);
        // Fails only if the thread was woken already.
        let _ = self.wake.try_send(());
    }

    /// Begins to read the code.
    pub(crate) fn begin_reading(&self) {
        lock(&self.waiting).reads_sources = true;
        let _ = self.wake.try_send(());
    }

    /// Publishes the diagnostics of each file that differ from those of the client, and those of a document that was
    /// checked, so that the client knows the version.
    pub(crate) fn publish(&mut self, checked: Option<&Uri>) {
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
            let uri = self.names.get(key).unwrap_or(key).clone();
            let diagnostics = diagnostics.to_vec();
            self.notify(PublishDiagnostics::METHOD, PublishDiagnosticsParams { uri, diagnostics, version });
        }
        self.published = new;
    }

    /// Asks the client to report changes of files that it has not opened.
    pub(crate) fn watch_files(&self) {
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
    pub(crate) fn send(&self, message: impl Into<Message>) {
        let _ = self.out.send(message.into());
    }

    /// Sends a notification.
    pub(crate) fn notify(&self, method: &str, params: impl Serialize) {
        if let Ok(params) = serde_json::to_value(params) {
            self.send(Notification { method: method.to_owned(), params });
        }
    }
}
