//! Reads a document: a file, or a file in a revision of git as `REVISION:PATH`.

use std::path::{Path, PathBuf};
use std::process::Command;

use document::{Document, Problem, Span, Unreadable, decode};

/// Reads a document. A file with the whole name is read even if the name has a colon.
///
/// # Errors
/// When it does not exist, or is not OpenAPI 3.0.
pub(crate) fn load(path: &Path) -> Result<Document, Unreadable> {
    if in_revision(path).is_none() {
        return Document::load(path);
    }
    let name = path.to_string_lossy();
    let text = show(&name).map_err(|message| {
        let problem = Problem { span: Span { line: 1, column: 1, ..Span::default() }, message };
        Unreadable { path: name.to_string(), text: String::new(), problem }
    })?;
    Document::parse(&name, &text)
}

/// Returns the path in `REVISION:PATH`. `None` for a file.
fn in_revision(path: &Path) -> Option<&str> {
    let (revision, inside) = path.to_str()?.split_once(':')?;
    (!path.exists() && !revision.is_empty() && !revision.starts_with('-')).then_some(inside)
}

/// Returns where a document is in the working tree of the repository at `root`.
pub(crate) fn in_working_tree(path: &Path, root: &Path) -> PathBuf {
    match in_revision(path) {
        Some(inside) if inside.starts_with("../") => inside.into(),
        Some(inside) if inside.starts_with("./") => inside[2..].into(),
        Some(inside) => {
            let file = root.join(inside);
            let here = std::env::current_dir().unwrap_or_default();
            file.strip_prefix(here).map(Path::to_owned).unwrap_or(file)
        }
        None => path.to_owned(),
    }
}

/// Returns the text of `REVISION:PATH`, as git reads it: the path begins at the root of the repository, or with `./` at
/// the current directory.
fn show(name: &str) -> Result<String, String> {
    let output = Command::new("git").arg("show").arg(name).output();
    let output = output.map_err(|error| {
        format!("there is no such file, and git cannot be run to read it from a revision: {error}")
    })?;
    if !output.status.success() {
        let reason = String::from_utf8_lossy(&output.stderr);
        return Err(format!("there is no such file, and `git show` failed: {}", reason.trim()));
    }
    let text = decode(&output.stdout).map_err(|problem| problem.message)?;
    Ok(text.to_owned())
}
