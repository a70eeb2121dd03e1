//! `cargo xtask serve`: runs the service with a development database and key.
//!
//! The service is in a process group of its own: Ctrl-C reaches this process only, which passes it on once, so
//! that the service receives one signal instead of two.

use std::env;
use std::fs::{self, OpenOptions};
use std::io::{self, BufRead, BufReader, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread;

use rustix::process::{Pid, Signal, kill_process};
use signal_hook::consts::SIGINT;

use crate::process::{READY, Running, cargo, output, signals, status};
use crate::workspace::{in_file, target};

/// Builds the service and runs it until it ends. Returns its exit status.
///
/// # Errors
/// As [`run_program`], and when the service does not build.
pub fn run(bind: &str, release: bool) -> Result<u8, String> {
    run_program(&build(release)?, bind, &mut io::stdout())
}

/// Runs a service that is built already, with the development store beside it, and prints on `output`
/// what it prints and how to talk to it.
///
/// # Errors
/// A sentence, when there is no store or no key, or the service does not start.
pub fn run_program(program: &Path, bind: &str, output: &mut dyn Write) -> Result<u8, String> {
    let directory = target(program)?.join("dev");
    fs::create_dir_all(&directory).map_err(in_file(&directory))?;
    let file = directory.join("animals.db");
    let database = format!("sqlite:{}", file.display());
    let key = development_key(program, &file, &database)?;
    let mut signals = signals()?;
    let mut child = command(program, bind, &database)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .process_group(0)
        .spawn()
        .map_err(in_file(program))?;
    let pid = Pid::from_child(&child);
    thread::spawn(move || {
        for signal in signals.forever() {
            let signal = if signal == SIGINT { Signal::INT } else { Signal::TERM };
            // It may have ended already.
            let _ = kill_process(pid, signal);
        }
    });
    let ready = announce(&mut child, &key, output);
    let status = child.wait().map_err(|error| format!("the service was lost: {error}"))?;
    if !ready && !status.success() {
        return Err("the service did not start, see above; --bind 127.0.0.1:0 takes a free port".to_owned());
    }
    Ok(status.code().and_then(|code| u8::try_from(code).ok()).unwrap_or(1))
}

/// Builds the service. Returns the path of the program.
pub(crate) fn build(release: bool) -> Result<PathBuf, String> {
    let mut command = cargo(&["build", "--package", "animal-store", "--bin", "animal-store"]);
    if !status(command.args(release.then_some("--release")))?.success() {
        return Err("the service does not build, see above".to_owned());
    }
    // Cargo builds it into the target directory that this program is in.
    let profile = if release { "release" } else { "debug" };
    Ok(target(&env::current_exe().unwrap_or_default())?.join(profile).join("animal-store"))
}

/// The command that serves a database.
fn command(program: &Path, bind: &str, database: &str) -> Command {
    let mut command = Command::new(program);
    command.args(["serve", "--bind", bind, "--database", database]);
    command
}

/// Creates an API key in a database, and the database if there is none.
fn create_key(program: &Path, name: &str, database: &str) -> Result<String, String> {
    let mut create = Command::new(program);
    create.args(["key", "create", name, "--database", database]).stderr(Stdio::inherit());
    let output = output(&mut create)?;
    let key = String::from_utf8_lossy(&output.stdout).trim().to_owned();
    if !output.status.success() || key.is_empty() {
        return Err(format!("no {name} key could be made, see above"));
    }
    Ok(key)
}

/// A running service; ended when dropped.
pub(crate) struct Service {
    pub(crate) running: Running,
    pub(crate) url: String,
    pub(crate) key: String,
}

impl Service {
    /// Creates a database with a key, has `fill` add to it, and starts the service on a free port. Its log goes to
    /// the file `log`.
    pub(crate) fn start(
        program: &Path,
        database: &str,
        log: &Path,
        fill: impl FnOnce() -> Result<(), String>,
    ) -> Result<Self, String> {
        let key = create_key(program, "xtask", database)?;
        fill()?;
        let (running, url) = Running::serve(&mut command(program, "127.0.0.1:0", database), log)?;
        Ok(Self { running, url, key })
    }
}

/// The key in the file `key` beside the development database, if both are there; else a new one.
fn development_key(program: &Path, file: &Path, database: &str) -> Result<String, String> {
    let kept = file.with_file_name("key");
    if file.exists() {
        match fs::read_to_string(&kept) {
            Ok(key) if !key.trim().is_empty() => return Ok(key.trim().to_owned()),
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(in_file(&kept)(error)),
            _ => {}
        }
    }
    let key = create_key(program, "development", database)?;
    let secret = OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).open(&kept);
    secret.and_then(|mut secret| writeln!(secret, "{key}")).map_err(in_file(&kept))?;
    Ok(key)
}

/// Passes on what the service prints, and once it is ready says how to talk to it. Returns whether it was.
fn announce(child: &mut Child, key: &str, output: &mut dyn Write) -> bool {
    let Some(printed) = child.stdout.take() else { return false };
    let mut ready = false;
    for line in BufReader::new(printed).lines().map_while(Result::ok) {
        let text = match line.strip_prefix(READY).filter(|_| !ready) {
            Some(url) => {
                ready = true;
                format!(
                    "The animal store answers at {url}\n\
                     key   {key}\n\
                     try   curl -i -H 'Authorization: Bearer {key}' {url}/pets\n\
                     stop  Ctrl-C"
                )
            }
            None => line,
        };
        // Nobody may be reading any more; the service goes on.
        let _ = writeln!(output, "{text}").and_then(|()| output.flush());
    }
    ready
}
