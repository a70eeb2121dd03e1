//! What a request is answered from: the documents as they were when the request arrived.

use std::collections::HashMap;
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

use document::finding::{self, Finding};
use lsp_server::ErrorCode;
use lsp_types::{Location, Uri};

use crate::documents::Document;
use crate::project::{Implementation, Project, is_of_project};
use crate::releases::Releases;
use crate::text::Text;
use crate::uris;

/// Why a request has no result: the code and the message of the error.
pub(crate) type Refusal = (ErrorCode, String);

/// Everything that an answer can use.
#[derive(Clone)]
pub(crate) struct World {
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
    pub(crate) documents: HashMap<Uri, Document>,
}

impl World {
    /// The document with this URI.
    pub(crate) fn view(&self, uri: &Uri) -> Option<&Document> {
        self.documents.get(&uris::normal(uri))
    }

    /// The document of the project.
    pub(crate) fn project_view(&self) -> Option<&Document> {
        let path = self.project.document()?;
        self.documents.values().find(|view| view.path.as_ref() == Some(&path))
    }

    /// Whether releases and code belong to this document.
    pub(crate) fn is_of_project(&self, view: &Document) -> bool {
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
            return Some(Location { uri: view.uri.clone(), range: view.text.range(bytes) });
        }
        let range = self.range_on_disk(&place.file, &path, bytes)?;
        Some(Location { uri, range })
    }

    fn range_on_disk(&self, file: &str, path: &Path, bytes: Range<usize>) -> Option<lsp_types::Range> {
        if let Some(tree) = self.releases.in_file(file) {
            return Some(tree.text.range(bytes));
        }
        let known = self.implementation.as_ref().and_then(|it| it.text(file)).map(str::to_owned);
        let text = known.or_else(|| std::fs::read_to_string(path).ok())?;
        Some(Text::new(text).range(bytes))
    }
}
