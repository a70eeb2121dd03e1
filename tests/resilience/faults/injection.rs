//! Injects faults with system programs.

use std::path::{Path, PathBuf};
use std::process::Stdio;

use rustix::process::{Pid, Signal, kill_process};
use tokio::io::{AsyncBufReadExt, BufReader};
use tokio::process::{Child, Command};
use tokio::time::timeout;

use kit::program::{TIMEOUT, prefix};

/// A running strace that makes system calls of a process fail.
pub struct FailingCalls(Child);

impl FailingCalls {
    /// Starts to inject faults into the process; `what` is an expression of strace's `inject`. Returns strace's error.
    pub async fn inject(process: Pid, what: &str) -> Result<Self, String> {
        let mut command = Command::new("strace");
        command.args(["-f", "-o", "/dev/null", "-e"]).arg(format!("inject={what}"));
        command.arg("-p").arg(process.as_raw_nonzero().to_string());
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped()).kill_on_drop(true);
        let mut child = command.spawn().map_err(|error| format!("strace: {error}"))?;
        let mut lines = BufReader::new(child.stderr.take().expect("a pipe")).lines();
        let line = timeout(TIMEOUT, lines.next_line()).await.expect("a line in time").expect("a pipe");
        let line = line.unwrap_or_default();
        if !line.contains("attached") {
            return Err(line);
        }
        // strace reports new threads on the same pipe, which must not fill up.
        tokio::spawn(async move { while let Ok(Some(_)) = lines.next_line().await {} });
        Ok(Self(child))
    }

    /// Ends the fault.
    pub async fn end(mut self) {
        let id = self.0.id().expect("it was not reaped before");
        let pid = Pid::from_raw(id.try_into().expect("a process id")).expect("a process id");
        // strace detaches from the process on SIGINT.
        kill_process(pid, Signal::INT).expect("a signal");
        timeout(TIMEOUT, self.0.wait()).await.expect("an end in time").expect("a status");
    }
}

/// A small file system that is mounted in a namespace of its own.
pub struct SmallDisk {
    holder: Child,
    directory: PathBuf,
}

impl SmallDisk {
    /// Mounts a file system of `bytes` bytes over `directory`. Returns the system's error.
    pub async fn mount(directory: &Path, bytes: usize) -> Result<Self, String> {
        let mut command = Command::new("unshare");
        // The shell holds the namespace until its standard input ends.
        let script = format!("mount -t tmpfs -o size={bytes} tmpfs \"$0\" && echo mounted && read line");
        command.args(["--user", "--map-root-user", "--mount", "sh", "-c", &script]).arg(directory);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).kill_on_drop(true);
        let mut holder = command.spawn().map_err(|error| format!("unshare: {error}"))?;
        let mut lines = BufReader::new(holder.stdout.take().expect("a pipe")).lines();
        let line = timeout(TIMEOUT, lines.next_line()).await.expect("a line in time").expect("a pipe");
        if line.is_none() {
            let output = holder.wait_with_output().await.expect("an end");
            return Err(String::from_utf8_lossy(&output.stderr).trim().replace('\n', " "));
        }
        Ok(Self { holder, directory: directory.to_owned() })
    }

    /// Changes a command to run in the namespace.
    pub fn enter(&self, command: &mut Command) {
        let holder = self.holder.id().expect("it runs").to_string();
        prefix(
            command,
            &["nsenter", "--preserve-credentials", "--user", "--mount", "--target", &holder, "--"],
        );
    }

    /// Makes the file system read-only.
    pub async fn make_read_only(&self) {
        let mut mount = Command::new("mount");
        mount.args(["-o", "remount,ro"]).arg(&self.directory);
        self.enter(&mut mount);
        assert!(mount.status().await.expect("mount").success());
    }

    /// The path of a file on the disk, for processes in other namespaces.
    pub fn file(&self, name: &str) -> PathBuf {
        let holder = self.holder.id().expect("it runs");
        let inside = self.directory.strip_prefix("/").expect("an absolute path");
        Path::new(&format!("/proc/{holder}/root")).join(inside).join(name)
    }
}
