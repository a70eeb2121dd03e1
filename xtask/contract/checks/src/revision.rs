//! Reads files, also those in a revision of git, by `REVISION:PATH`, and standard input, by `-`. A file with the whole name
//! of a revision comes first.

use std::fs;
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};
use std::process::Command;

use document::{Document, Problem, Span, Unreadable, decode};

use crate::finding::File;

/// Reads a document.
///
/// # Errors
/// The file with a finding, if it does not exist or is not OpenAPI 3.0.
pub fn load(path: &Path) -> Result<Document, File> {
    let name = path.display().to_string();
    let bytes = read(path).map_err(|message| unusable(path, message))?;
    match decode(&bytes) {
        Ok(text) => Ok(Document::parse(&name, text)?),
        Err(problem) => {
            let text = String::from_utf8_lossy(&bytes).into_owned();
            Err(Unreadable { path: name, text, problem }.into())
        }
    }
}

/// Returns a file that cannot be read or written, and why.
pub fn unusable(path: &Path, message: String) -> File {
    let problem = Problem { span: Span { line: 1, column: 1, ..Span::default() }, message };
    Unreadable { path: path.display().to_string(), text: String::new(), problem }.into()
}

/// Reads a file.
///
/// # Errors
/// A message for people.
pub fn read(path: &Path) -> Result<Vec<u8>, String> {
    if path == Path::new("-") {
        let mut bytes = Vec::new();
        return io::stdin().read_to_end(&mut bytes).map(|_| bytes).map_err(|error| error.to_string());
    }
    if in_revision(path).is_none() {
        return fs::read(path).map_err(|error| match error.kind() {
            io::ErrorKind::NotFound => "there is no such file".to_owned(),
            _ => format!("the file cannot be read: {error}"),
        });
    }
    if path.to_string_lossy().contains("://") {
        return Err("an address is not read; write `-`, and pipe the document into the command".to_owned());
    }
    // As git reads it: the path begins at the root of the repository, or with `./` at the current directory.
    git("show", path)
}

/// Returns what changes when the content of a file does: its time and size, or its identifier in git.
pub fn stamp(path: &Path) -> Option<String> {
    if in_revision(path).is_some() {
        return String::from_utf8(git("rev-parse", path).ok()?).ok();
    }
    let metadata = path.metadata().ok()?;
    Some(format!("{:?} {}", metadata.modified().ok()?, metadata.len()))
}

fn git(command: &str, path: &Path) -> Result<Vec<u8>, String> {
    let output = Command::new("git").arg(command).arg(path).output();
    let failed = |reason: &str| {
        format!("there is no such file, and `git {command}` failed: {}", reason.trim().trim_end_matches('.'))
    };
    let output = output.map_err(|error| failed(&error.to_string()))?;
    if output.status.success() {
        Ok(output.stdout)
    } else {
        Err(failed(&String::from_utf8_lossy(&output.stderr)))
    }
}

/// Returns the path in `REVISION:PATH`. `None` for a file.
pub fn in_revision(path: &Path) -> Option<&str> {
    let (revision, inside) = path.to_str()?.split_once(':')?;
    (!path.exists() && !revision.is_empty() && !revision.starts_with('-')).then_some(inside)
}

/// Returns where a document is in the working tree of the repository at `root`.
pub fn in_working_tree(path: &Path, root: &Path) -> PathBuf {
    match in_revision(path) {
        Some(inside) if inside.starts_with("../") || inside.starts_with("./") => inside.into(),
        Some(inside) => root.join(inside),
        None => path.to_owned(),
    }
}
