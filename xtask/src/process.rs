//! Runs other programs. Those that may hang are bounded in time, print into files, and are ended with this
//! program.
//!
//! Each of these is the leader of a process group, because a browser or a package manager starts programs of
//! its own, which are ended with it.

use std::env;
use std::fs::{self, File};
use std::io::{self, BufRead, BufReader};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{self, Child, Command, ExitStatus, Output, Stdio};
use std::sync::{Mutex, MutexGuard, PoisonError, mpsc};
use std::thread;
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process, kill_process_group};
use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::iterator::Signals;
use wait_timeout::ChildExt;

use crate::workspace::{in_file, workspace};

/// What a server prints before its URL, once it accepts requests.
pub(crate) const READY: &str = "ready: ";
const READY_LIMIT: Duration = Duration::from_secs(120);

/// The groups that run.
static GROUPS: Mutex<Vec<Pid>> = Mutex::new(Vec::new());

fn groups() -> MutexGuard<'static, Vec<Pid>> {
    GROUPS.lock().unwrap_or_else(PoisonError::into_inner)
}

/// From now on, SIGINT and SIGTERM no longer end this program, but come out of the value returned.
pub(crate) fn signals() -> Result<Signals, String> {
    Signals::new([SIGINT, SIGTERM]).map_err(|error| format!("no signals: {error}"))
}

/// From now on, SIGINT and SIGTERM end the groups that run, and then this program.
pub(crate) fn end_all_on_signals() -> Result<(), String> {
    let mut signals = signals()?;
    thread::spawn(move || {
        if let Some(signal) = signals.forever().next() {
            for group in groups().iter() {
                // It may have ended by itself.
                let _ = kill_process_group(*group, Signal::KILL);
            }
            process::exit(128 + signal);
        }
    });
    Ok(())
}

/// A running program, ended with its group when dropped.
pub(crate) struct Running {
    child: Child,
    ended: bool,
}

impl Running {
    /// Starts a program.
    pub(crate) fn start(command: &mut Command) -> Result<Self, String> {
        let spawned = command.stdin(Stdio::null()).process_group(0).spawn();
        let running = Self { child: spawned.map_err(cannot_be_run(command))?, ended: false };
        groups().push(running.group());
        Ok(running)
    }

    /// Starts a server, whose standard error goes to the file `log`, and waits for its line `ready: URL`.
    /// Returns the URL too.
    pub(crate) fn serve(command: &mut Command, log: &Path) -> Result<(Self, String), String> {
        let mut running = Self::start(command.stdout(Stdio::piped()).stderr(create(log)?))?;
        let (sender, lines) = mpsc::channel();
        let output = running.child.stdout.take();
        thread::spawn(move || {
            // Reads all lines, so that the server never waits for a reader. Only the first is used.
            for line in output.into_iter().flat_map(|it| BufReader::new(it).lines().map_while(Result::ok)) {
                let _ = sender.send(line);
            }
        });
        let line = lines.recv_timeout(READY_LIMIT).unwrap_or_default();
        match line.strip_prefix(READY) {
            Some(url) => Ok((running, url.to_owned())),
            None => Err(format!("the server did not start, see {}", log.display())),
        }
    }

    fn group(&self) -> Pid {
        Pid::from_child(&self.child)
    }

    /// The process identifier.
    pub(crate) fn id(&self) -> u32 {
        self.child.id()
    }

    /// Sends SIGTERM.
    pub(crate) fn terminate(&self) {
        if !self.ended {
            let _ = kill_process(self.group(), Signal::TERM);
        }
    }

    /// Waits for the end of the program; `None` when it still runs after `limit`.
    pub(crate) fn end(&mut self, limit: Duration) -> Option<ExitStatus> {
        let status = self.child.wait_timeout(limit).ok()?;
        self.ended = status.is_some();
        status
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let group = self.group();
        // The number of a process that was waited for may belong to another one by now.
        if !self.ended {
            let _ = kill_process_group(group, Signal::KILL);
            let _ = self.child.wait();
        }
        groups().retain(|other| *other != group);
    }
}

/// Runs a program to its end and returns what it printed on standard output. The files `name.out` and `name.err`
/// in `logs` keep what it printed.
pub(crate) fn run(name: &str, command: &mut Command, logs: &Path, limit: Duration) -> Result<String, String> {
    let files = [logs.join(format!("{name}.out")), logs.join(format!("{name}.err"))];
    let [out, err] = &files;
    command.stdout(create(out)?).stderr(create(err)?);
    let status = Running::start(command)?.end(limit);
    let read = |file: &Path| fs::read(file).map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
    let why = match status {
        Some(status) if status.success() => {
            return read(out).map_err(in_file(out));
        }
        Some(status) => status.to_string(),
        None => format!("it did not end within {} s", limit.as_secs()),
    };
    let printed = files.iter().map(|file| read(file).unwrap_or_default()).collect::<String>();
    Err(format!("{}\n{why}; its whole output: {}, {}", printed.trim_end(), out.display(), err.display()))
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
