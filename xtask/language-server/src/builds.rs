//! What needs the code of the project: its sources, the comparison of the document with the built service, and the
//! command that adds an operation.

use std::collections::HashMap;
use std::path::Path;
use std::process::Output;
use std::sync::Arc;
use std::thread;

use document::Span;
use lsp_server::{ErrorCode, Request, RequestId, Response};
use lsp_types::notification::{Notification as _, ShowMessage};
use lsp_types::{DiagnosticRelatedInformation, ExecuteCommandParams, MessageType, ShowMessageParams, Uri};
use serde_json::Value;

use crate::actions::SCAFFOLD;
use crate::background::Background;
use crate::diagnostics::{Check, diagnostic, related};
use crate::drift;
use crate::edits::Edits;
use crate::progress::WorkDone;
use crate::project::Implementation;
use crate::server::{Comparison, Event, Server};
use crate::text::Text;
use crate::uris;
use crate::world::World;

impl Server {
    /// Reads the sources in the background. A second call during that reads them once more.
    pub(crate) fn read_sources(&mut self) {
        if self.is_reading_sources {
            self.sources_are_old = true;
            return;
        }
        self.is_reading_sources = true;
        let (project, events) = (self.world.project.clone(), self.events.clone());
        thread::spawn(move || {
            let read = std::panic::AssertUnwindSafe(|| project.implementation());
            let implementation = std::panic::catch_unwind(read).unwrap_or_default();
            // Fails only while the process ends.
            let _ = events.send(Event::Sources(implementation));
        });
    }

    pub(crate) fn sources_read(&mut self, implementation: Option<Arc<dyn Implementation>>) {
        self.is_reading_sources = false;
        self.world.implementation = implementation;
        if std::mem::take(&mut self.sources_are_old) {
            self.read_sources();
        }
    }

    /// Compares the saved document with the code. Ends a comparison that is still running.
    pub(crate) fn start_drift(&mut self) {
        self.drift = None;
        let Some(path) = self.world.project.document() else { return };
        let Some(command) = self.world.project.drift(&path) else { return };
        let text = Arc::new(Text::new(std::fs::read_to_string(&path).unwrap_or_default()));
        let (number, events) = (self.next_number(), self.events.clone());
        let done = move |output| {
            // Fails only while the process ends.
            let _ = events.send(Event::Drift(number, text, output));
        };
        let title = "Comparing the document with the code";
        let shown = self.client.shows_progress;
        let progress = shown.then(|| WorkDone::begin(self.out.clone(), number, title));
        let command = Background::start(command, done);
        self.drift = Some(Comparison { number, _command: command, _progress: progress });
    }

    pub(crate) fn compared(&mut self, number: u64, text: &Text, output: Result<Output, String>) {
        if self.drift.as_ref().is_none_or(|running| running.number != number) {
            return;
        }
        self.drift = None;
        // The findings of the last comparison may be wrong after a failed build.
        let findings = drift::findings(output, text, &self.world).unwrap_or_else(|failure| {
            self.show(MessageType::WARNING, failure);
            Vec::new()
        });
        self.world.drift = Arc::new(findings);
        let changed = self.show_drift();
        self.publish(changed);
    }

    /// Moves the places of the last comparison from the text of a file at one save to that at the next.
    pub(crate) fn move_drift(&mut self, path: Option<&Path>, edits: &Edits) {
        let World { project, drift, .. } = &mut self.world;
        let (Some(path), false) = (path, edits.is_empty() || drift.is_empty()) else { return };
        let (root, is_document) = (project.root(), project.document().as_deref() == Some(path));
        let moved = |span: &mut Span| {
            (span.start, span.end) = (edits.forward(span.start), edits.forward(span.end));
        };
        for finding in Arc::make_mut(drift) {
            if is_document {
                moved(&mut finding.span);
            }
            let source = finding.source.as_mut().filter(|source| root.join(&source.file) == path);
            source.into_iter().for_each(|source| moved(&mut source.span));
        }
    }

    /// Updates the diagnostics of the last comparison: in the document and in the sources. Returns the changed files.
    pub(crate) fn show_drift(&mut self) -> Vec<Uri> {
        let world = &self.world;
        let key = world.project.document().and_then(|path| uris::of_path(&path));
        let Some((key, view)) = key.and_then(|key| world.documents.get_key_value(&key)) else {
            return Vec::new();
        };
        let mut by_file: HashMap<Uri, Vec<_>> = HashMap::new();
        for finding in &*world.drift {
            let bytes =
                view.since_save.forward(finding.span.start)..view.since_save.forward(finding.span.end);
            let range = view.text.range(bytes);
            let shown = diagnostic(finding, range, related(world, finding));
            by_file.entry(key.clone()).or_default().push(shown);
            let Some(source) = finding.source.as_ref().and_then(|source| world.location(source)) else {
                continue;
            };
            let here = lsp_types::Location { uri: view.uri.clone(), range };
            let back =
                vec![DiagnosticRelatedInformation { location: here, message: "the document".to_owned() }];
            let shown = diagnostic(finding, source.range, back);
            by_file.entry(uris::normal(&source.uri)).or_default().push(shown);
        }
        self.board.set(&Check::Drift, by_file)
    }

    /// Runs a command of a code action in the background.
    pub(crate) fn execute(&mut self, request: Request) {
        let id = request.id;
        let params: ExecuteCommandParams = match serde_json::from_value(request.params) {
            Ok(params) => params,
            Err(error) => return self.refuse(id, ErrorCode::InvalidParams, &error.to_string()),
        };
        let operation = params.arguments.first().and_then(Value::as_str);
        let (Some(operation), SCAFFOLD) = (operation, params.command.as_str()) else {
            let reason = format!("expected the command `{SCAFFOLD}` with an operationId");
            return self.refuse(id, ErrorCode::InvalidParams, &reason);
        };
        let project = &self.world.project;
        let command = project.document().and_then(|path| project.scaffold(&path, operation));
        let Some(command) = command else {
            return self.refuse(
                id,
                ErrorCode::InvalidParams,
                "this project has no code to add the operation to",
            );
        };
        let (events, done_id) = (self.events.clone(), id.clone());
        let done = move |output| {
            // Fails only while the process ends.
            let _ = events.send(Event::Executed(done_id, output));
        };
        let running = Background::start(command, done);
        self.executing.insert(id, running);
    }

    pub(crate) fn executed(&mut self, id: RequestId, output: Result<Output, String>) {
        self.executing.remove(&id);
        let (kind, message) = match &output {
            Ok(output) if output.status.success() => {
                (MessageType::INFO, String::from_utf8_lossy(&output.stdout).into_owned())
            }
            Ok(output) => {
                let [out, err] = [&output.stdout, &output.stderr].map(|bytes| String::from_utf8_lossy(bytes));
                (MessageType::ERROR, format!("{out}{err}"))
            }
            Err(problem) => (MessageType::ERROR, problem.clone()),
        };
        self.show(kind, message.trim().to_owned());
        self.send(Response::new_ok(id, Value::Null));
        self.read_sources();
        self.start_drift();
    }

    fn show(&self, typ: MessageType, message: String) {
        self.notify(ShowMessage::METHOD, ShowMessageParams { typ, message });
    }
}
