//! Runs other programs. Long-running ones have a time limit, write their output to files, and are killed when this
//! process ends.
//!
//! Each of these leads its own process group, because browsers and package managers start further processes, which must
//! be killed too.

use std::fs::{self, File};
use std::io::{BufRead, BufReader};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{self, Child, Command, ExitStatus, Stdio};
use std::sync::{Mutex, MutexGuard, PoisonError, mpsc};
use std::thread;
use std::time::Duration;

use rustix::process::{Pid, Signal, WaitOptions, kill_process, kill_process_group, waitpid};
use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::iterator::Signals;
use wait_timeout::ChildExt;
use xtask::process::cannot_be_run;
use xtask::workspace::in_file;

/// The prefix of the line with the URL that a server prints when it is ready.
const READY: &str = "ready: ";
const READY_LIMIT: Duration = Duration::from_secs(120);

/// The running process groups.
static GROUPS: Mutex<Vec<Pid>> = Mutex::new(Vec::new());

fn groups() -> MutexGuard<'static, Vec<Pid>> {
    GROUPS.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Makes SIGINT and SIGTERM kill the running process groups and then this process.
pub fn end_all_on_signals() -> Result<(), String> {
    let signals = Signals::new([SIGINT, SIGTERM]);
    let mut signals = signals.map_err(|error| format!("cannot register signal handlers: {error}"))?;
    thread::spawn(move || {
        if let Some(signal) = signals.forever().next() {
            for group in groups().iter() {
                // Both fail if the group has ended.
                let _ = kill_process_group(*group, Signal::KILL);
                let _ = waitpid(Some(*group), WaitOptions::empty());
            }
            process::exit(128 + signal);
        }
    });
    Ok(())
}

/// A running program. Its process group is killed when the value is dropped.
pub struct Running {
    child: Child,
    ended: bool,
}

impl Running {
    /// Starts a program.
    pub fn start(command: &mut Command) -> Result<Self, String> {
        let spawned = command.stdin(Stdio::null()).process_group(0).spawn();
        let running = Self { child: spawned.map_err(cannot_be_run(command))?, ended: false };
        groups().push(running.group());
        Ok(running)
    }

    /// Starts a server and waits for its line `ready: URL`. Returns the URL too. Its standard error goes to the file `log`.
    pub fn serve(command: &mut Command, log: &Path) -> Result<(Self, String), String> {
        let mut running = Self::start(command.stdout(Stdio::piped()).stderr(create(log)?))?;
        let (sender, lines) = mpsc::channel();
        let output = running.child.stdout.take();
        thread::spawn(move || {
            // Reads all lines, so that the server is not blocked by a full pipe. Only the first line is used.
            for line in output.into_iter().flat_map(|it| BufReader::new(it).lines().map_while(Result::ok)) {
                let _ = sender.send(line);
            }
        });
        let line = lines.recv_timeout(READY_LIMIT).unwrap_or_default();
        match line.strip_prefix(READY) {
            Some(url) => Ok((running, url.to_owned())),
            None => Err(format!("the server did not start; see its log: {}", log.display())),
        }
    }

    fn group(&self) -> Pid {
        Pid::from_child(&self.child)
    }

    /// The process identifier.
    pub fn id(&self) -> u32 {
        self.child.id()
    }

    /// Sends SIGTERM.
    pub fn terminate(&self) {
        if !self.ended {
            let _ = kill_process(self.group(), Signal::TERM);
        }
    }

    /// Waits until the program exits. Returns `None` if it still runs after `limit`.
    pub fn end(&mut self, limit: Duration) -> Option<ExitStatus> {
        let status = self.child.wait_timeout(limit).ok()?;
        self.ended = status.is_some();
        status
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let group = self.group();
        // After `wait`, the system may reuse the process identifier.
        if !self.ended {
            let _ = kill_process_group(group, Signal::KILL);
            let _ = self.child.wait();
        }
        groups().retain(|other| *other != group);
    }
}

/// Runs a program until it exits. Returns its standard output. Its output is kept in the files `name.out` and `name.err`
/// in `logs`.
pub fn run(name: &str, command: &mut Command, logs: &Path, limit: Duration) -> Result<String, String> {
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
        None => format!("it did not exit within {} s", limit.as_secs()),
    };
    let printed = files.iter().map(|file| read(file).unwrap_or_default()).collect::<String>();
    Err(format!("{}\n{why}; complete output: {}, {}", printed.trim_end(), out.display(), err.display()))
}

/// Creates an empty file.
fn create(file: &Path) -> Result<File, String> {
    File::create(file).map_err(in_file(file))
}
