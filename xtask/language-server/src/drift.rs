//! Reads what the comparison of a document with the code printed.

use std::process::Output;

use document::Span;
use document::finding::{Finding, Location, Severity};
use document::repair::Repair;
use serde::Deserialize;

use crate::text::Text;
use crate::world::World;

/// A finding, as `--format json` prints it.
#[derive(Deserialize)]
struct Printed {
    rule: String,
    severity: Severity,
    message: String,
    pointer: String,
    line: usize,
    column: usize,
    end: Position,
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
struct Position {
    line: usize,
    column: usize,
}

#[derive(Deserialize)]
struct Source {
    file: String,
    line: usize,
    column: usize,
    end: Option<Position>,
}

/// Returns the findings of a finished comparison. `text` is the document that was compared.
///
/// # Errors
/// The reason why there was no comparison, for a person: the code could not be built.
pub(crate) fn findings(
    output: Result<Output, String>,
    text: &Text,
    world: &World,
) -> Result<Vec<Finding>, String> {
    let output = output?;
    let printed: Vec<Printed> = serde_json::from_slice(&output.stdout).map_err(|_| failure(&output))?;
    Ok(printed.into_iter().map(|printed| finding(printed, text, world)).collect())
}

fn finding(printed: Printed, text: &Text, world: &World) -> Finding {
    let span = |text: &Text, (line, column), end: Option<Position>| {
        let start = text.offset_of(line, column);
        let end = end.map_or(start, |end| text.offset_of(end.line, end.column));
        Span { start, end: end.max(start), line, column }
    };
    let source = printed.source.map(|source| {
        let path = world.project.root().join(&source.file);
        let code = Text::new(std::fs::read_to_string(path).unwrap_or_default());
        Location {
            span: span(&code, (source.line, source.column), source.end),
            file: source.file,
            ..Location::default()
        }
    });
    Finding {
        rule: printed.rule,
        severity: printed.severity,
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
