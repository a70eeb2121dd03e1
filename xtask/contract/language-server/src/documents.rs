//! What requests are answered from: the documents that are open in the editor, and the project.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use checks::finding::{self, Finding};
use document::Span;
use lsp_server::ErrorCode;
use lsp_types::{Location, Position, Range, TextDocumentPositionParams, Uri};

use crate::check::Checked;
use crate::place::Place;
use crate::project::{Locate, Project};
use crate::text::{Change, Text};
use crate::tree::Tree;
use crate::uris;

/// Why a request has no result: the code and the message of the error.
pub(crate) type Refusal = (ErrorCode, String);

/// Everything that an answer can use.
pub(crate) struct World {
    /// The project.
    pub(crate) project: Arc<dyn Project>,
    /// The code, once it was read.
    pub(crate) implementation: Option<Arc<Locate>>,
    /// The documents, by the normal form of the URI.
    pub(crate) documents: HashMap<Uri, Document>,
}

impl World {
    /// The document with this URI.
    pub(crate) fn view(&self, uri: &Uri) -> Option<&Document> {
        self.documents.get(&uris::normal(uri))
    }

    /// Returns a document, and what its last readable text has at a position.
    pub(crate) fn place(&self, at: &TextDocumentPositionParams) -> Option<(&Document, Place<'_>)> {
        let view = self.view(&at.text_document.uri)?;
        Some((view, Place::at(view.tree.as_ref()?, view.offset_in_tree(at.position))))
    }

    /// The document of the project, if it is open.
    pub(crate) fn project_view(&mut self) -> Option<&mut Document> {
        self.documents.get_mut(&uris::of_path(&self.project.document()?)?)
    }

    /// Returns a place in a saved file. Its columns count characters, which differ from UTF-16 only after one beyond the
    /// basic plane. Clients limit the end to the line.
    pub(crate) fn location(&self, place: &finding::Location) -> Option<Location> {
        // An editor cannot open a revision of git.
        let path = Some(self.project.root().join(&place.file)).filter(|path| path.exists())?;
        let uri = uris::of_path(&path)?;
        let Span { start, end, line, column } = place.span;
        let number = |one: usize| u32::try_from(one.saturating_sub(1)).unwrap_or(u32::MAX);
        let at = |column: usize| Position { line: number(line), character: number(column) };
        let range = Range { start: at(column), end: at(column + end.saturating_sub(start)) };
        Some(Location { uri, range })
    }
}

/// A document.
pub(crate) struct Document {
    /// Its URI, as the client writes it.
    pub(crate) uri: Uri,
    /// The path of a file.
    pub(crate) path: Option<PathBuf>,
    /// The version of the editor.
    pub(crate) version: i32,
    /// The text in the editor.
    pub(crate) text: Text,
    /// The newest tree. `None` if the text could never be read as OpenAPI.
    pub(crate) tree: Option<Arc<Tree>>,
    /// The reason why the text of the last check was not checked. The findings of the check before it stay.
    problem: Found,
    /// The findings of the last check.
    checked: Found,
    /// The differences that the last comparison with the code found.
    pub(crate) drift: Found,
}

/// Findings in a text, which may be older than that of the editor.
#[derive(Default)]
pub(crate) struct Found {
    /// The text.
    pub(crate) text: String,
    /// The findings.
    pub(crate) findings: Vec<Finding>,
}

impl Document {
    /// A document with a text that was not read. `None` if it is neither YAML nor JSON by its name.
    pub(crate) fn new(uri: Uri, version: i32, text: String) -> Option<Self> {
        let path = uris::to_path(&uri);
        let name = path.as_deref().unwrap_or(Path::new(uri.as_str()));
        match name.extension().map(|it| it.to_string_lossy().to_ascii_lowercase()).as_deref() {
            Some("yaml" | "yml" | "json") => {}
            // The text of an editor that has no file yet.
            None if path.is_none() => {}
            _ => return None,
        }
        Some(Self {
            path,
            uri,
            version,
            text: Text::new(text),
            tree: None,
            problem: Found::default(),
            checked: Found::default(),
            drift: Found::default(),
        })
    }

    /// The path, or the URI if it is not a file.
    pub(crate) fn file(&self) -> String {
        self.path.as_ref().map_or_else(|| self.uri.as_str().to_owned(), |path| path.display().to_string())
    }

    /// Reads the newest text, unless it was read. If it cannot be read, the last tree stays.
    pub(crate) fn read(&mut self) {
        if self.newest_tree().is_none()
            && let Ok(tree) = Tree::read(&self.file(), self.text.as_str())
        {
            self.tree = Some(Arc::new(tree));
        }
    }

    /// Returns the tree of the newest text, if it was read.
    pub(crate) fn newest_tree(&self) -> Option<&Arc<Tree>> {
        self.tree.as_ref().filter(|tree| tree.document().text == self.text.as_str())
    }

    /// Keeps the result of a check.
    pub(crate) fn keep(&mut self, Checked { text, tree, findings }: Checked) {
        // A request may have read a newer text.
        if tree.is_some() && self.newest_tree().is_none() {
            self.tree = tree;
        }
        let problem = findings.map(|findings| self.checked = Found { text: text.clone(), findings }).err();
        self.problem = Found { text, findings: problem.into_iter().map(|it| *it).collect() };
    }

    /// Whether the newest text was checked.
    pub(crate) fn is_checked(&self) -> bool {
        self.problem.text == self.text.as_str()
    }

    /// Returns all findings with their places in the newest text.
    pub(crate) fn findings(&self) -> impl Iterator<Item = (&Finding, Span)> {
        let found = [&self.problem, &self.checked, &self.drift].into_iter();
        found.filter(|found| !found.findings.is_empty()).flat_map(move |found| {
            let change = Change::between(&found.text, self.text.as_str());
            found.findings.iter().map(move |finding| {
                let Span { start, end, .. } = finding.span;
                let span = Span { start: change.forward(start), end: change.forward(end), ..finding.span };
                (finding, span.first_line(self.text.as_str()))
            })
        })
    }

    /// Returns the change from the text of the tree to the newest one.
    fn since_tree(&self) -> Change {
        let text = self.text.as_str();
        Change::between(self.tree.as_ref().map_or(text, |tree| &tree.document().text), text)
    }

    /// Returns the offset of a position in the text of the tree.
    pub(crate) fn offset_in_tree(&self, position: Position) -> usize {
        self.since_tree().back(self.text.offset(position))
    }

    /// Returns the range in the editor of a place in the tree.
    pub(crate) fn range(&self, span: Span) -> Range {
        let since = self.since_tree();
        self.text.range(since.forward(span.start)..since.forward(span.end))
    }

    /// Returns the locations of places in the tree.
    pub(crate) fn locations(&self, spans: impl Iterator<Item = Span>) -> Vec<Location> {
        let since = self.since_tree();
        let range = |span: Span| self.text.range(since.forward(span.start)..since.forward(span.end));
        spans.map(|span| Location { uri: self.uri.clone(), range: range(span) }).collect()
    }
}
