//! The comparison of the saved document with the code, by a command of the project.

use std::process::Output;

use document::Span;
use document::finding::{Finding, Severity};
use document::repair::Repair;
use lsp_types::notification::{Notification as _, ShowMessage};
use lsp_types::{Location, MessageType, Range, ShowMessageParams};
use serde::Deserialize;

use crate::background::Background;
use crate::progress::WorkDone;
use crate::server::{Comparison, Event, Server};
use crate::text::Text;
use crate::uris;
use crate::world::{World, position};

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

impl Server {
    /// Compares the saved document with the code, if the document is open. Ends a comparison that is still running.
    pub(crate) fn start_drift(&mut self) {
        self.drift = None;
        let Some(path) = self.world.project_view().and_then(|document| document.path.clone()) else { return };
        let Some(command) = self.world.project.drift(&path) else { return };
        let text = std::fs::read_to_string(&path).unwrap_or_default();
        self.comparisons += 1;
        let (number, events) = (self.comparisons, self.events.clone());
        let done = move |output| {
            // Fails only while the process ends.
            let _ = events.send(Event::Drift(number, Text::new(text), output));
        };
        let title = "Comparing the document with the code";
        let progress = self.shows_progress.then(|| WorkDone::begin(self.out.clone(), number, title));
        let command = Background::start(command, done);
        self.drift = Some(Comparison { number, _command: command, _progress: progress });
    }

    /// Keeps the findings of a comparison. Those of the last one may be wrong after a failed build.
    pub(crate) fn compared(&mut self, number: u64, text: &Text, output: Result<Output, String>) {
        if self.drift.as_ref().is_none_or(|running| running.number != number) {
            return;
        }
        self.drift = None;
        let mut findings = findings(&self.world, text, output).unwrap_or_else(|failure| {
            let message = ShowMessageParams { typ: MessageType::WARNING, message: failure };
            self.notify(ShowMessage::METHOD, message);
            Vec::new()
        });
        let Some(document) = self.world.project_view() else { return };
        findings.iter_mut().for_each(|(finding, _)| document.since_save.apply(finding));
        document.drift = findings;
        self.publish(None);
    }
}

/// Returns the findings of a finished comparison of a text, each with its place in the code.
///
/// # Errors
/// The reason why there was no comparison, for a person: the code could not be built.
fn findings(
    world: &World,
    text: &Text,
    output: Result<Output, String>,
) -> Result<Vec<(Finding, Option<Location>)>, String> {
    let output = output?;
    let printed: Vec<Printed> = serde_json::from_slice(&output.stdout).map_err(|_| failure(&output))?;
    Ok(printed.into_iter().map(|printed| finding(world, text, printed)).collect())
}

fn finding(world: &World, text: &Text, printed: Printed) -> (Finding, Option<Location>) {
    let Printed { rule, severity, message, pointer, start, end, source, fix, repairs } = printed;
    let offset = |place: &Place| text.offset_of(place.line, place.column);
    let span = Span { start: offset(&start), end: offset(&end), line: start.line, column: start.column };
    let source = source.and_then(|Source { file, start, end }| {
        let start = position(start.line, start.column);
        let end = end.map_or(start, |end| position(end.line, end.column));
        Some(Location { uri: uris::of_path(&world.project.root().join(file))?, range: Range { start, end } })
    });
    (Finding { message, fix, repairs, ..Finding::new(severity, rule, &pointer, span) }, source)
}

/// Returns the reason why a command printed no findings: its first error.
fn failure(output: &Output) -> String {
    const LONGEST: usize = 300;
    let text = String::from_utf8_lossy(&output.stderr);
    let mut shown = first_error(&text).unwrap_or_else(|| output.status.to_string());
    shown.truncate(shown.floor_char_boundary(LONGEST));
    format!("The document was not compared with the code: {shown}")
}

/// Returns the first line that begins with `error`, and the next one, in which rustc names the place.
fn first_error(text: &str) -> Option<String> {
    let mut lines = text.lines().skip_while(|line| !line.trim_start().starts_with("error"));
    let first = lines.by_ref().take(2).collect::<Vec<_>>().join("\n");
    if first.is_empty() { text.lines().last().map(str::to_owned) } else { Some(first) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_error_has_its_place() {
        let text =
            "   Compiling shop\nwarning: unused\nerror[E0308]: mismatched types\n  --> src/b.rs:12:5\n   |\n";
        let expected = "error[E0308]: mismatched types\n  --> src/b.rs:12:5";
        assert_eq!(first_error(text).as_deref(), Some(expected));
        assert_eq!(first_error("x\ny").as_deref(), Some("y"));
        assert_eq!(first_error(""), None);
    }
}
