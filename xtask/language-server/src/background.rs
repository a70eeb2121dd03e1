//! Runs a command in the background. Its process group can be killed, since cargo starts further processes.

use std::io::Read;
use std::process::{Child, Command, Output, Stdio};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;

/// The limit of bytes of output that are kept.
const MAX_OUTPUT: u64 = 64 << 20;

/// A running command. It is killed when the value is dropped.
#[derive(Debug)]
pub(crate) struct Background {
    /// `None` once the process has ended.
    child: Arc<Mutex<Option<Child>>>,
}

impl Background {
    /// Starts a command. Calls `done` with its output when it has ended, or with the reason why it could not be run.
    pub(crate) fn start(
        mut command: Command,
        done: impl FnOnce(Result<Output, String>) + Send + 'static,
    ) -> Self {
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        #[cfg(unix)]
        std::os::unix::process::CommandExt::process_group(&mut command, 0);
        let program = command.get_program().to_string_lossy().into_owned();
        let mut child = match command.spawn() {
            Ok(child) => child,
            Err(error) => {
                done(Err(format!("cannot run {program}: {error}")));
                return Self { child: Arc::default() };
            }
        };
        let (stdout, stderr) = (child.stdout.take(), child.stderr.take());
        let child = Arc::new(Mutex::new(Some(child)));
        let shared = child.clone();
        thread::spawn(move || {
            let errors = thread::spawn(move || all_of(stderr));
            let stdout = all_of(stdout);
            let stderr = errors.join().unwrap_or_default();
            // The process is reaped with the lock held, so that no other process is killed by its identifier.
            let ended = lock(&shared).take().map(|mut child| child.wait());
            done(match ended {
                Some(Ok(status)) => Ok(Output { status, stdout, stderr }),
                Some(Err(error)) => Err(format!("{program}: {error}")),
                None => Err(format!("{program} was ended")),
            });
        });
        Self { child }
    }
}

impl Drop for Background {
    fn drop(&mut self) {
        if let Some(child) = lock(&self.child).as_mut() {
            #[cfg(unix)]
            if let Some(group) = rustix::process::Pid::from_raw(child.id().cast_signed()) {
                // Fails if the group has ended.
                let _ = rustix::process::kill_process_group(group, rustix::process::Signal::KILL);
            }
            let _ = child.kill();
        }
    }
}

fn lock(child: &Mutex<Option<Child>>) -> std::sync::MutexGuard<'_, Option<Child>> {
    child.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Reads a stream to its end, and keeps the first bytes of it.
fn all_of(stream: Option<impl Read>) -> Vec<u8> {
    let mut kept = Vec::new();
    if let Some(mut stream) = stream {
        // What was read before an error is kept.
        let _ = stream.by_ref().take(MAX_OUTPUT).read_to_end(&mut kept);
        let _ = std::io::copy(&mut stream, &mut std::io::sink());
    }
    kept
}
