//! `cargo xtask dev`: serves the service while it is written.
//!
//! After each save it builds the service, compares the document with the code, and restarts the service. A service that
//! does not compile, or a document that cannot be read, leaves the old one running.

use std::env;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::mpsc::{self, Sender};
use std::time::Duration;

use jiff::Zoned;
use notify::{RecursiveMode, Watcher};
use xtask::process::cargo;
use xtask::serve::{Development, build_command, command};
use xtask::workspace::{target, workspace};

use crate::process::{Running, end_all_on_signals};
use crate::workspace::from_here;

/// How long to wait for further events after a save, because one save causes several.
const QUIET: Duration = Duration::from_millis(50);
/// How long a build or a comparison may take.
const LIMIT: Duration = Duration::from_secs(3600);
/// How long the service may run after SIGTERM. Then it is killed: a browser may keep a connection open for longer.
const END: Duration = Duration::from_secs(2);

/// What the service is built from: directories with their subdirectories. The files of the root are watched, too.
const DIRECTORIES: [&str; 5] =
    ["src", "openapi", "xtask/contract/changes/src", "xtask/contract/document/src", "xtask/site"];
/// The extensions of files in these directories. Editors write temporary files with other names.
const EXTENSIONS: [&str; 10] = ["rs", "toml", "sql", "yaml", "md", "css", "js", "py", "ts", "go"];
/// The exit status of `check` for a document that cannot be read.
const UNREADABLE: i32 = 2;

/// Runs until a signal ends this process and all that it started.
///
/// # Errors
/// A message, if files cannot be watched, or a program cannot be run.
pub fn run(bind: &str) -> Result<u8, String> {
    end_all_on_signals()?;
    let root = workspace();
    let (sender, saves) = mpsc::channel();
    let _watcher = watcher(&root, sender)?;
    say("dev", "builds and serves the service; Ctrl-C ends");
    let mut service = None;
    loop {
        let check = || {
            let mut check = cargo(&["run", "--package", "xtask", "--", "check"]);
            status(check.env("CARGO_TERM_QUIET", "true"))
        };
        if status(&mut build_command(false))? != Some(0) {
            say("build", "failed, see above");
        } else if check()? == Some(UNREADABLE) {
            say("document", "cannot be read, see above");
        } else {
            stop(service.take());
            match start(bind) {
                Ok((running, line)) => {
                    service = Some(running);
                    say("service", &line);
                }
                Err(problem) => say("service", &problem),
            }
        }
        let Ok(saved) = saves.recv() else { return Ok(0) };
        while saves.recv_timeout(QUIET).is_ok() {}
        say("save", &saved.strip_prefix(&root).unwrap_or(&saved).to_string_lossy());
    }
}

/// Runs a program. Returns its exit status.
fn status(command: &mut Command) -> Result<Option<i32>, String> {
    Ok(Running::start(command)?.end(LIMIT).and_then(|status| status.code()))
}

/// Starts the service that was built. Returns what to say about it, too.
fn start(bind: &str) -> Result<(Running, String), String> {
    let program = target(&env::current_exe().unwrap_or_default())?.join("debug/animal-store");
    let Development { directory, database, key } = Development::of(&program)?;
    let log = directory.join("service.log");
    let (running, url) = Running::serve(&mut command(&program, &[], bind, &database), &log)?;
    let origin = url.rsplit_once('/').map_or(&*url, |(origin, _)| origin);
    Ok((running, format!("{origin}/docs, API key {key}, log {}", from_here(log).display())))
}

/// Stops the old service, which releases its port and its database.
fn stop(service: Option<Running>) {
    if let Some(mut service) = service {
        service.terminate();
        service.end(END);
    }
}

/// Sends the paths of saved files until the returned watcher is dropped.
fn watcher(root: &Path, saves: Sender<PathBuf>) -> Result<impl Watcher + use<>, String> {
    let is_watched = |path: &PathBuf| {
        path.extension().and_then(|it| it.to_str()).is_some_and(|extension| EXTENSIONS.contains(&extension))
    };
    let everywhere = root.to_owned();
    let mut watcher = notify::recommended_watcher(move |event: notify::Result<notify::Event>| {
        let saved = match event {
            // The compiler reads the files, too.
            Ok(event) if event.kind.is_access() => None,
            Ok(event) => event.paths.into_iter().find(is_watched),
            // Events may have been lost.
            Err(_) => Some(everywhere.clone()),
        };
        // Fails only while this process exits.
        saved.map(|file| saves.send(file));
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
