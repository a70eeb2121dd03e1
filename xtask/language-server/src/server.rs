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
use lsp_types::Uri;
use serde::Serialize;
use serde_json::Value;

use crate::analysis::{Analyst, Job, Progress};
use crate::answer::{self, Question};
use crate::background::Background;
use crate::capabilities::{self, Client};
use crate::diagnostics::{Board, Check};
use crate::documents::Document;
use crate::progress::WorkDone;
use crate::project::{Implementation, Project};
use crate::releases::Releases;
use crate::text::Text;
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

/// The server.
pub(crate) struct Server {
    pub(crate) out: Sender<Message>,
    pub(crate) events: Sender<Event>,
    is_shutting_down: bool,
    pub(crate) world: World,
    pub(crate) client: Client,
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
    let Ok((id, params)) = connection.initialize_start() else { return 1 };
    // A client with malformed capabilities is served as one without any.
    let client = Client::of(&serde_json::from_value(params).unwrap_or_default());
    let Connection { sender: out, receiver } = connection;
    let (events, results) = unbounded();
    let (jobs, work) = unbounded::<Job>();
    let (questions, asked) = unbounded::<Question>();
    let (reports, analyst) = (events.clone(), Analyst::new(project.clone()));
    thread::spawn(move || analyse(analyst, &work, &reports));
    let (answered, responses) = (events.clone(), out.clone());
    thread::spawn(move || {
        for question in asked {
            let id = question.request.id.clone();
            let response = answer::answer(question);
            // Fails only while the process ends.
            let _ = responses.send(response.into());
            let _ = answered.send(Event::Answered(id));
        }
    });
    let world = World {
        versioned_edits: client.versioned_edits,
        project,
        implementation: None,
        releases: Arc::<Releases>::default(),
        drift: Arc::default(),
        documents: HashMap::new(),
    };
    let mut server = Server {
        out,
        events,
        is_shutting_down: false,
        world,
        client,
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
    server.send(Response::new_ok(id, capabilities::of_server()));
    server.load_project_document();
    server.read_sources();
    server.serve(&receiver, &results);
    u8::from(!server.is_shutting_down)
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
    fn serve(&mut self, messages: &Receiver<Message>, results: &Receiver<Event>) {
        loop {
            // A panic ends only the step.
            let step = select! {
                recv(messages) -> message => match message {
                    Ok(Message::Notification(it)) if it.method == "exit" => return,
                    Ok(message) => catch_unwind(AssertUnwindSafe(|| self.message(message))),
                    Err(_) => return,
                },
                recv(results) -> event => catch_unwind(AssertUnwindSafe(|| {
                    event.into_iter().for_each(|event| self.event(event));
                })),
            };
            drop(step);
        }
    }

    fn message(&mut self, message: Message) {
        match message {
            Message::Request(request) => self.request(request),
            Message::Notification(notification) if !self.is_shutting_down => self.notification(notification),
            // The server uses no result of the client.
            Message::Notification(_) | Message::Response(_) => {}
        }
    }

    fn request(&mut self, request: Request) {
        let id = request.id.clone();
        match request.method.as_str() {
            method if self.is_shutting_down || method == "initialize" => {
                self.refuse(id, ErrorCode::InvalidRequest, "this request is not allowed now");
            }
            "shutdown" => {
                self.is_shutting_down = true;
                self.send(Response::new_ok(id, Value::Null));
            }
            "workspace/executeCommand" => self.execute(request),
            method if !answer::is_known(method) => {
                let reason = format!("the method `{method}` is not supported");
                self.refuse(id, ErrorCode::MethodNotFound, &reason);
            }
            _ => {
                self.open.insert(id, Arc::default());
                self.ask_or_wait(request);
            }
        }
    }

    /// Asks the worker for an answer, or keeps the request until its document was read.
    fn ask_or_wait(&mut self, request: Request) {
        if let Some(key) = self.waits_for(&request) {
            self.waiting.push((key, request));
            return;
        }
        let Some(is_cancelled) = self.open.get(&request.id).cloned() else { return };
        let world = self.world.clone();
        // Fails only while the process ends.
        let _ = self.questions.send(Question { request, world, is_cancelled });
    }

    /// Returns the document that must be read before a request can be answered.
    fn waits_for(&self, request: &Request) -> Option<Uri> {
        let uri = request.params.get("textDocument")?.get("uri")?.as_str()?;
        let key = crate::uris::normal(&uri.parse().ok()?);
        let document = self.world.documents.get(&key)?;
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
                if let Some(document) = self.world.documents.get_mut(key) {
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
        let Some(document) = self.world.documents.get_mut(key) else { return };
        let own = by_file.remove(&document.file()).unwrap_or_default();
        if !keep(document, own) {
            return;
        }
        let is_newest = document.is_checked();
        for (file, findings) in by_file.iter().filter(|_| is_newest) {
            let uri = crate::uris::of_path(Path::new(file));
            let other = uri.and_then(|uri| self.world.documents.get_mut(&uri));
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
            let Some(document) = self.world.documents.get_mut(&key) else { continue };
            let (number, file) = (document.begin_check(), document.file());
            let job = Job { key, file, text: document.text.clone(), number, config };
            // Fails only while the process ends.
            self.is_busy = self.jobs.send(job).is_ok();
        }
    }

    /// Removes a document.
    pub(crate) fn forget(&mut self, key: &Uri) {
        self.world.documents.remove(key);
        self.world.documents.values_mut().for_each(|document| drop(document.configured.remove(key)));
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
