//! An index of the sources by the names used in requests and responses.

use document::Span;
use syn::spanned::Spanned;

use super::endpoint::Endpoint;
use super::reader::Word;
use super::types::WireType;

/// A span in one of the files.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Spot {
    pub(super) file: usize,
    pub(super) span: Span,
}

impl Spot {
    pub(super) fn of(file: usize, node: &impl Spanned) -> Self {
        let span = node.span();
        let (range, start) = (span.byte_range(), span.start());
        Self {
            file,
            span: Span { start: range.start, end: range.end, line: start.line, column: start.column + 1 },
        }
    }
}

/// The items that findings can refer to.
#[derive(Default)]
pub(super) struct Index {
    pub(super) endpoints: Vec<Endpoint>,
    pub(super) types: Vec<WireType>,
    /// Free constants and functions, by name.
    pub(super) names: Vec<(String, Spot)>,
    /// Literals and names inside functions and constants.
    pub(super) words: Vec<Word>,
}

/// Whether a file may have relevant items. Most have none, and parsing is expensive.
pub(super) fn may_be_relevant(text: &str) -> bool {
    ["JsonSchema", "#[endpoint", "Code::", "fn headers", "const BASE_PATH", "const SCHEME", "ApiDescription"]
        .iter()
        .any(|mark| text.contains(mark))
}

impl Index {
    /// Returns the operation with this `operationId`.
    pub(super) fn endpoint(&self, id: &str) -> Option<&Endpoint> {
        self.endpoints.iter().find(|endpoint| endpoint.id == id)
    }

    /// Returns the type with this name in Rust.
    pub(super) fn rust_type(&self, name: &str) -> Option<&WireType> {
        self.types.iter().find(|known| known.name == name)
    }

    /// Returns the type with this name in `components/schemas`.
    pub(super) fn schema(&self, name: &str) -> Option<&WireType> {
        let mut named = self.types.iter().filter(|known| known.wire == name);
        // The type of a parameter may have the name of a schema, but is not public.
        named.clone().find(|known| known.public).or_else(|| named.next())
    }

    /// Returns the position of the first matching word.
    pub(super) fn word(&self, wanted: impl Fn(&Word) -> bool) -> Option<Spot> {
        self.words.iter().find(|word| wanted(word)).map(|word| word.spot)
    }

    /// Returns the position of a constant or function.
    pub(super) fn name(&self, name: &str) -> Option<Spot> {
        self.names.iter().find(|(known, _)| known == name).map(|(_, spot)| *spot)
    }
}
