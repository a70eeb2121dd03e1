//! `cargo xtask serve`: the service for somebody who wants to try something out.
//!
//! The service is a process of its own, in a process group of its own: Ctrl-C reaches this one only, which
//! passes it on once, so that the service sees one request to stop and not two.

use std::fs::{self, OpenOptions};
use std::io::{self, BufRead, BufReader, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitCode, Stdio};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;
use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::iterator::Signals;

use crate::ci::cargo;
use crate::workspace::workspace;

/// What the service prints once it accepts requests.
pub(crate) const READY: &str = "ready: ";

/// Builds and runs the service until it ends.
pub fn run(bind: &str, release: bool) -> ExitCode {
    match serve(bind, release) {
        Ok(code) => code,
        Err(problem) => {
            eprintln!("serve: {problem}");
            ExitCode::FAILURE
        }
    }
}

fn serve(bind: &str, release: bool) -> Result<ExitCode, String> {
    run_program(&build(release)?, bind, &mut io::stdout())
}

/// Runs a service that is built already, with the development store beside it, and prints on `output`
/// what it prints and how to talk to it.
///
/// # Errors
/// A sentence, when there is no store or no key, or the service does not start.
pub fn run_program(program: &Path, bind: &str, output: &mut dyn Write) -> Result<ExitCode, String> {
    let store = DevelopmentStore::beside(program)?;
    let key = store.key(program)?;
    let mut signals = Signals::new([SIGINT, SIGTERM]).map_err(|error| format!("no signals: {error}"))?;
    let mut child = Command::new(program)
        .args(["serve", "--bind", bind, "--database", &store.url()])
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .process_group(0)
        .spawn()
        .map_err(|error| format!("{} cannot be run: {error}", program.display()))?;
    let pid = Pid::from_child(&child);
    std::thread::spawn(move || {
        for signal in signals.forever() {
            let signal = if signal == SIGINT { Signal::INT } else { Signal::TERM };
            // It may be gone already, which is what was wanted.
            let _ = kill_process(pid, signal);
        }
    });
    let ready = announce(&mut child, &key, output);
    let status = child.wait().map_err(|error| format!("the service was lost: {error}"))?;
    if !ready && !status.success() {
        return Err("the service did not start, see above; --bind 127.0.0.1:0 takes a free port".to_owned());
    }
    Ok(status.code().and_then(|code| u8::try_from(code).ok()).map_or(ExitCode::FAILURE, ExitCode::from))
}

/// Builds the service and says where it is.
pub(crate) fn build(release: bool) -> Result<PathBuf, String> {
    let mut command = Command::new(cargo());
    command.args(["build", "--package", "animal-store", "--bin", "animal-store"]);
    command.arg("--message-format=json-render-diagnostics").args(release.then_some("--release"));
    command.current_dir(workspace()).stderr(Stdio::inherit());
    let output = command.output().map_err(|error| format!("cargo cannot be run: {error}"))?;
    if !output.status.success() {
        return Err("the service does not build, see above".to_owned());
    }
    let messages = output.stdout.split(|byte| *byte == b'\n');
    let messages = messages.filter_map(|line| serde_json::from_slice::<Value>(line).ok());
    let mut programs = messages.filter(|message| message["target"]["name"] == "animal-store");
    let program = programs.find_map(|message| Some(PathBuf::from(message["executable"].as_str()?)));
    program.ok_or("cargo does not say where it built the service".to_owned())
}

/// The database and the key of a developer.
struct DevelopmentStore {
    directory: PathBuf,
}

impl DevelopmentStore {
    /// In `dev` of the target directory that the program was built into.
    fn beside(program: &Path) -> Result<Self, String> {
        let target = program.parent().and_then(Path::parent);
        let directory =
            target.map(|target| target.join("dev")).ok_or("the service has no target directory")?;
        fs::create_dir_all(&directory).map_err(|error| format!("{}: {error}", directory.display()))?;
        Ok(Self { directory })
    }

    fn database(&self) -> PathBuf {
        self.directory.join("animals.db")
    }

    fn url(&self) -> String {
        format!("sqlite:{}", self.database().display())
    }

    /// The key of the last time, if its database is still there; else a new one.
    fn key(&self, program: &Path) -> Result<String, String> {
        let file = self.directory.join("key");
        let wrong = |error: io::Error| format!("{}: {error}", file.display());
        if self.database().exists() {
            match fs::read_to_string(&file) {
                Ok(key) if !key.trim().is_empty() => return Ok(key.trim().to_owned()),
                Ok(_) => {}
                Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                Err(error) => return Err(wrong(error)),
            }
        }
        let output = Command::new(program)
            .args(["key", "create", "development", "--database", &self.url()])
            .stderr(Stdio::inherit())
            .output()
            .map_err(|error| format!("{} cannot be run: {error}", program.display()))?;
        let key = String::from_utf8_lossy(&output.stdout).trim().to_owned();
        if !output.status.success() || key.is_empty() {
            return Err("no development key could be made, see above".to_owned());
        }
        let mut open = OpenOptions::new();
        let mut secret =
            open.write(true).create(true).truncate(true).mode(0o600).open(&file).map_err(wrong)?;
        writeln!(secret, "{key}").map_err(wrong)?;
        Ok(key)
    }
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
