//! A document together with its model, to be shared with the thread of the checks.

use checks::breaking::Side;
use document::openapi::Model;
use document::{Document, Unreadable, Value};
use self_cell::self_cell;

self_cell!(
    struct Modelled {
        owner: Document,
        #[covariant]
        dependent: Model,
    }
);

/// A document that could be read, with its model.
pub(crate) struct Tree {
    modelled: Modelled,
}

impl Tree {
    /// Reads a text that is in the file `path`.
    ///
    /// # Errors
    /// When it is not YAML or JSON, or not OpenAPI 3.0.
    pub(crate) fn read(path: &str, text: &str) -> Result<Self, Unreadable> {
        let document = Document::parse(path, text)?;
        Ok(Self { modelled: Modelled::new(document, |document| Model::of(document)) })
    }

    /// The document as a side of a comparison.
    pub(crate) fn side(&self) -> Side<'_> {
        Side { document: self.document(), model: self.model() }
    }

    /// The document.
    pub(crate) fn document(&self) -> &Document {
        self.modelled.borrow_owner()
    }

    /// The model of the document.
    pub(crate) fn model(&self) -> &Model<'_> {
        self.modelled.borrow_dependent()
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
        Ok(node) => {
            matches!(node.value, Value::Mapping(_)) && (node.get("openapi").or(node.get("swagger"))).is_some()
        }
        Err(_) => unreadable.text.lines().take(FIRST_LINES).any(begins),
    }
}
