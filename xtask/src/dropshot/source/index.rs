//! An index of the sources: operations, types, constants and functions, with their positions.

use document::Span;
use syn::ext::IdentExt;
use syn::punctuated::Punctuated;
use syn::spanned::Spanned;
use syn::visit::{self, Visit};
use syn::{Attribute, Expr, Ident, ImplItem, Item, ItemFn, ItemImpl, Lit, MetaNameValue, Token, Visibility};

/// A span in one of the files.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Spot {
    pub(super) file: usize,
    pub(super) span: Span,
}

impl Spot {
    /// Returns the span from the beginning of a node to the end of another.
    fn of(file: usize, first: &impl Spanned, last: &impl Spanned) -> Self {
        let (span, end) = (first.span(), last.span().byte_range().end);
        let (start, line) = (span.byte_range().start, span.start());
        Self { file, span: Span { start, end, line: line.line, column: line.column + 1 } }
    }
}

/// An operation, with its `#[endpoint]` function.
pub(super) struct Endpoint {
    pub(super) id: String,
    pub(super) path: String,
    /// In lower case, as in the document.
    pub(super) method: String,
    pub(super) function: Spot,
    /// The names in its signature, which include those of its types.
    names: Vec<String>,
}

/// A struct or an enum.
pub(super) struct WireType {
    /// The name in Rust.
    pub(super) name: String,
    /// The name that serde gives to it.
    wire: String,
    /// Whether it is public, as schemas are.
    pub(super) public: bool,
    pub(super) spot: Spot,
    /// The traits that are derived or implemented.
    pub(super) traits: Vec<String>,
    /// The fields or variants: the names that serde gives to them, or those in Rust, and the positions.
    members: Vec<(String, Spot)>,
}

impl WireType {
    /// Returns the position of the field or variant with this name in requests and responses.
    pub(super) fn member(&self, wire: &str) -> Option<Spot> {
        self.members.iter().find(|(name, _)| is_same(name, wire)).map(|(_, spot)| *spot)
    }
}

/// The items that findings can refer to.
#[derive(Default)]
pub(super) struct Index {
    pub(super) endpoints: Vec<Endpoint>,
    pub(super) types: Vec<WireType>,
    /// Constants and functions by name, those of an `impl` after the name of its type.
    names: Vec<(String, Spot)>,
}

/// Whether a file may have relevant items. Most have none, and parsing is expensive.
pub(super) fn may_be_relevant(text: &str) -> bool {
    ["JsonSchema", "#[endpoint", "fn headers", "const BASE_PATH", "const SCHEME", "ApiDescription"]
        .iter()
        .any(|mark| text.contains(mark))
}

/// Whether names differ only as the conventions of Rust and JSON do: in case, `-` and `_`.
fn is_same(name: &str, wire: &str) -> bool {
    let folded = |text: &str| text.replace(['-', '_'], "").to_lowercase();
    folded(name) == folded(wire)
}

impl Index {
    /// Returns the operation with this `operationId`.
    pub(super) fn endpoint(&self, id: &str) -> Option<&Endpoint> {
        self.endpoints.iter().find(|endpoint| endpoint.id == id)
    }

    /// Returns the type with this name in `components/schemas`.
    pub(super) fn schema(&self, name: &str) -> Option<&WireType> {
        let named = || self.types.iter().filter(|known| is_same(&known.wire, name));
        // The type of a parameter may have the name of a schema, but is not public.
        named().find(|known| known.public).or_else(|| named().next())
    }

    /// Returns the position of a field of one of the types in the signature of an operation.
    pub(super) fn field(&self, endpoint: &Endpoint, wire: &str) -> Option<Spot> {
        let types = self.types.iter().filter(|known| endpoint.names.contains(&known.name));
        types.filter(|known| !known.public).find_map(|known| known.member(wire))
    }

    /// Returns the position of a constant or function.
    pub(super) fn name(&self, name: &str) -> Option<Spot> {
        self.names.iter().find(|(known, _)| known == name).map(|(_, spot)| *spot)
    }

    /// Adds the items of a file.
    pub(super) fn add(&mut self, file: usize, items: &[Item]) {
        for item in items {
            match item {
                // Tests do not define the API.
                Item::Mod(inner) if inner.ident != "tests" => {
                    self.add(file, inner.content.as_ref().map_or(&[], |(_, items)| items));
                }
                Item::Struct(of) => {
                    let fields = of.fields.iter().filter_map(|field| {
                        let name = field.ident.as_ref()?;
                        Some((wire(&field.attrs, name), Spot::of(file, name, &field.ty)))
                    });
                    self.add_type(file, &of.attrs, &of.vis, &of.ident, fields.collect());
                }
                Item::Enum(of) => {
                    let variants = of.variants.iter().map(|variant| {
                        let name = &variant.ident;
                        (wire(&variant.attrs, name), Spot::of(file, name, name))
                    });
                    self.add_type(file, &of.attrs, &of.vis, &of.ident, variants.collect());
                }
                Item::Impl(block) => self.add_impl(file, block),
                Item::Fn(function) => {
                    let name = &function.sig.ident;
                    self.names.push((name.to_string(), Spot::of(file, name, name)));
                    self.endpoints.extend(endpoint(file, function));
                }
                Item::Const(constant) => {
                    // Includes the value, so that a report underlines it.
                    let spot = Spot::of(file, &constant.ident, &constant.expr);
                    self.names.push((constant.ident.to_string(), spot));
                }
                _ => {}
            }
        }
    }

    fn add_type(
        &mut self,
        file: usize,
        attributes: &[Attribute],
        visibility: &Visibility,
        name: &Ident,
        members: Vec<(String, Spot)>,
    ) {
        self.types.push(WireType {
            name: name.to_string(),
            wire: wire(attributes, name),
            public: matches!(visibility, Visibility::Public(_)),
            spot: Spot::of(file, name, name),
            traits: derives(attributes),
            members,
        });
    }

    fn add_impl(&mut self, file: usize, block: &ItemImpl) {
        let syn::Type::Path(of) = &*block.self_ty else { return };
        let Some(of) = of.path.segments.last().map(|segment| segment.ident.to_string()) else { return };
        let implemented = block.trait_.as_ref().and_then(|(path, _)| path.segments.last());
        // In a file, a type precedes its implementations.
        let known = self.types.iter_mut().rev().find(|known| known.name == of);
        if let Some((implemented, known)) = implemented.zip(known) {
            known.traits.push(implemented.ident.to_string());
        }
        for item in &block.items {
            if let ImplItem::Fn(function) = item {
                let name = &function.sig.ident;
                self.names.push((format!("{of}::{name}"), Spot::of(file, name, name)));
            }
        }
    }
}

/// Returns the operation of a function, if it has one.
fn endpoint(file: usize, function: &ItemFn) -> Option<Endpoint> {
    let attribute = function.attrs.iter().find(|attribute| attribute.path().is_ident("endpoint"))?;
    let pairs = attribute.parse_args_with(Punctuated::<MetaNameValue, Token![,]>::parse_terminated).ok()?;
    let value = |key: &str| pairs.iter().find(|pair| pair.path.is_ident(key)).map(|pair| &pair.value);
    let text = |key: &str| value(key).and_then(text_of);
    let method = match value("method") {
        Some(Expr::Path(method)) => method.path.get_ident().map(Ident::to_string),
        _ => None,
    };
    let (name, mut names) = (&function.sig.ident, Names::default());
    names.visit_signature(&function.sig);
    Some(Endpoint {
        id: text("operation_id").unwrap_or_else(|| name.to_string()),
        path: text("path").unwrap_or_default(),
        method: method.unwrap_or_default().to_lowercase(),
        function: Spot::of(file, name, name),
        names: names.0,
    })
}

#[derive(Default)]
struct Names(Vec<String>);

impl<'ast> Visit<'ast> for Names {
    fn visit_path_segment(&mut self, segment: &'ast syn::PathSegment) {
        self.0.push(segment.ident.to_string());
        visit::visit_path_segment(self, segment);
    }
}

/// Returns the name that serde gives to an item without `rename_all`, whose changes [`is_same`] ignores.
fn wire(attributes: &[Attribute], name: &Ident) -> String {
    let of_serde = attributes.iter().filter(|attribute| attribute.path().is_ident("serde"));
    let settings = of_serde.filter_map(|attribute| {
        attribute.parse_args_with(Punctuated::<syn::Meta, Token![,]>::parse_terminated).ok()
    });
    let renamed = settings.flatten().find_map(|setting| match setting {
        syn::Meta::NameValue(pair) if pair.path.is_ident("rename") => text_of(&pair.value),
        _ => None,
    });
    renamed.unwrap_or_else(|| name.unraw().to_string())
}

fn derives(attributes: &[Attribute]) -> Vec<String> {
    let derives = attributes.iter().filter(|attribute| attribute.path().is_ident("derive"));
    let paths = derives.filter_map(|derive| {
        derive.parse_args_with(Punctuated::<syn::Path, Token![,]>::parse_terminated).ok()
    });
    paths.flatten().filter_map(|path| Some(path.segments.last()?.ident.to_string())).collect()
}

/// Returns the text of a string literal.
fn text_of(expression: &Expr) -> Option<String> {
    match expression {
        Expr::Lit(literal) => match &literal.lit {
            Lit::Str(text) => Some(text.value()),
            _ => None,
        },
        _ => None,
    }
}
