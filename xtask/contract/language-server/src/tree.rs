//! A document together with its model, to be shared with the thread of the checks: that of the editor, and the base of
//! the comparison, which is the document that clients use now.

use std::path::{Path, PathBuf};

use checks::breaking::Side;
use checks::revision;
use document::openapi::Model;
use document::{Document, Unreadable, decode};
use self_cell::self_cell;

self_cell!(
    /// A document that could be read, with its model.
    pub(crate) struct Tree {
        owner: Document,
        #[covariant]
        dependent: Model,
    }
);

impl Tree {
    /// Reads a text that is in the file `path`.
    ///
    /// # Errors
    /// When it is not YAML or JSON, or not OpenAPI 3.0.
    pub(crate) fn read(path: &str, text: &str) -> Result<Self, Unreadable> {
        Ok(Self::new(Document::parse(path, text)?, |document| Model::of(document)))
    }

    /// The document as a side of a comparison.
    pub(crate) fn side(&self) -> Side<'_> {
        Side { document: self.document(), model: self.model() }
    }

    /// The document.
    pub(crate) fn document(&self) -> &Document {
        self.borrow_owner()
    }

    /// The model of the document.
    pub(crate) fn model(&self) -> &Model<'_> {
        self.borrow_dependent()
    }
}

/// Whether a text that cannot be read is meant to be an OpenAPI document. Editors also send other YAML files.
pub(crate) fn is_openapi(unreadable: &Unreadable) -> bool {
    /// The number of lines in which the keyword is expected.
    const FIRST_LINES: usize = 100;
    let begins = |line: &str| {
        let line = line.trim_start_matches(['\u{feff}', '{', ' ', '"', '\'']);
        line.starts_with("openapi") || line.starts_with("swagger")
    };
    match document::read(&unreadable.text) {
        Ok(node) => node.get("openapi").or(node.get("swagger")).is_some(),
        Err(_) => unreadable.text.lines().take(FIRST_LINES).any(begins),
    }
}

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

/// Reads the base, or returns the reason why it cannot be read.
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
