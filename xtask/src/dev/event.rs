//! What `cargo xtask dev` waits for: saves, keys, signals, and the output of the programs that it runs.

use std::io::{BufRead, BufReader, Read};
use std::process::{Command, Stdio};
use std::sync::mpsc::Sender;
use std::thread;
use std::time::Duration;

use crate::process::Running;

/// How long a program may run after it has closed its output. Then it is killed.
const END: Duration = Duration::from_secs(10);
/// How long a program may run after SIGTERM. A browser may keep a connection to the service open for longer.
const STOP: Duration = Duration::from_secs(2);

/// Identifies a program that was started. Events of programs that were cancelled are ignored.
pub(super) type JobId = u64;

pub(super) enum Event {
    /// Files may have changed.
    Saved,
    /// Enter was pressed.
    Summary,
    /// `q` was pressed, a signal was received, or the terminal was closed.
    Stop,
    /// A program printed a line, on standard error or on standard output.
    Line { job: JobId, is_error: bool, text: String },
    /// A program closed its output.
    Ended { job: JobId },
}

/// A running program. Dropping it kills its process group.
pub(super) struct Job {
    pub(super) id: JobId,
    running: Running,
}

impl Job {
    /// Starts a program. Sends its lines, and then [`Event::Ended`].
    pub(super) fn start(id: JobId, command: &mut Command, events: &Sender<Event>) -> Result<Self, String> {
        let mut running = Running::start(command.stdout(Stdio::piped()).stderr(Stdio::piped()))?;
        let (output, errors) = running.take_output();
        let output = output.map(|output| send_lines(id, false, output, events));
        let errors = errors.map(|errors| send_lines(id, true, errors, events));
        let events = events.clone();
        thread::spawn(move || {
            // Joining fails only if a thread panicked; nothing more is read then either.
            output.into_iter().chain(errors).for_each(|thread| drop(thread.join()));
            // Fails only while this process exits.
            let _ = events.send(Event::Ended { job: id });
        });
        Ok(Self { id, running })
    }

    /// Waits for the end of a program that has closed its output. Returns whether it succeeded.
    pub(super) fn succeeded(mut self) -> bool {
        self.running.end(END).is_some_and(|status| status.success())
    }

    /// Sends SIGTERM, and waits. Kills the program if it does not exit.
    pub(super) fn stop(mut self) {
        self.running.terminate();
        self.running.end(STOP);
    }
}

fn send_lines(
    job: JobId,
    is_error: bool,
    output: impl Read + Send + 'static,
    events: &Sender<Event>,
) -> thread::JoinHandle<()> {
    let events = events.clone();
    thread::spawn(move || {
        let mut output = BufReader::new(output);
        let mut line = Vec::new();
        // A program may print bytes that are not UTF-8.
        while output.read_until(b'\n', &mut line).is_ok_and(|read| read > 0) {
            let text = String::from_utf8_lossy(&line).trim_end().to_owned();
            line.clear();
            if events.send(Event::Line { job, is_error, text }).is_err() {
                return;
            }
        }
    })
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::{self, Receiver};

    use super::*;

    fn shell(script: &str) -> (Job, Receiver<Event>) {
        let (sender, events) = mpsc::channel();
        let job = Job::start(7, Command::new("sh").args(["-c", script]), &sender).unwrap();
        (job, events)
    }

    fn lines(events: &Receiver<Event>) -> Vec<(bool, String)> {
        let mut lines = Vec::new();
        while let Event::Line { job, is_error, text } = events.recv().unwrap() {
            assert_eq!(job, 7);
            lines.push((is_error, text));
        }
        lines.sort();
        lines
    }

    #[test]
    fn a_program_sends_its_lines_and_its_end() {
        let (job, events) = shell("echo one; echo two >&2; printf 'three\\377'; exit 3");
        let expected = [(false, "one"), (false, "three\u{fffd}"), (true, "two")];
        assert_eq!(lines(&events), expected.map(|(is_error, text)| (is_error, text.to_owned())));
        assert!(!job.succeeded());
        let (job, events) = shell("true");
        assert_eq!(lines(&events), []);
        assert!(job.succeeded());
    }

    #[test]
    fn dropping_a_program_kills_the_programs_that_it_started() {
        let (job, events) = shell("sh -c 'echo started; sleep 1000' & wait");
        assert!(matches!(events.recv(), Ok(Event::Line { .. })));
        drop(job);
        // The pipe closes when the last process that holds it has ended.
        assert!(matches!(events.recv(), Ok(Event::Ended { job: 7 })));
    }
}
