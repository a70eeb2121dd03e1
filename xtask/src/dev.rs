//! `cargo xtask dev`: serves the service while it is written.
//!
//! After each save it builds and restarts the service, and compares the document with the code. A newer save cancels
//! what runs. A service that does not compile, or a document that cannot be read, leaves the old one running.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::thread;
use std::time::Duration;
use std::{env, fs};
use std::{io, iter, process::Stdio};

use jiff::Zoned;
use launcher::process::{cargo, signals};
use launcher::serve::{Development, build_command, command};
use launcher::workspace::{target, workspace};
use notify::{RecursiveMode, Watcher};

use crate::process::Running;
use crate::workspace::{from_here, own_spec};

/// How long to wait for further events after a save, because one save causes several.
const QUIET: Duration = Duration::from_millis(50);
/// How long a program may run after it has closed its output, or the service after SIGTERM. Then it is killed: a browser
/// may keep a connection to the service open for longer.
const END: Duration = Duration::from_secs(2);

/// What the service is built from: directories with their subdirectories, and files.
const DIRECTORIES: [&str; 4] = ["src", "openapi", "xtask/document/src", "xtask/site"];
const FILES: [&str; 2] = ["build.rs", "Cargo.toml"];
/// The extensions of files in these directories. Editors write temporary files with other names.
const EXTENSIONS: [&str; 5] = ["rs", "yaml", "md", "css", "js"];

enum Event {
    /// This file was saved, or one in this directory.
    Saved(PathBuf),
    /// A signal was received.
    Stop,
    /// The program with this number closed its output.
    Ended(u64),
}

/// Runs until Ctrl-C or SIGTERM. Returns the exit status.
///
/// # Errors
/// A message, if files cannot be watched, or a program cannot be run.
pub fn run(bind: &str) -> Result<u8, String> {
    let (sender, events) = mpsc::channel();
    let (stop, mut signals) = (sender.clone(), signals()?);
    // Sending fails only while this process exits.
    thread::spawn(move || signals.forever().try_for_each(|_| stop.send(Event::Stop)));
    let root = workspace();
    let _watcher = watcher(&root, sender.clone())?;
    let mut session = Session { bind, sender, events, service: None, steps: 0 };
    say("dev", "builds and serves the service; Ctrl-C ends");
    while let Some(saved) = session.round()? {
        say("save", &saved.strip_prefix(&root).unwrap_or(&saved).to_string_lossy());
    }
    session.stop_service();
    say("dev", "ended");
    Ok(0)
}

struct Session<'b> {
    bind: &'b str,
    sender: Sender<Event>,
    events: Receiver<Event>,
    service: Option<Running>,
    /// The number of programs that were started.
    steps: u64,
}

/// What ended a step.
enum Outcome {
    Succeeded,
    Failed,
    /// It was cancelled by this event.
    Cancelled(Event),
}

impl Session<'_> {
    /// Builds, serves and checks, and waits for the next save. Returns the saved file, and `None` after a signal.
    fn round(&mut self) -> Result<Option<PathBuf>, String> {
        let mut event = match self.step(&mut build_command(false))? {
            Outcome::Cancelled(event) => Some(event),
            Outcome::Failed if self.service.is_some() => {
                say("build", "failed, see above; the old service keeps running");
                None
            }
            Outcome::Failed => {
                say("build", "failed, see above");
                None
            }
            Outcome::Succeeded => {
                if self.service.is_some() && !is_readable() {
                    // A service with it does not start.
                    say("document", "cannot be read, see below; the old service keeps running");
                } else {
                    self.serve();
                }
                let mut check = cargo(&["run", "--quiet", "--package", "xtask", "--", "check"]);
                match self.step(&mut check)? {
                    Outcome::Cancelled(event) => Some(event),
                    // It printed its result.
                    Outcome::Succeeded | Outcome::Failed => None,
                }
            }
        };
        loop {
            match event.take().or_else(|| self.events.recv().ok()) {
                Some(Event::Saved(file)) => return Ok(self.settled().then_some(file)),
                Some(Event::Ended(_)) => {}
                Some(Event::Stop) | None => return Ok(None),
            }
        }
    }

    /// Waits for the last event of a save. Returns whether there was no signal.
    fn settled(&self) -> bool {
        loop {
            match self.events.recv_timeout(QUIET) {
                Ok(Event::Stop) | Err(RecvTimeoutError::Disconnected) => return false,
                Ok(_) => {}
                Err(RecvTimeoutError::Timeout) => return true,
            }
        }
    }

    /// Runs a program until it ends, or is killed because of another event.
    fn step(&mut self, command: &mut Command) -> Result<Outcome, String> {
        self.steps += 1;
        let step = self.steps;
        let mut running = Running::start(command.stdout(Stdio::piped()))?;
        let (output, ended) = (running.take_output(), self.sender.clone());
        thread::spawn(move || {
            // Fails if the terminal was closed.
            let copied = output.map(|mut output| io::copy(&mut output, &mut io::stdout()));
            drop((copied, ended.send(Event::Ended(step))));
        });
        let event = iter::from_fn(|| self.events.recv().ok());
        // The end of a step that was cancelled arrives during the next one.
        let mut event = event.filter(|event| !matches!(event, Event::Ended(other) if *other != step));
        Ok(match event.next() {
            Some(Event::Ended(_)) if running.end(END).is_some_and(|status| status.success()) => {
                Outcome::Succeeded
            }
            Some(Event::Ended(_)) => Outcome::Failed,
            other => Outcome::Cancelled(other.unwrap_or(Event::Stop)),
        })
    }

    /// Replaces the service by the one that was built. The old one releases its port and its database first.
    fn serve(&mut self) {
        self.stop_service();
        match self.start() {
            Ok(line) => say("service", &line),
            Err(problem) => say("service", &problem),
        }
    }

    fn start(&mut self) -> Result<String, String> {
        let program = target(&env::current_exe().unwrap_or_default())?.join("debug/animal-store");
        let Development { directory, database, key } = Development::of(&program)?;
        let log = directory.join("service.log");
        let (running, url) = Running::serve(&mut command(&program, &[], self.bind, &database), &log)?;
        self.service = Some(running);
        let origin = url.rsplit_once('/').map_or(&*url, |(origin, _)| origin);
        Ok(format!("{origin}/docs, API key {key}, log {}", from_here(log).display()))
    }

    fn stop_service(&mut self) {
        if let Some(mut service) = self.service.take() {
            service.terminate();
            service.end(END);
        }
    }
}

/// Whether the document is YAML or JSON.
fn is_readable() -> bool {
    fs::read_to_string(own_spec()).is_ok_and(|text| document::read(&text).is_ok())
}

/// Sends [`Event::Saved`] until the returned watcher is dropped.
fn watcher(root: &Path, events: Sender<Event>) -> Result<impl Watcher + use<>, String> {
    let files = FILES.map(|file| root.join(file));
    let is_watched = move |path: &PathBuf| {
        let extension = path.extension().and_then(|extension| extension.to_str()).unwrap_or_default();
        files.contains(path) || (EXTENSIONS.contains(&extension) && path.parent() != files[0].parent())
    };
    let everywhere = root.to_owned();
    let mut watcher = notify::recommended_watcher(move |event: notify::Result<notify::Event>| {
        let saved = match event {
            // The compiler reads the files, too.
            Ok(event) if event.kind.is_access() => None,
            Ok(event) => event.paths.into_iter().find(|path| is_watched(path)),
            // Events may have been lost.
            Err(_) => Some(everywhere.clone()),
        };
        // Fails only while this process exits.
        saved.map(|file| events.send(Event::Saved(file)));
    })
    .map_err(|error| format!("files cannot be watched: {error}"))?;
    let directories = DIRECTORIES.iter().map(|directory| (root.join(directory), RecursiveMode::Recursive));
    // An editor replaces a file, so its directory is watched.
    for (directory, mode) in directories.chain([(root.to_owned(), RecursiveMode::NonRecursive)]) {
        if directory.is_dir() {
            let watched = watcher.watch(&directory, mode);
            watched.map_err(|error| format!("{} cannot be watched: {error}", directory.display()))?;
        }
    }
    Ok(watcher)
}

/// Prints a line: the time, what it is about, and the text.
fn say(what: &str, text: &str) {
    anstream::println!("{}  {what:<8} {text}", Zoned::now().strftime("%H:%M:%S"));
}
