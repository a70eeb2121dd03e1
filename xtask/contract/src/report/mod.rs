//! How findings are shown: to a person, to a program, or on a pull request.

mod github;
mod json;
mod text;

use std::io::{self, Write as _};
use std::path::{Component, Path, PathBuf};

use clap::ValueEnum;

use crate::finding::Finding;

/// The files that findings point to, beside the document.
#[derive(Clone, Debug, Default)]
pub struct Sources {
    root: PathBuf,
    files: Vec<(String, String)>,
}

impl Sources {
    /// No files yet, in the repository at `root`.
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

/// What findings are shown as.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum Format {
    /// For a person: excerpts with carets, in colour on a terminal.
    #[default]
    Text,
    /// For a program: one array of findings.
    Json,
    /// For GitHub Actions: an annotation on the pull request for each finding.
    Github,
}

/// The options of every command that shows findings.
#[derive(Clone, Copy, Debug, Default, clap::Args)]
pub struct Output {
    /// What to show findings as.
    #[arg(long, value_enum, default_value_t, value_name = "FORMAT")]
    pub format: Format,
}

/// What `--format json` prints, for a help text.
pub const JSON: &str = r#"`--format json` prints an array with an object for each finding:
  rule        name of the rule
  severity    "error", "warning", "info", or "unreadable" where the document could not be understood
  message     what is wrong, as a sentence
  pointer     JSON pointer (RFC 6901) into the document; what is missing has that of its owner
  file        path of the document, from the root of the repository
  line, column, end {line, column}
              the place; both count from 1, columns in characters, `end` is the place after it
  source      {file, line, column} of the Rust code that differs, or null
  elsewhere   the place in another document, as file, line and column, or empty
  says        {document, code}: what either side says, for people; empty where a side says nothing
  fix         what to do, as a sentence
  operations  operationIds of the operations that the finding concerns
More keys may be added; these stay."#;

/// Findings about one file.
#[derive(Clone, Copy, Debug)]
pub struct About<'a> {
    /// How the file is called from here.
    pub path: &'a str,
    /// Its text.
    pub text: &'a str,
    /// What was found in it.
    pub findings: &'a [Finding],
}

/// Shows findings. `sources` has the code that they point to, and knows the root of the repository, from
/// which programs get their paths. The text has ANSI escapes, for `anstream` to take out where they do not
/// belong.
pub fn render(format: Format, about: &[About<'_>], sources: &Sources) -> String {
    match format {
        Format::Text => about.iter().map(|about| text::render(about, sources)).collect(),
        Format::Json => json::render(about, sources),
        Format::Github => about.iter().map(|about| github::render(about, sources)).collect(),
    }
}

/// Prints findings, and below them a summary, unless a program reads the output.
pub fn print(format: Format, about: &[About<'_>], sources: &Sources, summary: &str) {
    let mut text = render(format, about, sources);
    if format != Format::Json && !summary.is_empty() {
        text.push_str(summary);
        text.push('\n');
    }
    write(&text);
}

/// Writes to standard output. A reader that has closed the pipe has read enough, which is not an error.
pub fn write(text: &str) {
    let mut output = anstream::stdout().lock();
    match output.write_all(text.as_bytes()).and_then(|()| output.flush()) {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => {
            // Standard error may be closed too; then nobody can be told.
            let _ = writeln!(io::stderr(), "error: standard output: {error}");
        }
        _ => {}
    }
}

/// A path from the root of the repository, with `/`, or as it is if it does not lead there.
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

/// A path from here, if it leads down; else the whole path.
fn from_here(root: &Path, path: &str) -> String {
    let whole = root.join(path);
    let here = std::env::current_dir().unwrap_or_default();
    whole.strip_prefix(here).unwrap_or(&whole).display().to_string()
}

/// Without `.` and `..`. The file need not exist.
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
