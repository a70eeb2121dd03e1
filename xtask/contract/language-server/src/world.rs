//! What requests are answered from: the documents that are open, and the project.

use std::collections::HashMap;
use std::sync::Arc;

use checks::finding;
use document::Span;
use lsp_server::ErrorCode;
use lsp_types::{Location, Position, Range, TextDocumentPositionParams, Uri};

use crate::documents::Document;
use crate::place::Place;
use crate::project::{Locate, Project};
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
