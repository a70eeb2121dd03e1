//! What is said inside of functions and constants: literals, the keywords of schemas, codes of errors.

use syn::visit::{self, Visit};
use syn::{
    Arm, ExprPath, FieldValue, ImplItemConst, ImplItemFn, ItemConst, ItemFn, ItemImpl, LitStr, Member, Type,
};

use super::index::Spot;
use super::types::last_ident;

/// Something that is said, and where.
pub(super) struct Word {
    /// The text of a literal, the name of a field of a struct expression, or the last name of a path.
    pub(super) text: String,
    /// Whether it is a string literal.
    pub(super) literal: bool,
    pub(super) spot: Spot,
    /// The function or constant that it stands in.
    pub(super) within: String,
    /// The type whose implementation that is, if it is one.
    pub(super) owner: String,
    /// The variants that the arm it stands in is for.
    pub(super) arm: Vec<String>,
}

impl Word {
    /// Whether it is the name of a header in a function `headers`.
    pub(super) fn is_header(&self, name: &str) -> bool {
        self.literal && self.within == "headers" && self.text.eq_ignore_ascii_case(name)
    }
}

/// Collects them.
pub(super) struct Words {
    file: usize,
    within: Vec<String>,
    owner: String,
    arm: Vec<String>,
    pub(super) found: Vec<Word>,
}

impl Words {
    pub(super) fn new(file: usize) -> Self {
        Self { file, within: Vec::new(), owner: String::new(), arm: Vec::new(), found: Vec::new() }
    }

    fn say(&mut self, text: String, literal: bool, spot: Spot) {
        self.found.push(Word {
            text,
            literal,
            spot,
            within: self.within.first().cloned().unwrap_or_default(),
            owner: self.owner.clone(),
            arm: self.arm.clone(),
        });
    }

    fn inside(&mut self, name: String, read: impl FnOnce(&mut Self)) {
        self.within.push(name);
        read(self);
        self.within.pop();
    }
}

impl<'ast> Visit<'ast> for Words {
    fn visit_item_mod(&mut self, item: &'ast syn::ItemMod) {
        // Tests say nothing over the wire.
        if item.ident != "tests" {
            visit::visit_item_mod(self, item);
        }
    }

    fn visit_attribute(&mut self, _: &'ast syn::Attribute) {
        // Comments are attributes too.
    }

    fn visit_item_impl(&mut self, item: &'ast ItemImpl) {
        let Type::Path(_) = &*item.self_ty else { return };
        self.owner = last_ident(&item.self_ty).unwrap_or_default();
        visit::visit_item_impl(self, item);
        self.owner.clear();
    }

    fn visit_item_fn(&mut self, item: &'ast ItemFn) {
        self.inside(item.sig.ident.to_string(), |this| visit::visit_item_fn(this, item));
    }

    fn visit_impl_item_fn(&mut self, item: &'ast ImplItemFn) {
        self.inside(item.sig.ident.to_string(), |this| visit::visit_impl_item_fn(this, item));
    }

    fn visit_item_const(&mut self, item: &'ast ItemConst) {
        self.inside(item.ident.to_string(), |this| visit::visit_item_const(this, item));
    }

    fn visit_impl_item_const(&mut self, item: &'ast ImplItemConst) {
        self.inside(item.ident.to_string(), |this| visit::visit_impl_item_const(this, item));
    }

    fn visit_arm(&mut self, arm: &'ast Arm) {
        let mut variants = Variants(Vec::new());
        variants.visit_pat(&arm.pat);
        for (name, span) in &variants.0 {
            self.say(name.clone(), false, Spot::at(self.file, *span));
        }
        let names = variants.0.into_iter().map(|(name, _)| name).collect();
        let before = std::mem::replace(&mut self.arm, names);
        self.visit_expr(&arm.body);
        self.arm = before;
    }

    fn visit_field_value(&mut self, field: &'ast FieldValue) {
        if let Member::Named(name) = &field.member {
            self.say(name.to_string(), false, Spot::of(self.file, field));
        }
        visit::visit_field_value(self, field);
    }

    fn visit_lit_str(&mut self, literal: &'ast LitStr) {
        self.say(literal.value(), true, Spot::of(self.file, literal));
    }

    fn visit_expr_path(&mut self, path: &'ast ExprPath) {
        if path.path.segments.len() > 1
            && let Some(segment) = path.path.segments.last()
        {
            self.say(segment.ident.to_string(), false, Spot::of(self.file, path));
        }
        visit::visit_expr_path(self, path);
    }
}

/// The last names of the paths in a pattern.
struct Variants(Vec<(String, proc_macro2::Span)>);

impl<'ast> Visit<'ast> for Variants {
    fn visit_path(&mut self, path: &'ast syn::Path) {
        self.0.extend(path.segments.last().map(|segment| (segment.ident.to_string(), segment.ident.span())));
    }
}
