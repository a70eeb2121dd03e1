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
    severity: String,
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

/// Why there was no comparison.
#[derive(Debug)]
pub(crate) struct Failure {
    /// The reason, for a person.
    pub(crate) message: String,
    /// The errors of the compiler, if the code could not be built.
    pub(crate) errors: Vec<CompileError>,
}

/// An error of the compiler.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct CompileError {
    /// The file, from the root of the project.
    pub(crate) file: String,
    /// The line, from 1.
    pub(crate) line: usize,
    /// The column in characters, from 1.
    pub(crate) column: usize,
    /// The message, without its place.
    pub(crate) message: String,
}

/// Returns the findings of a finished comparison. `text` is the document that was compared.
///
/// # Errors
/// If there was no comparison: the code could not be built.
pub(crate) fn findings(
    output: Result<Output, String>,
    text: &Text,
    world: &World,
) -> Result<Vec<Finding>, Failure> {
    let output = output.map_err(|message| Failure { message, errors: Vec::new() })?;
    let printed: Vec<Printed> = serde_json::from_slice(&output.stdout).map_err(|_| failure(&output))?;
    Ok(printed.into_iter().map(|printed| finding(printed, text, world)).collect())
}

fn finding(printed: Printed, text: &Text, world: &World) -> Finding {
    let span = |text: &Text, (line, column), end: Option<Position>| {
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
        Location {
            span: span(&code, (source.line, source.column), source.end),
            file: source.file,
            ..Location::default()
        }
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

/// Returns the reason why a command printed no findings: the first error of the compiler, or else its first error.
fn failure(output: &Output) -> Failure {
    const LONGEST: usize = 300;
    let text = String::from_utf8_lossy(&output.stderr);
    let errors = compile_errors(&text);
    let mut shown = match &errors[..] {
        [] => first_error(&text).unwrap_or_else(|| output.status.to_string()),
        [CompileError { file, line, column, message }, others @ ..] => {
            let more = match others.len() {
                0 => String::new(),
                more => format!(" (and {more} more)"),
            };
            format!("{file}:{line}:{column}: {message}{more}")
        }
    };
    shown.truncate(shown.floor_char_boundary(LONGEST));
    Failure { message: format!("The document was not compared with the code: {shown}"), errors }
}

fn first_error(text: &str) -> Option<String> {
    let mut lines = text.lines().skip_while(|line| !line.trim_start().starts_with("error"));
    let first = lines.by_ref().take(2).collect::<Vec<_>>().join("\n");
    if first.is_empty() { text.lines().last().map(str::to_owned) } else { Some(first) }
}

/// Reads the errors in the text form of rustc: a line `error[E0308]: mismatched types`, and its place in the next
/// line: `  --> src/main.rs:2:5`.
fn compile_errors(text: &str) -> Vec<CompileError> {
    let mut errors = Vec::new();
    let mut message = None;
    for line in text.lines() {
        if let Some(place) = line.trim_start().strip_prefix("--> ") {
            let mut parts = place.rsplitn(3, ':');
            let (column, line, file) = (parts.next(), parts.next(), parts.next());
            let number = |part: Option<&str>| part?.trim().parse::<usize>().ok();
            if let (Some(message), Some(file), Some(line), Some(column)) =
                (message.take(), file, number(line), number(column))
            {
                errors.push(CompileError { file: file.to_owned(), line, column, message });
            }
        } else {
            let text = line.strip_prefix("error").and_then(|rest| rest.split_once(": "));
            let is_error = |code: &str| code.is_empty() || code.starts_with('[');
            message = text.filter(|(code, _)| is_error(code)).map(|(_, text)| text.to_owned());
        }
    }
    errors
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_of_the_compiler_have_their_places() {
        let text = "   Compiling shop v0.1.0 (/shop)\n\
            warning: unused variable: `x`\n --> src/a.rs:1:1\n  |\n\
            error[E0308]: mismatched types\n  --> src/b.rs:12:5\n   |\n12 | y\n   ::: src/c.rs:1:1\n\n\
            error: expected `;`, found `}`\n --> src/d: e.rs:3:9\n\n\
            error: could not compile `shop` (lib) due to 2 previous errors; 1 warning emitted\n";
        let found: Vec<_> = compile_errors(text)
            .into_iter()
            .map(|error| format!("{}:{}:{}: {}", error.file, error.line, error.column, error.message))
            .collect();
        assert_eq!(found, ["src/b.rs:12:5: mismatched types", "src/d: e.rs:3:9: expected `;`, found `}`"]);
        assert_eq!(
            compile_errors("error: x\n --> :::\nerror\n --> a\nerror[: \n--> 1:2:3"),
            [CompileError { file: "1".to_owned(), line: 2, column: 3, message: String::new() }]
        );
        assert_eq!(first_error("x\nerror: no\n  y\nz"), Some("error: no\n  y".to_owned()));
    }
}
