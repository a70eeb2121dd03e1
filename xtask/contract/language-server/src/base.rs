//! The base of the comparison: the document that clients use now.

use std::path::{Path, PathBuf};

use checks::revision;
use document::decode;

use crate::tree::Tree;

/// The base, as it was when it was read.
pub(crate) struct Base {
    path: PathBuf,
    /// What changes with the content.
    stamp: Option<String>,
    /// The document, or the reason why it cannot be read.
    pub(crate) tree: Result<Tree, String>,
}

impl Base {
    /// Reads a document, unless `known` is its newest content.
    pub(crate) fn updated(known: Option<Self>, path: PathBuf) -> Self {
        let stamp = revision::stamp(&path);
        let is_same = |it: &Self| it.path == path && it.stamp == stamp && stamp.is_some();
        known.filter(is_same).unwrap_or_else(|| Self { tree: read(&path), path, stamp })
    }
}

fn read(path: &Path) -> Result<Tree, String> {
    let problem = |problem: String| format!("`{}`: {problem}", path.display());
    if path == Path::new("-") {
        return Err(problem("standard input has the messages of the editor; use a file".to_owned()));
    }
    let bytes = revision::read(path).map_err(problem)?;
    let text = decode(&bytes).map_err(|it| problem(it.to_string()))?;
    let read = Tree::read(&path.display().to_string(), text);
    read.map_err(|unreadable| problem(unreadable.problem.to_string()))
}
