//! What a request is answered from: the documents as they were when the request arrived.

use std::collections::HashMap;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use document::Span;
use document::finding::{self, Finding};
use lsp_server::ErrorCode;
use lsp_types::{Location, Position, Uri};

use crate::edits::Edits;
use crate::project::{Implementation, Project};
use crate::releases::Releases;
use crate::text::{Encoding, Text};
use crate::tree::Tree;
use crate::uris;

/// Why a request has no result: the code and the message of the error.
pub(crate) type Refusal = (ErrorCode, String);

/// One document.
#[derive(Clone, Debug)]
pub(crate) struct View {
    /// Its URI, as the client writes it.
    pub(crate) uri: Uri,
    /// The path of a file.
    pub(crate) path: Option<PathBuf>,
    /// The version of the text, if it is open in the editor.
    pub(crate) version: Option<i32>,
    /// The text in the editor.
    pub(crate) text: Arc<Text>,
    /// The newest tree. `None` if the text could never be read as OpenAPI.
    pub(crate) tree: Option<Arc<Tree>>,
    /// The edits since the text of the tree.
    pub(crate) since_tree: Edits,
    /// The edits since the text was saved.
    pub(crate) since_save: Edits,
    /// The newest findings.
    pub(crate) findings: Arc<Vec<Finding>>,
    /// The edits since the text of the findings.
    pub(crate) since_findings: Edits,
    /// For a configuration: its newest findings.
    pub(crate) configured: Vec<Finding>,
    /// The edits since the text of these findings.
    pub(crate) since_configured: Edits,
}

/// Everything that an answer can use.
#[derive(Clone)]
pub(crate) struct World {
    /// The unit of columns.
    pub(crate) encoding: Encoding,
    /// Whether the client accepts edits with versions.
    pub(crate) versioned_edits: bool,
    /// The project.
    pub(crate) project: Arc<dyn Project>,
    /// The code, once it was read.
    pub(crate) implementation: Option<Arc<dyn Implementation>>,
    /// The released documents.
    pub(crate) releases: Arc<Releases>,
    /// The findings of the last comparison with the code, at places of the saved document.
    pub(crate) drift: Arc<Vec<Finding>>,
    /// The documents, by the normal form of the URI.
    pub(crate) documents: HashMap<Uri, View>,
}

impl View {
    /// Returns the offset of a position in the text of the tree.
    pub(crate) fn offset_in_tree(&self, position: Position, encoding: Encoding) -> usize {
        self.since_tree.back(self.text.offset(position, encoding))
    }

    /// Returns the range in the editor of a place in the tree.
    pub(crate) fn range(&self, span: Span, encoding: Encoding) -> lsp_types::Range {
        let bytes = self.since_tree.forward(span.start)..self.since_tree.forward(span.end);
        self.text.range(bytes, encoding)
    }

    /// Returns the location of a place in the tree.
    pub(crate) fn location(&self, span: Span, encoding: Encoding) -> Location {
        Location { uri: self.uri.clone(), range: self.range(span, encoding) }
    }
}

impl World {
    /// The document with this URI.
    pub(crate) fn view(&self, uri: &Uri) -> Option<&View> {
        self.documents.get(&uris::normal(uri))
    }

    /// The document of the project.
    pub(crate) fn project_view(&self) -> Option<&View> {
        let path = self.project.document()?;
        self.documents.values().find(|view| view.path.as_ref() == Some(&path))
    }

    /// Whether releases and code belong to this document.
    pub(crate) fn is_of_project(&self, view: &View) -> bool {
        is_of_project(&*self.project, view.path.as_deref()) && {
            let path = view.path.as_deref();
            path.is_none_or(|path| !self.releases.contains(path))
        }
    }

    /// Returns the location of a place in a saved file, which may be open and edited.
    pub(crate) fn location(&self, place: &finding::Location) -> Option<Location> {
        let path = self.project.root().join(&place.file);
        let uri = uris::of_path(&path)?;
        let bytes = place.span.start..place.span.end;
        if let Some(view) = self.documents.get(&uri) {
            let bytes = view.since_save.forward(bytes.start)..view.since_save.forward(bytes.end);
            return Some(Location { uri: view.uri.clone(), range: view.text.range(bytes, self.encoding) });
        }
        let range = self.range_on_disk(&place.file, &path, bytes)?;
        Some(Location { uri, range })
    }

    fn range_on_disk(&self, file: &str, path: &Path, bytes: Range<usize>) -> Option<lsp_types::Range> {
        if let Some(tree) = self.releases.in_file(file) {
            return Some(tree.text.range(bytes, self.encoding));
        }
        let known = self.implementation.as_ref().and_then(|it| it.text(file)).map(str::to_owned);
        let text = known.or_else(|| std::fs::read_to_string(path).ok())?;
        Some(Text::new(text).range(bytes, self.encoding))
    }
}

/// Whether releases and code belong to the document at this path.
pub(crate) fn is_of_project(project: &dyn Project, path: Option<&Path>) -> bool {
    project.document().is_none_or(|document| Some(&*document) == path)
}
