//! The directory of a run, and its processes.
//!
//! Every process works in a directory of its own below the one of the run, by which it is found, so that no other process
//! is ever signalled. The servers of PostgreSQL leave their process group, and a process that was replaced is not a child
//! any more.
//!
//! A guard process reads from a pipe of this process. When this process ends in any way, the guard kills what is left and
//! removes the directory. If this process runs as root, all others run as the user that the tests of PostgreSQL use.

use std::fs::{self, File};
use std::os::unix::fs::{PermissionsExt, chown};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{ChildStdin, Command, Stdio};
use std::time::Duration;
use std::{env, thread};

use rustix::process::{Pid, Signal, geteuid, kill_process};
use xtask::process::cannot_be_run;
use xtask::workspace::in_file;

use kit::postgres::unprivileged;
use project::workspace::copy_for_all;

/// Reads to the end of the pipe, then kills all processes of the run. A process may start another one meanwhile.
const GUARD: &str = r#"
cat
for round in 1 2 3; do
    for process in /proc/[0-9]*; do
        case $(readlink "$process/cwd") in "$1" | "$1"/*) kill -s KILL "${process#/proc/}" ;; esac
    done
done
rm -rf "$1""#;

/// How long killed processes may take to end before they are looked for again.
const PAUSE: Duration = Duration::from_millis(20);
/// For [`Home::signal`]: however far below a directory.
pub(super) const ALL: usize = usize::MAX;

/// The directory of a run. Its processes end with this value.
pub(super) struct Home {
    pub(super) path: PathBuf,
    /// The user and the group of all processes, if this one runs as root.
    owner: Option<(u32, u32)>,
    /// The guard acts when this pipe is closed.
    _guard: ChildStdin,
}

impl Home {
    /// Creates the directory and starts the guard.
    pub(super) fn new() -> Result<Self, String> {
        let directory = tempfile::Builder::new().prefix("animals-").tempdir();
        let path = directory.map_err(|error| format!("no temporary directory: {error}"))?.keep();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).map_err(in_file(&path))?;
        let mut guard = Command::new("sh");
        guard.args(["-c", GUARD, "guard"]).arg(&path).current_dir("/");
        // Keeps Ctrl-C from reaching the guard.
        guard.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null()).process_group(0);
        let pipe = guard.spawn().map_err(cannot_be_run(&guard))?.stdin.take();
        let owner = geteuid().is_root().then(unprivileged);
        Ok(Self { path, owner, _guard: pipe.ok_or("the guard has no pipe")? })
    }

    /// Creates a directory for a process.
    pub(super) fn create(&self, directory: &str) -> Result<PathBuf, String> {
        let path = self.path.join(directory);
        fs::create_dir_all(&path).map_err(in_file(&path))?;
        if let Some((user, group)) = self.owner {
            chown(&path, Some(user), Some(group)).map_err(in_file(&path))?;
        }
        Ok(path)
    }

    /// Copies a file or a directory, which the owner perhaps cannot read.
    pub(super) fn copy(&self, from: &Path, name: &str) -> Result<PathBuf, String> {
        let to = self.path.join(name);
        copy_for_all(from, &to).map(|()| to)
    }

    /// Returns a command that runs a program as the owner.
    pub(super) fn command(&self, program: &Path) -> Command {
        let mut command = Command::new(program);
        // Settings of PostgreSQL or of the service in the environment must not count.
        command.env_clear().envs(env::var_os("PATH").map(|path| ("PATH", path)));
        command.current_dir("/").stdin(Stdio::null()).process_group(0);
        if let Some((user, group)) = self.owner {
            command.uid(user).gid(group);
        }
        command
    }

    /// Starts a program in a directory of its own, with its output in the file `log` there.
    pub(super) fn start(&self, directory: &str, command: &mut Command) -> Result<(), String> {
        let directory = self.create(directory)?;
        let log = directory.join("log");
        let output = File::options().create(true).append(true).open(&log).map_err(in_file(&log))?;
        let errors = output.try_clone().map_err(in_file(&log))?;
        command.current_dir(&directory).stdout(output).stderr(errors);
        let mut child = command.spawn().map_err(cannot_be_run(command))?;
        // Reaps the process when it ends.
        thread::spawn(move || child.wait());
        Ok(())
    }

    /// Sends a signal to the processes that work in a directory, or at most `depth` directories below it.
    pub(super) fn signal(&self, directory: &str, depth: usize, signal: Signal) {
        // The second time for what the first ones started meanwhile.
        for _ in 0..2 {
            let processes = self.processes(directory).into_iter();
            for (_, process) in processes.filter(|(below, _)| *below <= depth) {
                // The process may have ended.
                let _ = Pid::from_raw(process).map(|process| kill_process(process, signal));
            }
        }
    }

    /// Returns the processes that work in a directory or below it, each after the number of directories between.
    fn processes(&self, directory: &str) -> Vec<(usize, i32)> {
        let path = self.path.join(directory);
        let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
        let found = entries.filter_map(|entry| {
            let place = fs::read_link(entry.path().join("cwd")).ok()?;
            let below = place.strip_prefix(&path).ok()?.components().count();
            Some((below, entry.file_name().to_str()?.parse().ok()?))
        });
        found.collect()
    }

    /// Kills the processes of a directory and removes it.
    pub(super) fn remove(&self, directory: &str) -> Result<(), String> {
        while !self.processes(directory).is_empty() {
            self.signal(directory, ALL, Signal::KILL);
            thread::sleep(PAUSE);
        }
        let path = self.path.join(directory);
        fs::remove_dir_all(&path).map_err(in_file(&path))
    }
}
