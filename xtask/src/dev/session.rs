//! The state of `cargo xtask dev`, and what each event leads to.
//!
//! One step runs at a time. A save cancels it; what its save concerned is then done together with the new one.

use std::collections::VecDeque;
use std::fmt;
use std::io::Write;
use std::path::PathBuf;
use std::process::Command;
use std::sync::mpsc::Sender;
use std::time::Instant;

use document::Document;
use launcher::process::seconds;

use super::edited::{Route, edited, routes};
use super::event::{Event, Job, JobId};
use super::printed::{Printed, Verdict};
use super::saves::Snapshot;
use super::scope::Scope;
use super::service::Service;
use crate::workspace::SPEC;

/// The number of lines of the last failing output in the summary.
const DETAILS: usize = 40;

/// A program that runs after a save.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Step {
    Build,
    Check,
    Tests,
}

impl fmt::Display for Step {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.pad(match self {
            Self::Build => "build",
            Self::Check => "check",
            Self::Tests => "tests",
        })
    }
}

/// What the session needs from outside.
pub(super) struct Means {
    pub(super) root: PathBuf,
    /// The address that the service listens on.
    pub(super) bind: String,
    /// Returns the command of a step; the arguments select tests.
    pub(super) command: fn(Step, &[String]) -> Command,
    /// Returns the time of day.
    pub(super) clock: fn() -> String,
    pub(super) output: Box<dyn Write>,
    pub(super) events: Sender<Event>,
}

/// The step that runs.
struct Work {
    step: Step,
    job: Job,
    printed: Printed,
    begin: Instant,
}

pub(super) struct Session {
    means: Means,
    snapshot: Snapshot,
    /// The last document that could be read.
    document: Option<Document>,
    /// Whether the document can be read now.
    is_readable: bool,
    routes: Vec<Route>,
    /// What was saved since all steps ran to their end.
    pending: Scope,
    steps: VecDeque<Step>,
    work: Option<Work>,
    service: Option<Service>,
    jobs: JobId,
    /// The last result of each step, and its time.
    results: Vec<(Step, String)>,
    /// The name and output of what failed last: a step, or the service.
    failed: Option<(String, String)>,
}

impl Session {
    /// Begins with a build and a check.
    pub(super) fn start(means: Means) -> Self {
        let snapshot = Snapshot::of(&means.root);
        let document = Document::load(&means.root.join(SPEC)).ok();
        let routes = document.as_ref().map(routes).unwrap_or_default();
        let mut session = Self {
            means,
            snapshot,
            is_readable: document.is_some(),
            document,
            routes,
            pending: Scope { code: true, ..Scope::default() },
            steps: VecDeque::new(),
            work: None,
            service: None,
            jobs: 0,
            results: Vec::new(),
            failed: None,
        };
        session.say("dev", "builds the service; Enter prints a summary, q or Ctrl-C ends");
        session.plan();
        session
    }

    /// Handles an event. Returns whether to wait for further ones.
    pub(super) fn handle(&mut self, event: Event) -> bool {
        match event {
            Event::Saved => self.saved(),
            Event::Summary => self.summarise(),
            Event::Line { job, is_error, text } => self.add_line(job, is_error, text),
            Event::Ended { job } => self.ended(job),
            Event::Stop => return false,
        }
        true
    }

    /// Stops all programs.
    pub(super) fn stop(mut self) {
        // Killed, because its result is of no use.
        self.work = None;
        if let Some(service) = self.service.take() {
            service.stop();
        }
        self.say("dev", "ended");
    }

    fn saved(&mut self) {
        let snapshot = Snapshot::of(&self.means.root);
        let changed = snapshot.changed_since(&self.snapshot);
        if changed.is_empty() {
            return;
        }
        self.snapshot = snapshot;
        let mut difference = None;
        if changed.iter().any(|file| file == SPEC) {
            let document = Document::load(&self.means.root.join(SPEC)).ok();
            self.is_readable = document.is_some();
            if let Some(document) = document {
                difference = self.document.as_ref().map(|before| edited(before, &document));
                self.routes = routes(&document);
                self.document = Some(document);
            }
        }
        self.pending.merge(Scope::of(&changed, &self.routes, difference));
        let cancelled = self.work.take().map(|work| format!("; {} cancelled", work.step)).unwrap_or_default();
        let tests = match self.pending.tests.is_empty() {
            true => "no tests".to_owned(),
            false => format!("tests of {}", self.pending.tests.describe()),
        };
        let more = match changed.len() {
            1 => String::new(),
            files => format!(" and {} more", files - 1),
        };
        self.say("save", &format!("{}{more}: {tests}{cancelled}", changed[0]));
        self.plan();
    }

    /// Chooses the steps, and starts the first.
    fn plan(&mut self) {
        let mut steps = match &self.pending {
            // The check explains it in one line; the build would repeat that.
            _ if !self.is_readable => vec![Step::Check],
            // The check does not need the service, so its result is there first.
            scope if scope.document && !scope.code => vec![Step::Check, Step::Build],
            scope if scope.code => vec![Step::Build, Step::Check],
            _ => Vec::new(),
        };
        if self.is_readable && !self.pending.tests.is_empty() {
            steps.push(Step::Tests);
        }
        self.steps = steps.into();
        self.next();
    }

    /// Starts the next step, if there is one.
    fn next(&mut self) {
        let Some(step) = self.steps.pop_front() else { return };
        let arguments = self.pending.tests.arguments(&self.routes);
        let mut command = (self.means.command)(step, &arguments);
        self.jobs += 1;
        match Job::start(self.jobs, &mut command, &self.means.events) {
            Ok(job) => {
                self.work = Some(Work { step, job, printed: Printed::default(), begin: Instant::now() });
            }
            Err(problem) => {
                self.say(&step.to_string(), &problem);
                self.steps.clear();
            }
        }
    }

    fn add_line(&mut self, job: JobId, is_error: bool, text: String) {
        if let Some(service) = self.service.as_mut().filter(|service| service.is(job)) {
            if let Some(ready) = service.add(text) {
                self.say("service", &ready);
                drop(self.failed.take_if(|(failed, _)| failed == "service"));
            }
            return;
        }
        // Lines of a step that was cancelled are ignored.
        if let Some(work) = self.work.as_mut().filter(|work| work.job.id == job) {
            match is_error {
                true => work.printed.add_problem(text),
                false => work.printed.add(text),
            }
        }
    }

    fn ended(&mut self, job: JobId) {
        if let Some(service) = self.service.take_if(|service| service.is(job)) {
            let last = service.log().last().map(|line| format!(": {line}")).unwrap_or_default();
            self.say("service", &format!("ended by itself{last}"));
            self.failed = Some(("service".to_owned(), service.log().join("\n")));
        }
        if let Some(work) = self.work.take_if(|work| work.job.id == job) {
            self.finished(work);
        }
    }

    fn finished(&mut self, work: Work) {
        let Work { step, job, printed, begin } = work;
        let succeeded = job.succeeded();
        let mut verdict = match step {
            Step::Build => printed.of_build(succeeded),
            Step::Check => printed.of_check(),
            Step::Tests => printed.of_tests(succeeded),
        };
        if step == Step::Build {
            match verdict.passed {
                true => self.restart(&printed),
                false => {
                    if let (Some(service), Some(line)) = (&self.service, verdict.lines.first_mut()) {
                        *line += &format!("; the service of {} keeps running", service.since());
                    }
                    // Check and tests would fail for the same reason.
                    self.steps.clear();
                }
            }
        }
        let is_last = self.steps.is_empty() && self.is_readable && (verdict.passed || step != Step::Build);
        self.report(step, verdict, &seconds(begin.elapsed()));
        if is_last {
            self.pending = Scope::default();
        }
        self.next();
    }

    /// Replaces the service by the one that was built. The old one releases its port and its database first.
    fn restart(&mut self, printed: &Printed) {
        let Some(program) = printed.executable("animal-store") else {
            self.say("service", "cargo did not name its executable");
            return;
        };
        if let Some(service) = self.service.take() {
            service.stop();
        }
        self.jobs += 1;
        let since = (self.means.clock)();
        match Service::start(self.jobs, (program, &self.means.bind), since, &self.means.events) {
            Ok(service) => self.service = Some(service),
            Err(problem) => self.say("service", &problem),
        }
    }

    fn report(&mut self, step: Step, verdict: Verdict, took: &str) {
        let Verdict { passed, lines, details } = verdict;
        let name = step.to_string();
        let mut lines = lines.into_iter();
        let first = lines.next().unwrap_or_default();
        self.say(&name, &format!("{first} ({took})"));
        lines.for_each(|line| self.say(&name, &line));
        self.results.retain(|(known, _)| *known != step);
        self.results.push((step, format!("{first} ({})", (self.means.clock)())));
        match passed {
            false => self.failed = Some((name, details)),
            // What failed before is repaired.
            true => drop(self.failed.take_if(|(failed, _)| *failed == name)),
        }
    }

    fn summarise(&mut self) {
        let service = self.service.as_ref().map_or_else(|| "not running".to_owned(), Service::state);
        self.say("service", &service);
        for step in [Step::Build, Step::Check, Step::Tests] {
            let is_running = self.work.as_ref().is_some_and(|work| work.step == step);
            let result = self.results.iter().find(|(known, _)| *known == step);
            let result = match (is_running, result) {
                (true, _) => "running",
                (false, Some((_, result))) => result,
                (false, None) => "not run yet",
            };
            let result = result.to_owned();
            self.say(&step.to_string(), &result);
        }
        let Some((name, details)) = &self.failed else { return };
        let lines: Vec<&str> = details.lines().collect();
        let shown = &lines[..lines.len().min(DETAILS)];
        let mut text = format!("──── last failing output: {name}\n");
        shown.iter().for_each(|line| text += &format!("{line}\n"));
        if lines.len() > shown.len() {
            text += &format!("… and {} more lines\n", lines.len() - shown.len());
        }
        self.print(&text);
    }

    /// Prints a line: the time, what it is about, and the text.
    fn say(&mut self, what: &str, text: &str) {
        let line = line(&(self.means.clock)(), what, text);
        self.print(&line);
    }

    fn print(&mut self, text: &str) {
        // The terminal may be closed; a signal ends the command then.
        let _ = self.means.output.write_all(text.as_bytes()).and_then(|()| self.means.output.flush());
    }
}

/// Formats a line. Control characters, such as those of colours, become spaces.
fn line(time: &str, what: &str, text: &str) -> String {
    let text: String = text.chars().map(|it| if it.is_control() { ' ' } else { it }).collect();
    format!("{time}  {what:<8} {}\n", text.trim_end())
}

#[cfg(test)]
mod tests {
    use super::line;

    #[test]
    fn an_event_is_one_line() {
        assert_eq!(
            line("12:03:41", "check", "1 error: a.yaml:120 It differs."),
            "12:03:41  check    1 error: a.yaml:120 It differs.\n"
        );
        assert_eq!(line("12:03:41", "service", "two\nlines\u{1b}[0m "), "12:03:41  service  two lines [0m\n");
    }
}
