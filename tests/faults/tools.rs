//! Programs of the system that make things go wrong, and doing without them.

use std::env;
use std::io::{Write, stderr};
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process};
use tokio::io::{AsyncBufReadExt, BufReader};
use tokio::process::{Child, Command};
use tokio::time::timeout;

use crate::row::row;

const PATIENCE: Duration = Duration::from_secs(60);

/// Whether nothing may be left out.
pub fn required() -> bool {
    env::var_os("STORE_TESTS_REQUIRE_TOOLS").is_some_and(|value| value == "1")
}

/// Says, past the test harness, that a fault was left out, and why. Fails if nothing may be left out.
pub fn leave_out(place: u8, fault: &str, why: &str) {
    assert!(!required(), "{fault}: {why}");
    // `eprintln!` would be kept from the reader as long as the test passes.
    let _ = writeln!(stderr(), "LEFT OUT: {fault}: {why}");
    row(place, fault, "left out", why);
}

/// Whether a program is there to be run.
pub async fn has(program: &str) -> bool {
    let mut command = Command::new(program);
    command.arg("--version").stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    command.status().await.is_ok_and(|status| status.success())
}

/// A running strace that lets system calls of a process fail.
pub struct Failing(Child);

impl Failing {
    /// From now on, `what` happens in the process, in strace's words for `inject`. The error is strace's.
    pub async fn inject(process: Pid, what: &str) -> Result<Self, String> {
        let mut command = Command::new("strace");
        command.args(["-f", "-o", "/dev/null", "-e"]).arg(format!("inject={what}"));
        command.arg("-p").arg(process.as_raw_nonzero().to_string());
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped()).kill_on_drop(true);
        let mut child = command.spawn().map_err(|error| format!("strace: {error}"))?;
        let mut lines = BufReader::new(child.stderr.take().expect("a pipe")).lines();
        let line = timeout(PATIENCE, lines.next_line()).await.expect("a line in time").expect("a pipe");
        let line = line.unwrap_or_default();
        if !line.contains("attached") {
            return Err(line);
        }
        // Threads that start later are announced on the same pipe, which must not fill.
        tokio::spawn(async move { while let Ok(Some(_)) = lines.next_line().await {} });
        Ok(Self(child))
    }

    /// From now on, it does not happen any more.
    pub async fn heal(mut self) {
        let id = self.0.id().expect("it was not reaped before");
        let pid = Pid::from_raw(id.try_into().expect("a process id")).expect("a process id");
        // strace detaches from the process when it is interrupted.
        kill_process(pid, Signal::INT).expect("a signal");
        timeout(PATIENCE, self.0.wait()).await.expect("an end in time").expect("a status");
    }
}

/// A small disk that only programs in its namespace see.
pub struct SmallDisk {
    holder: Child,
    directory: PathBuf,
}

impl SmallDisk {
    /// Mounts one of so many bytes over `directory`. The error is that of the system.
    pub async fn mount(directory: &Path, bytes: usize) -> Result<Self, String> {
        let mut command = Command::new("unshare");
        // The shell holds the namespace until its standard input ends.
        let script = format!("mount -t tmpfs -o size={bytes} tmpfs \"$0\" && echo mounted && read line");
        command.args(["--user", "--map-root-user", "--mount", "sh", "-c", &script]).arg(directory);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).kill_on_drop(true);
        let mut holder = command.spawn().map_err(|error| format!("unshare: {error}"))?;
        let mut lines = BufReader::new(holder.stdout.take().expect("a pipe")).lines();
        let line = timeout(PATIENCE, lines.next_line()).await.expect("a line in time").expect("a pipe");
        if line.is_none() {
            let output = holder.wait_with_output().await.expect("an end");
            return Err(String::from_utf8_lossy(&output.stderr).trim().replace('\n', " "));
        }
        Ok(Self { holder, directory: directory.to_owned() })
    }

    /// Makes of a command one that runs in the namespace.
    pub fn enter(&self, command: &mut Command) {
        let holder = self.holder.id().expect("it runs").to_string();
        prefix(
            command,
            &["nsenter", "--preserve-credentials", "--user", "--mount", "--target", &holder, "--"],
        );
    }

    /// A file on the disk, as seen from outside.
    pub fn file(&self, name: &str) -> PathBuf {
        let holder = self.holder.id().expect("it runs");
        let inside = self.directory.strip_prefix("/").expect("an absolute path");
        Path::new(&format!("/proc/{holder}/root")).join(inside).join(name)
    }
}

/// Puts another program before the one of a command, which must replace itself with it.
pub fn prefix(command: &mut Command, words: &[&str]) {
    let before = command.as_std();
    let mut after = Command::new(words[0]);
    after.args(&words[1..]).arg(before.get_program()).args(before.get_args());
    if let Some(directory) = before.get_current_dir() {
        after.current_dir(directory);
    }
    after.env_clear().kill_on_drop(true);
    // What is before the program must be found.
    after.env("PATH", env::var_os("PATH").unwrap_or_default());
    after.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    *command = after;
}
