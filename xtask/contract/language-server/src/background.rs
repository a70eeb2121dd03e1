//! Runs a command in the background. Its process group can be killed, since cargo starts further processes.

use std::io::{self, Read};
use std::process::{Child, Command, Stdio};
use std::thread;

/// A running command. It is killed when the value is dropped.
#[derive(Debug)]
pub(crate) struct Background(Child);

impl Background {
    /// Starts a command. Calls `done` with its output and its errors when both have ended.
    ///
    /// # Errors
    /// When it cannot be run.
    pub(crate) fn start(
        mut command: Command,
        done: impl FnOnce(Vec<u8>, Vec<u8>) + Send + 'static,
    ) -> io::Result<Self> {
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        #[cfg(unix)]
        std::os::unix::process::CommandExt::process_group(&mut command, 0);
        let mut child = command.spawn()?;
        let (stdout, stderr) = (child.stdout.take(), child.stderr.take());
        thread::spawn(move || {
            let errors = thread::spawn(move || all_of(stderr));
            let output = all_of(stdout);
            done(output, errors.join().unwrap_or_default());
        });
        Ok(Self(child))
    }
}

impl Drop for Background {
    fn drop(&mut self) {
        // The process is reaped below, so that no other one has its identifier yet.
        #[cfg(unix)]
        if let Some(group) = rustix::process::Pid::from_raw(self.0.id().cast_signed()) {
            // Fails if the group has ended.
            let _ = rustix::process::kill_process_group(group, rustix::process::Signal::KILL);
        }
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Reads a stream to its end, or to an error.
fn all_of(stream: Option<impl Read>) -> Vec<u8> {
    let mut bytes = Vec::new();
    if let Some(mut stream) = stream {
        let _ = stream.read_to_end(&mut bytes);
    }
    bytes
}
