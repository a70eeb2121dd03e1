//! The comparison of the saved document with the code, by a command of the project.

use checks::finding::{Finding, Location, Severity};
use document::Span;
use document::repair::Repair;
use lsp_types::notification::{Notification as _, ShowMessage};
use lsp_types::{MessageType, ShowMessageParams};
use serde::Deserialize;

use crate::background::Background;
use crate::check::Event;
use crate::documents::Found;
use crate::progress::WorkDone;
use crate::server::{Comparison, Server};
use crate::text::Text;

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
        let done = move |stdout, stderr| {
            // Fails only while the process ends.
            let _ = events.send(Event::Compared { number, stdout, stderr });
        };
        let title = "Comparing the document with the code";
        let progress = self.shows_progress.then(|| WorkDone::begin(self.out.clone(), number, title));
        match Background::start(command, done) {
            Ok(command) => {
                self.drift = Some(Comparison { number, text, _command: command, _progress: progress });
            }
            Err(error) => {
                self.not_compared(&format!("the command cannot be run: {error}"));
                self.keep(Found::default());
            }
        }
    }

    /// Keeps the findings of a comparison. Those of the last one may be wrong after a failed build.
    pub(crate) fn compared(&mut self, number: u64, stdout: &[u8], stderr: &[u8]) {
        let Some(Comparison { text, .. }) = self.drift.take_if(|running| running.number == number) else {
            return;
        };
        let printed = serde_json::from_slice::<Vec<Printed>>(stdout);
        if printed.is_err() {
            self.not_compared(&first_error(&String::from_utf8_lossy(stderr)));
        }
        let text = Text::new(text);
        let findings = printed.unwrap_or_default().into_iter().map(|it| it.finding(&text)).collect();
        self.keep(Found { text: text.into_string(), findings });
    }

    fn keep(&mut self, found: Found) {
        if let Some(document) = self.world.project_view() {
            document.drift = found;
            self.publish(None);
        }
    }

    fn not_compared(&self, reason: &str) {
        const LONGEST: usize = 300;
        let reason = &reason[..reason.floor_char_boundary(LONGEST)];
        let message = format!("The document was not compared with the code: {reason}");
        self.notify(ShowMessage::METHOD, ShowMessageParams { typ: MessageType::WARNING, message });
    }
}

impl Printed {
    /// Returns the finding in the text that was compared.
    fn finding(self, text: &Text) -> Finding {
        let Self { rule, severity, message, pointer, start, end, source, fix, repairs } = self;
        let offset = |place: &Place| text.offset_of(place.line, place.column);
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_error_has_its_place() {
        let text =
            "   Compiling shop\nwarning: unused\nerror[E0308]: mismatched types\n  --> src/b.rs:12:5\n   |\n";
        let expected = "error[E0308]: mismatched types\n  --> src/b.rs:12:5";
        assert_eq!(first_error(text), expected);
        assert_eq!(first_error("x\ny"), "y");
        assert_eq!(first_error(""), "it printed nothing");
    }
}
