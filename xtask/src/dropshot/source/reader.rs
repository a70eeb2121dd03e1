//! Adds source files to the index: declarations, and literals and names inside functions and constants.

use syn::visit::{self, Visit};
use syn::{
    ExprPath, FieldValue, Ident, ImplItemConst, ImplItemFn, ItemConst, ItemEnum, ItemFn, ItemImpl, ItemMod,
    ItemStruct, LitStr, Member,
};

use super::endpoint::Endpoint;
use super::index::{Index, Spot};
use super::types::{WireType, last_ident};

/// A string literal, a field name of a struct expression, or the last segment of a path.
pub(super) struct Word {
    pub(super) text: String,
    /// Whether it is a string literal.
    pub(super) literal: bool,
    pub(super) spot: Spot,
    /// The enclosing function or constant.
    pub(super) within: String,
    /// The type of the enclosing `impl`, if there is one.
    pub(super) owner: String,
}

impl Word {
    /// Whether it is the name of a header in a function called `headers`.
    pub(super) fn is_header(&self, name: &str) -> bool {
        self.literal && self.within == "headers" && self.text.eq_ignore_ascii_case(name)
    }
}

/// Adds a file to an index.
pub(super) struct Reader<'i> {
    index: &'i mut Index,
    file: usize,
    within: Vec<String>,
    owner: String,
}

impl<'i> Reader<'i> {
    pub(super) fn new(index: &'i mut Index, file: usize) -> Self {
        Self { index, file, within: Vec::new(), owner: String::new() }
    }

    fn add_word(&mut self, text: String, literal: bool, spot: Spot) {
        self.index.words.push(Word {
            text,
            literal,
            spot,
            within: self.within.first().cloned().unwrap_or_default(),
            owner: self.owner.clone(),
        });
    }

    fn inside(&mut self, name: &Ident, read: impl FnOnce(&mut Self)) {
        self.within.push(name.to_string());
        read(self);
        self.within.pop();
    }
}

impl<'ast> Visit<'ast> for Reader<'_> {
    fn visit_item_mod(&mut self, item: &'ast ItemMod) {
        // Tests do not define the API.
        if item.ident != "tests" {
            visit::visit_item_mod(self, item);
        }
    }

    fn visit_attribute(&mut self, _: &'ast syn::Attribute) {
        // Skipped, because doc comments are attributes with string literals.
    }

    fn visit_item_struct(&mut self, item: &'ast ItemStruct) {
        self.index.types.push(WireType::of_struct(self.file, item));
    }

    fn visit_item_enum(&mut self, item: &'ast ItemEnum) {
        self.index.types.push(WireType::of_enum(self.file, item));
    }

    fn visit_item_impl(&mut self, item: &'ast ItemImpl) {
        let first = self.index.words.len();
        self.owner = last_ident(&item.self_ty).unwrap_or_default();
        visit::visit_item_impl(self, item);
        let implemented = item.trait_.as_ref().and_then(|(path, _)| path.segments.last());
        // In a file, a type precedes its implementations.
        let known = self.index.types.iter_mut().rev().find(|known| known.name == self.owner);
        if let Some((implemented, known)) = implemented.zip(known) {
            known.traits.push(implemented.ident.to_string());
            if implemented.ident == "JsonSchema" {
                known.hand_written = true;
                let mut words = self.index.words[first..].iter();
                let name = words.find(|word| word.literal && word.within == "schema_name");
                known.wire = name.map_or_else(|| known.wire.clone(), |word| word.text.clone());
            }
        }
        self.owner.clear();
    }

    fn visit_item_fn(&mut self, item: &'ast ItemFn) {
        let name = &item.sig.ident;
        self.index.names.push((name.to_string(), Spot::of(self.file, name)));
        self.index.endpoints.extend(Endpoint::read(self.file, item));
        self.inside(name, |this| visit::visit_item_fn(this, item));
    }

    fn visit_impl_item_fn(&mut self, item: &'ast ImplItemFn) {
        self.inside(&item.sig.ident, |this| visit::visit_impl_item_fn(this, item));
    }

    fn visit_item_const(&mut self, item: &'ast ItemConst) {
        // Includes the value, so that a report underlines it.
        let mut spot = Spot::of(self.file, &item.ident);
        spot.span.end = Spot::of(self.file, &item.expr).span.end;
        self.index.names.push((item.ident.to_string(), spot));
        self.inside(&item.ident, |this| visit::visit_item_const(this, item));
    }

    fn visit_impl_item_const(&mut self, item: &'ast ImplItemConst) {
        self.inside(&item.ident, |this| visit::visit_impl_item_const(this, item));
    }

    fn visit_field_value(&mut self, field: &'ast FieldValue) {
        if let Member::Named(name) = &field.member {
            self.add_word(name.to_string(), false, Spot::of(self.file, field));
        }
        visit::visit_field_value(self, field);
    }

    fn visit_lit_str(&mut self, literal: &'ast LitStr) {
        self.add_word(literal.value(), true, Spot::of(self.file, literal));
    }

    fn visit_expr_path(&mut self, path: &'ast ExprPath) {
        if path.path.segments.len() > 1
            && let Some(segment) = path.path.segments.last()
        {
            self.add_word(segment.ident.to_string(), false, Spot::of(self.file, path));
        }
        visit::visit_expr_path(self, path);
    }
}
