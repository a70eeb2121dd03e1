//! Reads what the comparison of a document with the code printed.

use std::process::Output;

use serde::Deserialize;

use super::text::Text;
use super::world::World;
use crate::document::Span;
use crate::finding::{Finding, Location, Severity};
use crate::repair::Repair;

/// A finding, as `--format json` prints it.
#[derive(Deserialize)]
struct Printed {
    rule: String,
    severity: String,
    message: String,
    pointer: String,
    line: usize,
    column: usize,
    end: Place,
    source: Option<Source>,
    fix: String,
    #[serde(default)]
    operations: Vec<String>,
    #[serde(default)]
    repairs: Vec<Repair>,
    #[serde(default)]
    scaffold: Option<String>,
}

#[derive(Deserialize)]
struct Place {
    line: usize,
    column: usize,
}

#[derive(Deserialize)]
struct Source {
    file: String,
    line: usize,
    column: usize,
    end: Option<Place>,
}

/// Returns the findings of a finished comparison. `text` is the document that was compared.
///
/// # Errors
/// A message, if there was no comparison: the code could not be built.
pub(super) fn findings(output: &Output, text: &Text, world: &World) -> Result<Vec<Finding>, String> {
    let printed: Vec<Printed> = serde_json::from_slice(&output.stdout).map_err(|_| failure(output))?;
    Ok(printed.into_iter().map(|printed| finding(printed, text, world)).collect())
}

fn finding(printed: Printed, text: &Text, world: &World) -> Finding {
    let span = |text: &Text, (line, column), end: Option<Place>| {
        let start = text.offset_of(line, column);
        let end = end.map_or(start, |end| text.offset_of(end.line, end.column));
        Span { start, end: end.max(start), line, column }
    };
    let severity = match printed.severity.as_str() {
        "info" => Severity::Info,
        "warning" => Severity::Warning,
        "unreadable" => Severity::Unreadable,
        _ => Severity::Error,
    };
    let source = printed.source.map(|source| {
        let path = world.project.root().join(&source.file);
        let code = Text::new(std::fs::read_to_string(path).unwrap_or_default());
        Location { span: span(&code, (source.line, source.column), source.end), file: source.file }
    });
    Finding {
        rule: printed.rule,
        severity,
        pointer: printed.pointer,
        span: span(text, (printed.line, printed.column), Some(printed.end)),
        message: printed.message,
        fix: printed.fix,
        source,
        operations: printed.operations,
        repairs: printed.repairs,
        scaffold: printed.scaffold,
        ..Finding::default()
    }
}

/// Returns the reason why a command printed no findings: its first error.
fn failure(output: &Output) -> String {
    const LONGEST: usize = 300;
    let errors = String::from_utf8_lossy(&output.stderr);
    let mut lines = errors.lines().skip_while(|line| !line.trim_start().starts_with("error"));
    let mut shown: String = lines.by_ref().take(2).collect::<Vec<_>>().join("\n");
    if shown.is_empty() {
        shown = errors.lines().last().map_or_else(|| output.status.to_string(), str::to_owned);
    }
    shown.truncate(shown.floor_char_boundary(LONGEST));
    format!("The document was not compared with the code: {shown}")
}
