//! The formats of findings: for people, for programs, and for CI systems.

mod github;
mod gitlab;
mod json;
mod junit;
mod markdown;
mod overview;
mod sarif;
mod text;

use std::io::{self, Write as _};
use std::path::{Component, Path, PathBuf};

use document::Span;

use crate::finding::Finding;

/// The files to which findings refer, in addition to the document.
#[derive(Clone, Debug, Default)]
pub struct Sources {
    root: PathBuf,
    files: Vec<(String, String)>,
}

impl Sources {
    /// Returns an empty set of files of the repository at `root`.
    pub fn new(root: &Path) -> Self {
        Self { root: root.to_owned(), files: Vec::new() }
    }

    /// Adds a file: its path from the root, and its text.
    pub fn add(&mut self, path: String, text: String) {
        self.files.push((path, text));
    }

    /// The root of the repository.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// The text of a file.
    pub fn text(&self, path: &str) -> Option<&str> {
        self.files.iter().find(|(known, _)| known == path).map(|(_, text)| text.as_str())
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

/// Findings about one file.
#[derive(Clone, Copy, Debug)]
pub struct About<'a> {
    /// The path of the file, relative to the current directory.
    pub path: &'a str,
    /// Its text.
    pub text: &'a str,
    /// The findings in it.
    pub findings: &'a [Finding],
}

/// All findings of a command.
#[derive(Clone, Copy, Debug)]
pub struct Report<'a> {
    /// The name of the command, such as `lint`.
    pub command: &'a str,
    /// The findings, by file.
    pub files: &'a [About<'a>],
    /// The code to which the findings refer, and the root of the repository, to which paths are relative in all formats
    /// but the text.
    pub sources: &'a Sources,
    /// The result in one line. Empty if a file could not be read.
    pub summary: &'a str,
}

impl<'a> Report<'a> {
    /// The findings, each with what is known about its file.
    fn findings(&self) -> impl Iterator<Item = (&'a About<'a>, &'a Finding)> {
        self.files.iter().flat_map(|about| about.findings.iter().map(move |finding| (about, finding)))
    }
}

/// Formats a report. The text has ANSI escapes, which `anstream` removes if the output is not a terminal. The summary
/// is a part of the text, of annotations and of Markdown.
pub fn render(format: Format, report: &Report<'_>) -> String {
    let Report { files, sources, .. } = *report;
    let mut text: String = match format {
        Format::Text => text::render(report),
        Format::Github => files.iter().map(|about| github::render(about, sources)).collect(),
        Format::Json => return json::render(files, sources),
        Format::Sarif => return sarif::render(report),
        Format::Markdown => return markdown::render(report),
        Format::Junit => return junit::render(report),
        Format::Gitlab => return gitlab::render(report),
    };
    if !report.summary.is_empty() {
        text.push_str(report.summary);
        text.push('\n');
    }
    text
}

/// Writes to standard output. A closed pipe is not an error.
pub fn write(text: &str) {
    let mut output = anstream::stdout().lock();
    match output.write_all(text.as_bytes()).and_then(|()| output.flush()) {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => {
            // Standard error may be closed too; then the error cannot be reported.
            let _ = writeln!(io::stderr(), "error: standard output: {error}");
        }
        _ => {}
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

/// Returns a path relative to the root of the repository, with `/`. A path outside of it is unchanged.
fn from_root(root: &Path, path: &str) -> String {
    match absolute(path).strip_prefix(normal(root)) {
        Ok(relative) => {
            let parts: Vec<_> =
                relative.components().map(|part| part.as_os_str().to_string_lossy()).collect();
            parts.join("/")
        }
        Err(_) => path.to_owned(),
    }
}

/// Returns a path relative to the current directory, if it is in it; else the whole path.
fn from_here(root: &Path, path: &str) -> String {
    let whole = root.join(path);
    let here = std::env::current_dir().unwrap_or_default();
    whole.strip_prefix(here).unwrap_or(&whole).display().to_string()
}

/// Returns the whole path of a file that is given relative to the current directory.
fn absolute(path: &str) -> PathBuf {
    normal(&std::env::current_dir().unwrap_or_default().join(path))
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
