//! What stands where in the sources, by the names that go over the wire.

use contract::document::Span;
use syn::spanned::Spanned;
use syn::visit::{self, Visit};
use syn::{Item, ItemConst, ItemEnum, ItemFn, ItemImpl, ItemStruct};

use super::endpoint::Endpoint;
use super::types::{WireType, last_ident};
use super::words::{Word, Words};

/// A place in one of the files.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Spot {
    pub(super) file: usize,
    pub(super) span: Span,
}

impl Spot {
    pub(super) fn of(file: usize, node: &impl Spanned) -> Self {
        Self::at(file, node.span())
    }

    pub(super) fn at(file: usize, span: proc_macro2::Span) -> Self {
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
    ["JsonSchema", "#[endpoint", "Code::", "HeaderField", "const BASE_PATH", "const SCHEME"]
        .iter()
        .any(|mark| text.contains(mark))
}

impl Index {
    pub(super) fn add(&mut self, file: usize, parsed: &syn::File) {
        Reader { index: self, file }.visit_file(parsed);
        let mut words = Words::new(file);
        words.visit_file(parsed);
        self.words.extend(words.found);
    }

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

struct Reader<'i> {
    index: &'i mut Index,
    file: usize,
}

impl<'ast> Visit<'ast> for Reader<'_> {
    fn visit_item(&mut self, item: &'ast Item) {
        // Tests say nothing over the wire.
        if !matches!(item, Item::Mod(module) if module.ident == "tests") {
            visit::visit_item(self, item);
        }
    }

    fn visit_item_fn(&mut self, function: &'ast ItemFn) {
        let spot = Spot::of(self.file, &function.sig.ident);
        self.index.names.push((function.sig.ident.to_string(), spot));
        self.index.endpoints.extend(Endpoint::read(self.file, function));
        visit::visit_item_fn(self, function);
    }

    fn visit_item_const(&mut self, constant: &'ast ItemConst) {
        // From the name to the value, so that the value is underlined too.
        let name = Spot::of(self.file, &constant.ident);
        let value = Spot::of(self.file, &constant.expr);
        let spot = Spot { file: self.file, span: Span { end: value.span.end, ..name.span } };
        self.index.names.push((constant.ident.to_string(), spot));
        visit::visit_item_const(self, constant);
    }

    fn visit_item_struct(&mut self, item: &'ast ItemStruct) {
        self.index.types.push(WireType::of_struct(self.file, item));
    }

    fn visit_item_enum(&mut self, item: &'ast ItemEnum) {
        self.index.types.push(WireType::of_enum(self.file, item));
    }

    fn visit_item_impl(&mut self, item: &'ast ItemImpl) {
        let implemented = item.trait_.as_ref().and_then(|(path, _)| path.segments.last());
        let name = last_ident(&item.self_ty);
        // A type stands before its implementations, in the file that has both.
        let known = self.index.types.iter_mut().rev().find(|known| Some(&known.name) == name.as_ref());
        if let (Some(implemented), Some(known)) = (implemented, known) {
            known.traits.push(implemented.ident.to_string());
            if implemented.ident == "JsonSchema" {
                known.hand_written = true;
                let mut words = Words::new(self.file);
                words.visit_item_impl(item);
                let name = words.found.into_iter().find(|word| word.literal && word.within == "schema_name");
                known.wire = name.map_or_else(|| known.wire.clone(), |word| word.text);
            }
        }
        visit::visit_item_impl(self, item);
    }
}
