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
use std::thread;

use launcher::process::{output, status};
use launcher::workspace::in_file;
use rustix::process::geteuid;

use crate::bench::seed::cluster::unprivileged;

/// Sends the signal `$1` to the processes whose working directory matches a pattern of find(1) in the other arguments.
const SIGNAL: &str = r#"
signal=$1; shift
for pattern; do find /proc -maxdepth 2 -path '/proc/[0-9]*/cwd' -lname "$pattern" 2>/dev/null; done |
    cut -d/ -f3 | xargs -r kill -s "$signal" 2>/dev/null
true"#;

/// Reads to the end of the pipe, then kills all processes of the run. A process may start another one meanwhile.
const GUARD: &str = r#"
cat
for round in 1 2 3; do sh -c "$2" signal KILL "$1" "$1/*"; done
rm -rf "$1""#;

/// The directory of a run. Its processes end with this value.
pub(super) struct Home {
    pub(super) path: PathBuf,
    owner: Option<(u32, u32)>,
    /// The guard acts when this pipe is closed.
    _guard: ChildStdin,
}

impl Home {
    /// Creates the directory and starts the guard.
    pub(super) fn new() -> Result<Self, String> {
        let directory = tempfile::Builder::new().prefix("animals-").tempdir();
        let path = directory.map_err(|error| format!("no temporary directory: {error}"))?.keep();
        let owner = geteuid().is_root().then(unprivileged);
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).map_err(in_file(&path))?;
        give(&path, owner)?;
        let mut guard = Command::new("sh");
        guard.args(["-c", GUARD, "guard"]).arg(&path).arg(SIGNAL).current_dir("/");
        // Keeps Ctrl-C from reaching the guard.
        guard.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null()).process_group(0);
        as_owner(&mut guard, owner);
        let mut guard = guard.spawn().map_err(|error| format!("cannot start the guard: {error}"))?;
        let pipe = guard.stdin.take().ok_or("the guard has no pipe")?;
        Ok(Self { path, owner, _guard: pipe })
    }

    /// Whether [`Home::start_privileged`] may mount file systems.
    pub(super) fn can_mount(&self) -> bool {
        let mut mount = Command::new("unshare");
        mount.args(["--mount", "mount", "-t", "tmpfs", "tmpfs", "/mnt"]).stderr(Stdio::null());
        self.owner.is_some() && status(&mut mount).is_ok_and(|status| status.success())
    }

    /// Creates a directory for a process.
    pub(super) fn create(&self, directory: &str) -> Result<PathBuf, String> {
        let path = self.path.join(directory);
        fs::create_dir_all(&path).map_err(in_file(&path))?;
        give(&path, self.owner)?;
        Ok(path)
    }

    /// Copies a file or a directory, so that the owner can use the copy and the guard can remove it.
    pub(super) fn copy(&self, from: &Path, name: &str) -> Result<PathBuf, String> {
        let to = self.path.join(name);
        let mut commands = vec![Command::new("cp"), Command::new("chmod")];
        commands[0].args(["--recursive", "--dereference"]).arg(from).arg(&to);
        commands[1].args(["--recursive", "a+rX"]).arg(&to);
        if let Some((user, group)) = self.owner {
            let mut give = Command::new("chown");
            give.args(["--recursive", &format!("{user}:{group}")]).arg(&to);
            commands.push(give);
        }
        for command in &mut commands {
            if !status(command)?.success() {
                return Err(format!("cannot copy {} to {}", from.display(), to.display()));
            }
        }
        Ok(to)
    }

    /// Starts a program in a directory of its own, with its output in the file `log` there.
    pub(super) fn start(&self, directory: &str, command: &mut Command) -> Result<(), String> {
        let owner = self.owner;
        self.start_as(owner, directory, command)
    }

    /// Starts a program with the privileges of this process, which must give them up itself: with `setpriv` to the user
    /// and group that are passed to `command`. Returns an error if this process has no privileges.
    pub(super) fn start_privileged(
        &self,
        directory: &str,
        command: impl FnOnce(u32, u32) -> Command,
    ) -> Result<(), String> {
        let (user, group) = self.owner.ok_or("mounting a file system needs root")?;
        self.start_as(None, directory, &mut command(user, group))
    }

    fn start_as(
        &self,
        owner: Option<(u32, u32)>,
        directory: &str,
        command: &mut Command,
    ) -> Result<(), String> {
        let directory = self.path.join(directory);
        let log = directory.join("log");
        let output = File::options().create(true).append(true).open(&log).map_err(in_file(&log))?;
        let errors = output.try_clone().map_err(in_file(&log))?;
        command.current_dir(&directory).stdin(Stdio::null()).stdout(output).stderr(errors).process_group(0);
        // Settings of PostgreSQL or of the service in the environment must not count.
        let kept: Vec<_> =
            command.get_envs().map(|(name, value)| (name.to_owned(), value.map(Into::into))).collect();
        command.env_clear().env("PATH", std::env::var_os("PATH").unwrap_or_default());
        for (name, value) in kept {
            let value: Option<std::ffi::OsString> = value;
            command.env(name, value.unwrap_or_default());
        }
        as_owner(command, owner);
        let program = command.get_program().to_string_lossy().into_owned();
        let mut child = command.spawn().map_err(|error| format!("cannot run {program}: {error}"))?;
        // Reaps the process when it ends.
        thread::spawn(move || child.wait());
        Ok(())
    }

    /// Runs a program as the owner until it exits. Returns its standard output.
    pub(super) fn run(&self, command: &mut Command) -> Result<String, String> {
        as_owner(command.current_dir("/").stdin(Stdio::null()), self.owner);
        let done = output(command)?;
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).trim().to_owned();
        if done.status.success() { Ok(text(&done.stdout)) } else { Err(text(&done.stderr)) }
    }

    /// Sends a signal to the processes that work in `directory` itself.
    pub(super) fn signal(&self, directory: &str, signal: &str) -> Result<(), String> {
        self.send(signal, &[self.path.join(directory).display().to_string()])
    }

    /// Sends a signal to the processes that work in `directory` and below it.
    pub(super) fn signal_all(&self, directory: &str, signal: &str) -> Result<(), String> {
        let exact = self.path.join(directory).display().to_string();
        let below = format!("{exact}/*");
        // The second time for what the first ones started meanwhile.
        self.send(signal, &[exact.clone(), below.clone()])?;
        self.send(signal, &[exact, below])
    }

    fn send(&self, signal: &str, patterns: &[String]) -> Result<(), String> {
        let mut command = Command::new("sh");
        self.run(command.args(["-c", SIGNAL, "signal", signal]).args(patterns)).map(drop)
    }

    /// Returns the identifier of a process that works in `directory` itself.
    pub(super) fn agent(&self, directory: &str) -> Result<u32, String> {
        let pattern = self.path.join(directory);
        let mut find = Command::new("sh");
        find.args([
            "-c",
            "find /proc -maxdepth 2 -path '/proc/[0-9]*/cwd' -lname \"$1\" 2>/dev/null; true",
            "find",
        ]);
        let found = self.run(find.arg(&pattern))?;
        let process = found.lines().find_map(|line| line.split('/').nth(2)?.parse().ok());
        process.ok_or_else(|| format!("no process works in {}", pattern.display()))
    }

    /// Kills the processes of a directory and removes it.
    pub(super) fn remove(&self, directory: &str) -> Result<(), String> {
        self.signal_all(directory, "KILL")?;
        let path = self.path.join(directory);
        fs::remove_dir_all(&path).map_err(in_file(&path))
    }
}

fn give(path: &Path, owner: Option<(u32, u32)>) -> Result<(), String> {
    let Some((user, group)) = owner else { return Ok(()) };
    chown(path, Some(user), Some(group)).map_err(in_file(path))
}

fn as_owner(command: &mut Command, owner: Option<(u32, u32)>) {
    if let Some((user, group)) = owner {
        command.uid(user).gid(group);
    }
}
