//! What stands where in the sources, by the names that go over the wire.

use contract::document::Span;
use syn::spanned::Spanned;

use super::endpoint::Endpoint;
use super::reader::Word;
use super::types::WireType;

/// A place in one of the files.
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

/// Everything that findings can be about.
#[derive(Default)]
pub(super) struct Index {
    pub(super) endpoints: Vec<Endpoint>,
    pub(super) types: Vec<WireType>,
    /// Constants and functions that stand on their own, by name.
    pub(super) names: Vec<(String, Spot)>,
    /// What is said inside of functions and constants.
    pub(super) words: Vec<Word>,
}

/// Whether a file can hold anything of interest: most cannot, and parsing is what costs.
pub(super) fn matters(text: &str) -> bool {
    ["JsonSchema", "#[endpoint", "Code::", "HeaderField", "const BASE_PATH", "const SCHEME", "ApiDescription"]
        .iter()
        .any(|mark| text.contains(mark))
}

impl Index {
    /// The operation with this `operationId`.
    pub(super) fn endpoint(&self, id: &str) -> Option<&Endpoint> {
        self.endpoints.iter().find(|endpoint| endpoint.id == id)
    }

    /// The type with this name in Rust.
    pub(super) fn rust_type(&self, name: &str) -> Option<&WireType> {
        self.types.iter().find(|known| known.name == name)
    }

    /// The type with this name in `components/schemas`.
    pub(super) fn schema(&self, name: &str) -> Option<&WireType> {
        let mut named = self.types.iter().filter(|known| known.wire == name);
        // A parameter's type may have the name of a schema, but does not become one.
        named.clone().find(|known| known.public).or_else(|| named.next())
    }

    /// The first word of this kind.
    pub(super) fn word(&self, wanted: impl Fn(&Word) -> bool) -> Option<Spot> {
        self.words.iter().find(|word| wanted(word)).map(|word| word.spot)
    }

    /// A constant or a function.
    pub(super) fn name(&self, name: &str) -> Option<Spot> {
        self.names.iter().find(|(known, _)| known == name).map(|(_, spot)| *spot)
    }
}
