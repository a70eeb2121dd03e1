//! The comparison of the saved document with the code, by a command of the project.

use std::io::{self, Read};
use std::process::{Child, Command, Stdio};
use std::thread;

use checks::finding::{Finding, Location, Severity};
use crossbeam_channel::Sender;
use document::Span;
use document::repair::Repair;
use serde::Deserialize;

use crate::check::Event;
use crate::documents::Found;

/// A finding, as `--format json` prints it.
#[derive(Deserialize)]
struct Printed {
    rule: String,
    severity: Severity,
    message: String,
    pointer: String,
    #[serde(flatten)]
    start: Place,
    end: Place,
    source: Option<Source>,
    fix: String,
    #[serde(default)]
    repairs: Vec<Repair>,
}

#[derive(Deserialize)]
struct Place {
    line: usize,
    column: usize,
}

#[derive(Deserialize)]
struct Source {
    file: String,
    #[serde(flatten)]
    start: Place,
    end: Option<Place>,
}

/// A running comparison. It is ended, with the processes that it started, when the value is dropped.
pub(crate) struct Comparison {
    /// The number of the run.
    pub(crate) number: u64,
    /// The saved text.
    text: String,
    process: Child,
}

impl Comparison {
    /// Starts the command that compares a saved text with the code. Sends its output when it has ended.
    ///
    /// # Errors
    /// When it cannot be run.
    pub(crate) fn start(
        mut command: Command,
        number: u64,
        text: String,
        events: Sender<Event>,
    ) -> io::Result<Self> {
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        // Cargo starts further processes, which end with their group.
        #[cfg(unix)]
        std::os::unix::process::CommandExt::process_group(&mut command, 0);
        let mut process = command.spawn()?;
        let (stdout, stderr) = (process.stdout.take(), process.stderr.take());
        thread::spawn(move || {
            let errors = thread::spawn(move || all_of(stderr));
            let stdout = all_of(stdout);
            let stderr = errors.join().unwrap_or_default();
            // Fails only while the process ends.
            let _ = events.send(Event::Compared { number, stdout, stderr });
        });
        Ok(Self { number, text, process })
    }

    /// Returns the findings that the command printed, or the reason why it did not compare.
    pub(crate) fn result(&mut self, stdout: &[u8], stderr: &[u8]) -> (Found, Option<String>) {
        let text = std::mem::take(&mut self.text);
        match serde_json::from_slice::<Vec<Printed>>(stdout) {
            Ok(printed) => {
                let findings = printed.into_iter().map(|it| it.finding(&text)).collect();
                (Found { text, findings }, None)
            }
            // The last findings may be wrong after a failed build.
            Err(_) => (Found::default(), Some(first_error(&String::from_utf8_lossy(stderr)))),
        }
    }
}

impl Drop for Comparison {
    fn drop(&mut self) {
        // The process is reaped below, so that no other one has its identifier yet.
        #[cfg(unix)]
        if let Some(group) = rustix::process::Pid::from_raw(self.process.id().cast_signed()) {
            // Fails if the group has ended.
            let _ = rustix::process::kill_process_group(group, rustix::process::Signal::KILL);
        }
        let _ = self.process.kill();
        let _ = self.process.wait();
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

impl Printed {
    /// Returns the finding in the text that was compared.
    fn finding(self, text: &str) -> Finding {
        let Self { rule, severity, message, pointer, start, end, source, fix, repairs } = self;
        let offset = |&Place { line, column }: &Place| {
            let start: usize = text.split_inclusive('\n').take(line.saturating_sub(1)).map(str::len).sum();
            let mut characters = text[start..].char_indices();
            characters.nth(column.saturating_sub(1)).map_or(text.len(), |(offset, _)| start + offset)
        };
        let span = Span { start: offset(&start), end: offset(&end), line: start.line, column: start.column };
        let source = source.map(|Source { file, start: Place { line, column }, end }| {
            let end = end.filter(|end| end.line == line).map_or(0, |end| end.column.saturating_sub(column));
            Location { file, span: Span { start: 0, end, line, column }, ..Location::default() }
        });
        Finding { message, fix, repairs, source, ..Finding::new(severity, rule, &pointer, span) }
    }
}

/// Returns the first line that begins with `error`, and the next one, in which rustc names the place.
fn first_error(text: &str) -> String {
    let lines = text.lines().skip_while(|line| !line.trim_start().starts_with("error"));
    let first = lines.take(2).collect::<Vec<_>>().join("\n");
    if first.is_empty() { text.lines().last().unwrap_or("it printed nothing").to_owned() } else { first }
}
