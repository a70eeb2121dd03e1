//! The formats of findings: for people, for programs, and for CI systems.

mod github;
mod gitlab;
mod json;
mod junit;
mod markdown;
mod overview;
mod sarif;
mod text;

use std::collections::BTreeMap;
use std::env::current_dir;
use std::io::{self, Write as _};
use std::path::{Component, MAIN_SEPARATOR_STR, Path, PathBuf};

use document::Span;

use crate::finding::{File, Finding};

/// The source code to which findings refer, besides the document.
#[derive(Clone, Debug, Default)]
pub struct Sources {
    /// The root of the repository.
    pub root: PathBuf,
    /// The text of each file, by its path from the root.
    pub files: BTreeMap<String, String>,
}

impl Sources {
    /// Returns an empty set of files of the repository at `root`.
    pub fn new(root: &Path) -> Self {
        Self { root: root.to_owned(), files: BTreeMap::new() }
    }

    /// The text of a file; empty if it is unknown.
    fn text(&self, path: &str) -> &str {
        self.files.get(path).map_or("", String::as_str)
    }
}

/// The format of findings.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
pub enum Format {
    /// Text for terminals: excerpts with carets, with colours on a terminal
    #[default]
    Text,
    /// JSON for programs: one array of findings
    Json,
    /// For GitHub Actions: an annotation on the pull request for each finding
    Github,
    /// SARIF 2.1.0 for code scanning: rules, findings, and those that the configuration accepts
    Sarif,
    /// Markdown for a comment on a pull request: a summary and a table
    Markdown,
    /// JUnit XML for CI systems: a test for each finding
    Junit,
    /// JSON for the Code Quality of GitLab
    Gitlab,
}

/// The description of the output of `--format json`, for a help text.
pub const JSON: &str = r#"`--format json` prints an array with an object for each finding:
  rule        name of the rule
  severity    "error", "warning", "info", or "unreadable" if the document was not understood
  message     the problem, as a sentence
  pointer     JSON pointer (RFC 6901) into the document; for a missing part, that of its owner
  file        path of the document, from the root of the repository
  line, column, end {line, column}
              the place; both count from 1, columns in characters, `end` is the place after it
  source      {file, line, column, end {line, column}} of the Rust code that differs, or null
  elsewhere   the place in another document, as file, line and column, or empty
  was         JSON pointer of that place in the document before a change, which a waiver can name too
  accepted    why the finding does not count, or null: the reason of a waiver or an exception, or the version
  says        {document, code}: the value on each side, for people; empty if a side has none
  impact      what a change does to clients, as a sentence, or empty
  fix         the fix, as a sentence, for a breaking change with the lines of a waiver after it; empty if nothing
              needs to be fixed
  operations  operationIds of the operations that the finding affects
  repairs     changes of the file that fix it; each is enough. An object with one key: "remove" {at},
              "rename" {at, to}, "write" {at, value}, or "add" {at, key, value}. `at` is a JSON pointer.
              A rename changes what refers to the name too; a removed property is removed from `required`
              too
Later versions may add keys, but keep these."#;

/// All findings of a command.
#[derive(Clone, Copy, Debug)]
pub struct Report<'a> {
    /// The name of the command, such as `lint`.
    pub command: &'a str,
    /// The findings, by file. The path of a file is relative to the current directory.
    pub files: &'a [File],
    /// The code to which the findings refer, and the root of the repository, to which paths are relative in all formats
    /// but the text.
    pub sources: &'a Sources,
    /// The result in one line. Empty if a file could not be read.
    pub summary: &'a str,
}

impl<'a> Report<'a> {
    /// The findings, each with its file and the path of the file from the root of the repository.
    fn findings(&self) -> impl Iterator<Item = (String, &'a File, &'a Finding)> {
        self.files.iter().flat_map(|file| {
            let path = self.path(file);
            file.findings.iter().map(move |finding| (path.clone(), file, finding))
        })
    }

    /// Returns the path of a file from the root of the repository, with `/`; the whole path of a file outside of it.
    fn path(&self, file: &File) -> String {
        let path = normal(&current_dir().unwrap_or_default().join(&file.path));
        let path = path.strip_prefix(normal(&self.sources.root)).unwrap_or(&path);
        path.to_string_lossy().replace(MAIN_SEPARATOR_STR, "/")
    }
}

/// Formats a report. The text has ANSI escapes, which `anstream` removes if the output is not a terminal. The summary
/// is a part of the text, of annotations and of Markdown.
pub fn render(format: Format, report: &Report<'_>) -> String {
    let text = match format {
        Format::Text => text::render(report),
        Format::Github => github::render(report),
        Format::Json => return json::render(report),
        Format::Sarif => return sarif::render(report),
        Format::Markdown => return markdown::render(report),
        Format::Junit => return junit::render(report),
        Format::Gitlab => return gitlab::render(report),
    };
    if report.summary.is_empty() { text } else { format!("{text}{}\n", report.summary) }
}

/// Writes to standard output. A closed pipe is not an error.
pub fn write(text: &str) {
    let mut output = anstream::stdout().lock();
    if let Err(error) = output.write_all(text.as_bytes()).and_then(|()| output.flush())
        && error.kind() != io::ErrorKind::BrokenPipe
    {
        // Standard error may be closed too; then the error cannot be reported.
        let _ = writeln!(io::stderr(), "error: standard output: {error}");
    }
}

/// Returns the line and column after the last character of a place in a text.
fn end(span: Span, text: &str) -> (usize, usize) {
    let Span { start, end, line, column } = span;
    let start = text.floor_char_boundary(start);
    let length = end.saturating_sub(start);
    let end = Span::within(&text[start..], length..length);
    match end.line {
        1 => (line, column + end.column - 1),
        lines => (line + lines - 1, end.column),
    }
}

/// Returns a path without `.` and `..`. The file need not exist.
fn normal(path: &Path) -> PathBuf {
    let mut normal = PathBuf::new();
    for component in path.components() {
        match component {
            Component::CurDir => {}
            Component::ParentDir => drop(normal.pop()),
            _ => normal.push(component),
        }
    }
    normal
}

/// Replaces control characters by spaces, and drops those that change the direction of the text after them.
fn plain(text: &str) -> String {
    let is_direction =
        |it: &char| matches!(it, '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    let is_control = |it: char| it.is_control() || matches!(it, '\u{2028}' | '\u{2029}');
    text.chars().filter(|it| !is_direction(it)).map(|it| if is_control(it) { ' ' } else { it }).collect()
}
