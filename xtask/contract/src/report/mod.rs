//! The formats of findings: text, JSON, and annotations of GitHub Actions.

mod github;
mod json;
mod text;

use std::io::{self, Write as _};
use std::path::{Component, Path, PathBuf};

use clap::ValueEnum;

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
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum Format {
    /// Text for terminals: excerpts with carets, with colours on a terminal.
    #[default]
    Text,
    /// JSON for programs: one array of findings.
    Json,
    /// For GitHub Actions: an annotation on the pull request for each finding.
    Github,
}

/// The options of every command that prints findings.
#[derive(Clone, Copy, Debug, Default, clap::Args)]
pub struct Output {
    /// The format of the findings.
    #[arg(long, value_enum, default_value_t, value_name = "FORMAT")]
    pub format: Format,
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
  says        {document, code}: the value on each side, for people; empty if a side has none
  fix         the fix, as a sentence
  operations  operationIds of the operations that the finding affects
  repairs     changes of the document that fix it; each is enough. An object with one key: "remove" {at},
              "rename" {at, to}, "write" {at, value} or "add" {at, key, value}; `at` is a JSON pointer
  scaffold    operationId of an operation that `scaffold` can add to the code, or null
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

/// Formats findings. `sources` has the code to which the findings refer, and the root of the repository, to which
/// paths in JSON and annotations are relative. The text has ANSI escapes, which `anstream` removes if the output is
/// not a terminal.
pub fn render(format: Format, about: &[About<'_>], sources: &Sources) -> String {
    match format {
        Format::Text => about.iter().map(|about| text::render(about, sources)).collect(),
        Format::Json => json::render(about, sources),
        Format::Github => about.iter().map(|about| github::render(about, sources)).collect(),
    }
}

/// Prints findings, followed by a summary in the text format.
pub fn print(format: Format, about: &[About<'_>], sources: &Sources, summary: &str) {
    let mut text = render(format, about, sources);
    if format != Format::Json && !summary.is_empty() {
        text.push_str(summary);
        text.push('\n');
    }
    write(&text);
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

/// Returns a path relative to the root of the repository, with `/`. A path outside of it is unchanged.
fn from_root(root: &Path, path: &str) -> String {
    let here = std::env::current_dir().unwrap_or_default();
    let absolute = normal(&here.join(path));
    match absolute.strip_prefix(normal(root)) {
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
