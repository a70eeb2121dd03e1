//! Other programs. Those that may hang are bounded in time, print into files, and are ended with this program.
//!
//! Each of these is the leader of a process group, because a browser or a package manager starts programs of
//! its own, which are to end with it.

use std::env;
use std::fs::{self, File};
use std::io::{self, BufRead, BufReader};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{self, ChildStdout, Command, ExitStatus, Output, Stdio};
use std::sync::mpsc::{self, Receiver};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process, kill_process_group};
use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::iterator::Signals;

use crate::workspace::{in_file, workspace};

/// What a server prints before its URL, once it accepts requests.
pub(crate) const READY: &str = "ready: ";
const READY_LIMIT: Duration = Duration::from_secs(120);

/// The groups that run.
static GROUPS: Mutex<Vec<Pid>> = Mutex::new(Vec::new());

fn groups() -> MutexGuard<'static, Vec<Pid>> {
    GROUPS.lock().unwrap_or_else(PoisonError::into_inner)
}

/// From now on, SIGINT and SIGTERM end what runs, and then us.
pub(crate) fn end_all_on_signals() -> Result<(), String> {
    let mut signals = Signals::new([SIGINT, SIGTERM]).map_err(|error| format!("no signals: {error}"))?;
    thread::spawn(move || {
        if let Some(signal) = signals.forever().next() {
            for group in groups().iter() {
                // It may have ended by itself, which is as good.
                let _ = kill_process_group(*group, Signal::KILL);
            }
            process::exit(128 + signal);
        }
    });
    Ok(())
}

/// A program that runs, and is ended when this is dropped.
pub(crate) struct Running {
    leader: Pid,
    stdout: Option<ChildStdout>,
    ended: Receiver<io::Result<ExitStatus>>,
    over: bool,
}

impl Running {
    /// Starts it.
    pub(crate) fn start(command: &mut Command) -> Result<Self, String> {
        let spawned = command.stdin(Stdio::null()).process_group(0).spawn();
        let mut child = spawned.map_err(cannot_be_run(command))?;
        let leader = Pid::from_child(&child);
        groups().push(leader);
        let stdout = child.stdout.take();
        let (end, ended) = mpsc::channel();
        // Nobody may want to know any more.
        thread::spawn(move || end.send(child.wait()));
        Ok(Self { leader, stdout, ended, over: false })
    }

    /// Starts a server, whose standard error goes to the file `log`, and waits for its line `ready: URL`.
    /// Returns the URL too.
    pub(crate) fn serve(command: &mut Command, log: &Path) -> Result<(Self, String), String> {
        let mut running = Self::start(command.stdout(Stdio::piped()).stderr(create(log)?))?;
        let (say, said) = mpsc::channel();
        let output = running.stdout.take();
        thread::spawn(move || {
            // All lines are read, so that the server never waits for a reader; only the first is wanted.
            for line in
                output.into_iter().flat_map(|output| BufReader::new(output).lines().map_while(Result::ok))
            {
                let _ = say.send(line);
            }
        });
        let line = said.recv_timeout(READY_LIMIT).unwrap_or_default();
        match line.strip_prefix(READY) {
            Some(url) => Ok((running, url.to_owned())),
            None => Err(format!("the server did not start, see {}", log.display())),
        }
    }

    /// Its process's number.
    pub(crate) fn id(&self) -> u32 {
        self.leader.as_raw_nonzero().get().unsigned_abs()
    }

    /// Asks it to stop.
    pub(crate) fn terminate(&self) {
        if !self.over {
            let _ = kill_process(self.leader, Signal::TERM);
        }
    }

    /// Waits for its end; `None` when it did not come in time.
    pub(crate) fn end(&mut self, limit: Duration) -> Option<ExitStatus> {
        let status = self.ended.recv_timeout(limit).ok()?.ok()?;
        self.over = true;
        groups().retain(|group| *group != self.leader);
        Some(status)
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        if !self.over {
            let _ = kill_process_group(self.leader, Signal::KILL);
            let _ = self.ended.recv();
            groups().retain(|group| *group != self.leader);
        }
    }
}

/// Runs a program to its end and returns what it printed. `name` names the files in `logs` that it prints
/// into.
pub(crate) fn run(name: &str, command: &mut Command, logs: &Path, limit: Duration) -> Result<String, String> {
    let files = [logs.join(format!("{name}.out")), logs.join(format!("{name}.err"))];
    let [out, err] = &files;
    command.stdout(create(out)?).stderr(create(err)?);
    let mut running = Running::start(command)?;
    let status = running.end(limit);
    drop(running);
    let read = |file: &Path| fs::read(file).map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
    let why = match status {
        Some(status) if status.success() => {
            return read(out).map_err(in_file(out));
        }
        Some(status) => status.to_string(),
        None => format!("it did not end within {} s", limit.as_secs()),
    };
    let said = files.iter().map(|file| read(file).unwrap_or_default()).collect::<String>();
    Err(format!("{}\n{why}; all that it said: {}, {}", said.trim_end(), out.display(), err.display()))
}

/// A new, empty file.
fn create(file: &Path) -> Result<File, String> {
    File::create(file).map_err(in_file(file))
}

/// The cargo that runs this program, in the root of the repository.
pub(crate) fn cargo(arguments: &[&str]) -> Command {
    let mut command = Command::new(env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    command.args(arguments).current_dir(workspace());
    command
}

/// Runs a program with the streams of this one.
pub(crate) fn status(command: &mut Command) -> Result<ExitStatus, String> {
    command.status().map_err(cannot_be_run(command))
}

/// Runs a program and takes what it prints.
pub(crate) fn output(command: &mut Command) -> Result<Output, String> {
    command.output().map_err(cannot_be_run(command))
}

fn cannot_be_run(command: &Command) -> impl Fn(io::Error) -> String {
    let program = command.get_program().to_string_lossy().into_owned();
    move |error| format!("{program} cannot be run: {error}")
}

/// A duration as people read it.
pub(crate) fn seconds(duration: Duration) -> String {
    format!("{:.1} s", duration.as_secs_f64())
}
