//! The state of the server and its loop: messages of the client, and results of the workers.

use std::collections::{BTreeMap, HashMap, VecDeque};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use crossbeam_channel::{Receiver, Sender, select, unbounded};
use document::finding::Finding;
use lsp_server::{Connection, ErrorCode, Message, Notification, Request, RequestId, Response};
use lsp_types::{InitializeParams, Uri};
use serde::Serialize;
use serde_json::Value;

use crate::analysis::{Analyst, Job, Progress};
use crate::answer::{self, Question};
use crate::background::Background;
use crate::capabilities;
use crate::diagnostics::{Board, Check};
use crate::documents::Document;
use crate::progress::WorkDone;
use crate::project::{Implementation, Project};
use crate::releases::Releases;
use crate::text::{Encoding, Text};
use crate::world::World;

/// A result of a worker.
pub(crate) enum Event {
    /// A step of the check of a document.
    Progress(Uri, u64, Progress),
    /// The worker can check another document.
    Idle,
    /// A request was answered.
    Answered(RequestId),
    /// The sources were read.
    Sources(Option<Arc<dyn Implementation>>),
    /// A document was compared with the code. The number identifies the run.
    Drift(u64, Arc<Text>, Result<std::process::Output, String>),
    /// A command that the client executed has ended.
    Executed(RequestId, Result<std::process::Output, String>),
}

/// A comparison of the document with the code that is running. It ends when the value is dropped.
pub(crate) struct Comparison {
    pub(crate) number: u64,
    pub(crate) _command: Background,
    pub(crate) _progress: Option<WorkDone>,
}

/// The stage of the session (LSP 3.17, "Lifecycle Messages").
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    New,
    Running,
    ShuttingDown,
}

/// The server.
pub(crate) struct Server {
    pub(crate) out: Sender<Message>,
    pub(crate) events: Sender<Event>,
    stage: Stage,
    pub(crate) world: World,
    pub(crate) client: capabilities::Client,
    pub(crate) documents: HashMap<Uri, Document>,
    pub(crate) board: Board,
    /// The number of the newest text.
    pub(crate) number: u64,
    jobs: Sender<Job>,
    is_busy: bool,
    /// The documents whose newest text was not checked.
    queue: VecDeque<Uri>,
    questions: Sender<Question>,
    /// Requests that wait until their document was read.
    waiting: Vec<(Uri, Request)>,
    /// The requests that have no response yet.
    open: HashMap<RequestId, Arc<AtomicBool>>,
    pub(crate) drift: Option<Comparison>,
    /// The commands that the client executes.
    pub(crate) executing: HashMap<RequestId, Background>,
    pub(crate) is_reading_sources: bool,
    pub(crate) sources_are_old: bool,
}

/// Serves a client until it sends `exit` or the input ends. Returns the exit status: 0 after a shutdown, else 1.
pub fn run(connection: Connection, project: Arc<dyn Project>) -> u8 {
    let Connection { sender: out, receiver } = connection;
    let (events, results) = unbounded();
    let (jobs, work) = unbounded::<Job>();
    let (questions, asked) = unbounded::<Question>();
    let (reports, analyst) = (events.clone(), Analyst::new(project.clone()));
    thread::spawn(move || analyse(analyst, &work, &reports));
    let (answered, responses) = (events.clone(), out.clone());
    thread::spawn(move || {
        for question in asked {
            let id = question.id();
            let response = answer::answer(question);
            // Fails only while the process ends.
            let _ = responses.send(response.into());
            let _ = answered.send(Event::Answered(id));
        }
    });
    let world = World {
        encoding: Encoding::default(),
        versioned_edits: false,
        project,
        implementation: None,
        releases: Arc::<Releases>::default(),
        drift: Arc::default(),
        documents: HashMap::new(),
    };
    let mut server = Server {
        out,
        events,
        stage: Stage::New,
        world,
        client: capabilities::Client::default(),
        documents: HashMap::new(),
        board: Board::default(),
        number: 0,
        jobs,
        is_busy: false,
        queue: VecDeque::new(),
        questions,
        waiting: Vec::new(),
        open: HashMap::new(),
        drift: None,
        executing: HashMap::new(),
        is_reading_sources: false,
        sources_are_old: false,
    };
    server.serve(&receiver, &results)
}

/// Checks documents until the server ends. A panic ends only the check of one document.
fn analyse(mut analyst: Analyst, work: &Receiver<Job>, events: &Sender<Event>) {
    for job in work {
        let mut report = |progress| {
            // Fails only while the process ends.
            let _ = events.send(Event::Progress(job.key.clone(), job.number, progress));
        };
        if catch_unwind(AssertUnwindSafe(|| analyst.run(&job, &mut report))).is_err() {
            report(Progress::Read(None));
        }
        let _ = events.send(Event::Idle);
    }
}

impl Server {
    fn serve(&mut self, messages: &Receiver<Message>, results: &Receiver<Event>) -> u8 {
        loop {
            let ended = select! {
                recv(messages) -> message => match message {
                    Ok(message) => {
                        let id = match &message {
                            Message::Request(request) => Some(request.id.clone()),
                            _ => None,
                        };
                        self.guarded(id, |server| server.message(message))
                    }
                    Err(_) => Some(1),
                },
                recv(results) -> event => {
                    self.guarded(None, |server| {
                        event.into_iter().for_each(|event| server.event(event));
                        None
                    })
                }
            };
            if let Some(status) = ended {
                return if self.stage == Stage::ShuttingDown { 0 } else { status };
            }
        }
    }

    /// Runs a step. A panic ends only the step; if it handled a request, that request gets an error response.
    fn guarded(
        &mut self,
        request: Option<RequestId>,
        step: impl FnOnce(&mut Self) -> Option<u8>,
    ) -> Option<u8> {
        let result = catch_unwind(AssertUnwindSafe(|| step(self)));
        if let (Err(_), Some(id)) = (&result, request) {
            self.open.remove(&id);
            self.refuse(id, ErrorCode::InternalError, "this is a defect of the server");
        }
        result.unwrap_or_default()
    }

    /// Returns the exit status if the server must end.
    fn message(&mut self, message: Message) -> Option<u8> {
        match message {
            Message::Request(request) => self.request(request),
            Message::Notification(notification) if notification.method == "exit" => return Some(1),
            Message::Notification(notification) => {
                if self.stage == Stage::Running {
                    self.notification(notification);
                }
            }
            // The server uses no result of the client.
            Message::Response(_) => {}
        }
        None
    }

    fn request(&mut self, request: Request) {
        let (id, method) = (request.id.clone(), request.method.clone());
        match (method.as_str(), self.stage) {
            ("initialize", Stage::New) => match serde_json::from_value(request.params) {
                Ok(params) => self.initialize(id, &params),
                Err(error) => self.refuse(id, ErrorCode::InvalidParams, &error.to_string()),
            },
            (_, Stage::New) => {
                self.refuse(id, ErrorCode::ServerNotInitialized, "send `initialize` first");
            }
            ("shutdown", Stage::Running) => {
                self.stage = Stage::ShuttingDown;
                self.send(Response::new_ok(id, Value::Null));
            }
            ("initialize", _) | (_, Stage::ShuttingDown) => {
                self.refuse(id, ErrorCode::InvalidRequest, "this request is not allowed now");
            }
            ("workspace/executeCommand", _) => self.execute(request),
            (method, _) if !answer::is_known(method) => {
                self.refuse(
                    id,
                    ErrorCode::MethodNotFound,
                    &format!("the method `{method}` is not supported"),
                );
            }
            _ => {
                self.open.insert(id, Arc::default());
                self.ask_or_wait(request);
            }
        }
    }

    fn initialize(&mut self, id: RequestId, params: &InitializeParams) {
        self.client = capabilities::Client::of(params);
        self.world.encoding = self.client.encoding;
        self.world.versioned_edits = self.client.versioned_edits;
        self.stage = Stage::Running;
        self.send(Response::new_ok(id, capabilities::of_server(self.world.encoding)));
        self.load_project_document();
        self.read_sources();
    }

    /// Asks the worker for an answer, or keeps the request until its document was read.
    fn ask_or_wait(&mut self, request: Request) {
        if let Some(key) = self.waits_for(&request) {
            self.waiting.push((key, request));
            return;
        }
        let Some(is_cancelled) = self.open.get(&request.id).cloned() else { return };
        let world = self.snapshot();
        // Fails only while the process ends.
        let _ = self.questions.send(Question { request, world, is_cancelled });
    }

    /// Returns everything that can be asked, as it is now.
    pub(crate) fn snapshot(&self) -> World {
        let documents = self.documents.iter().map(|(key, document)| (key.clone(), document.view()));
        World { documents: documents.collect(), ..self.world.clone() }
    }

    /// Returns the document that must be read before a request can be answered.
    fn waits_for(&self, request: &Request) -> Option<Uri> {
        let uri = request.params.get("textDocument")?.get("uri")?.as_str()?;
        let key = crate::uris::normal(&uri.parse().ok()?);
        let document = self.documents.get(&key)?;
        let is_ready =
            if answer::needs_newest(&request.method) { document.is_read() } else { document.can_answer() };
        let will_be_read = document.is_checking() || self.queue.contains(&key);
        (!is_ready && will_be_read).then_some(key)
    }

    /// Ends a request without an answer.
    pub(crate) fn cancel(&mut self, id: &RequestId) {
        let Some(is_cancelled) = self.open.get(id) else { return };
        is_cancelled.store(true, Ordering::Relaxed);
        let waiting = self.waiting.len();
        self.waiting.retain(|(_, request)| request.id != *id);
        if self.waiting.len() < waiting {
            self.open.remove(id);
            self.refuse(id.clone(), ErrorCode::RequestCanceled, "the request was cancelled");
        }
    }

    fn event(&mut self, event: Event) {
        match event {
            Event::Progress(key, number, progress) => self.progress(&key, number, progress),
            Event::Idle => {
                self.is_busy = false;
                self.check_next();
            }
            Event::Answered(id) => drop(self.open.remove(&id)),
            Event::Sources(implementation) => self.sources_read(implementation),
            Event::Drift(number, text, output) => self.compared(number, &text, output),
            Event::Executed(id, output) => self.executed(id, output),
        }
    }

    fn progress(&mut self, key: &Uri, number: u64, progress: Progress) {
        match progress {
            Progress::Released(releases) => self.world.releases = releases,
            Progress::Read(tree) => {
                if let Some(document) = self.documents.get_mut(key) {
                    document.set_tree(number, tree);
                }
                let (ready, waiting) =
                    std::mem::take(&mut self.waiting).into_iter().partition(|(it, _)| it == key);
                self.waiting = waiting;
                let ready: Vec<(Uri, Request)> = ready;
                ready.into_iter().for_each(|(_, request)| self.ask_or_wait(request));
            }
            Progress::Checked(by_file) => self.checked(key, by_file, |it, own| it.set_findings(number, own)),
            Progress::NotChecked(by_file) => {
                self.checked(key, by_file, |it, own| it.set_problems(number, own))
            }
        }
    }

    /// Keeps the findings of a check, those of the document by `keep`, and publishes them.
    fn checked(
        &mut self,
        key: &Uri,
        mut by_file: BTreeMap<String, Vec<Finding>>,
        keep: impl FnOnce(&mut Document, Vec<Finding>) -> bool,
    ) {
        let Some(document) = self.documents.get_mut(key) else { return };
        let own = by_file.remove(&document.file()).unwrap_or_default();
        if !keep(document, own) {
            return;
        }
        let is_newest = document.is_checked();
        for (file, findings) in by_file.iter().filter(|_| is_newest) {
            let uri = crate::uris::of_path(Path::new(file));
            let other = uri.and_then(|uri| self.documents.get_mut(&uri));
            other.into_iter().for_each(|other| other.set_configured(key, findings.clone()));
        }
        self.publish_checked(key, by_file);
    }

    /// Checks the newest text of a document as soon as the worker is idle.
    pub(crate) fn check(&mut self, key: &Uri) {
        if !self.queue.contains(key) {
            self.queue.push_back(key.clone());
        }
        self.check_next();
    }

    fn check_next(&mut self) {
        while !self.is_busy {
            let Some(key) = self.queue.pop_front() else { return };
            let config = self.open_config(&key);
            let Some(document) = self.documents.get_mut(&key) else { continue };
            let job = document.job(key, config);
            // Fails only while the process ends.
            self.is_busy = self.jobs.send(job).is_ok();
        }
    }

    /// Removes a document.
    pub(crate) fn forget(&mut self, key: &Uri) {
        self.documents.remove(key);
        self.documents.values_mut().for_each(|document| document.forget_configured(key));
        self.queue.retain(|queued| queued != key);
        let changed = self.board.set(&Check::Document(key.as_str().to_owned()), HashMap::new());
        self.publish(changed);
        let waiting = std::mem::take(&mut self.waiting);
        waiting.into_iter().for_each(|(_, request)| self.ask_or_wait(request));
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

    /// Sends an error response.
    pub(crate) fn refuse(&self, id: RequestId, code: ErrorCode, reason: &str) {
        self.send(Response::new_err(id, code as i32, reason.to_owned()));
    }
}
