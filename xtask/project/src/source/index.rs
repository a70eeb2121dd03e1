//! An index of the sources: operations, types, constants and functions, with their positions.

use checks::finding::Location;
use document::Span;
use proc_macro2::{TokenStream, TokenTree};
use quote::ToTokens;
use syn::ext::IdentExt;
use syn::spanned::Spanned;
use syn::{Attribute, Expr, Ident, ImplItem, Item, ItemFn, ItemImpl, Lit, LitStr, Stmt, Visibility};

/// An operation, with its function.
pub(super) struct Endpoint {
    pub(super) id: String,
    pub(super) path: String,
    /// In lower case, as in the document.
    pub(super) method: String,
    pub(super) function: Location,
}

/// A struct or an enum.
pub(super) struct WireType {
    /// The name that serde gives to it.
    wire: String,
    /// Whether it is public, as schemas are.
    pub(super) public: bool,
    pub(super) place: Location,
    /// The fields or variants: the names that serde gives to them, or those in Rust, and the positions.
    members: Vec<(String, Location)>,
}

impl WireType {
    /// Returns the position of the field or variant with this name in requests and responses.
    pub(super) fn member(&self, wire: &str) -> Option<&Location> {
        self.members.iter().find(|(name, _)| is_same(name, wire)).map(|(_, place)| place)
    }
}

/// The function that names the headers of every response.
pub(super) const RESPONSE_HEADERS: &str = "response_headers";

/// The items that findings can refer to.
#[derive(Default)]
pub(super) struct Index {
    pub(super) endpoints: Vec<Endpoint>,
    pub(super) types: Vec<WireType>,
    /// Constants and functions by name, those of an `impl` after the name of its type.
    names: Vec<(String, Location)>,
    /// The names of the headers of every response, in lower case.
    response_headers: Vec<String>,
}

/// Whether a file may have relevant items. Most have none, and parsing is expensive.
pub(super) fn may_be_relevant(text: &str) -> bool {
    let marks = [
        "JsonSchema",
        "Operation::new",
        RESPONSE_HEADERS,
        "fn headers",
        "const BASE_PATH",
        "const SCHEME",
        "fn all()",
    ];
    marks.iter().any(|mark| text.contains(mark))
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

    /// Returns the position of a field of one of the types of an operation, which are private in its file.
    pub(super) fn field(&self, endpoint: &Endpoint, wire: &str) -> Option<&Location> {
        let types = self.types.iter().filter(|known| known.place.file == endpoint.function.file);
        types.filter(|known| !known.public).find_map(|known| known.member(wire))
    }

    /// Returns the position of a constant or function.
    pub(super) fn name(&self, name: &str) -> Option<&Location> {
        self.names.iter().find(|(known, _)| known == name).map(|(_, place)| place)
    }

    /// Whether every response has this header.
    pub(super) fn is_in_every_response(&self, header: &str) -> bool {
        self.response_headers.contains(&header.to_lowercase())
    }

    /// Adds the items of a file.
    pub(super) fn add(&mut self, file: &str, items: &[Item]) {
        for item in items {
            match item {
                // Tests do not define the API.
                Item::Mod(inner) if inner.ident != "tests" => {
                    self.add(file, inner.content.as_ref().map_or(&[], |(_, items)| items));
                }
                Item::Struct(of) => {
                    let fields = of.fields.iter().filter_map(|field| {
                        let name = field.ident.as_ref()?;
                        Some((wire(&field.attrs, name), place(file, name, &field.ty)))
                    });
                    self.add_type(file, &of.attrs, &of.vis, &of.ident, fields.collect());
                }
                Item::Enum(of) => {
                    let variants = of.variants.iter().map(|variant| {
                        let name = &variant.ident;
                        (wire(&variant.attrs, name), place(file, name, name))
                    });
                    self.add_type(file, &of.attrs, &of.vis, &of.ident, variants.collect());
                }
                Item::Impl(block) => self.add_impl(file, block),
                Item::Fn(function) => {
                    let name = &function.sig.ident;
                    self.names.push((name.to_string(), place(file, name, name)));
                    self.endpoints.extend(endpoint(file, function, items));
                    if name == RESPONSE_HEADERS {
                        self.response_headers = strings(function.block.to_token_stream());
                    }
                }
                Item::Const(constant) => {
                    // Includes the value, so that a report underlines it.
                    let place = place(file, &constant.ident, &constant.expr);
                    self.names.push((constant.ident.to_string(), place));
                }
                _ => {}
            }
        }
    }

    fn add_type(
        &mut self,
        file: &str,
        attributes: &[Attribute],
        visibility: &Visibility,
        name: &Ident,
        members: Vec<(String, Location)>,
    ) {
        self.types.push(WireType {
            wire: wire(attributes, name),
            public: matches!(visibility, Visibility::Public(_)),
            place: place(file, name, name),
            members,
        });
    }

    fn add_impl(&mut self, file: &str, block: &ItemImpl) {
        let syn::Type::Path(of) = &*block.self_ty else { return };
        let Some(of) = of.path.segments.last().map(|segment| &segment.ident) else { return };
        for item in &block.items {
            if let ImplItem::Fn(function) = item {
                let name = &function.sig.ident;
                self.names.push((format!("{of}::{name}"), place(file, name, name)));
            }
        }
    }
}

/// Returns the place from the beginning of a node to the end of another.
fn place(file: &str, first: &impl Spanned, last: &impl Spanned) -> Location {
    let (span, end) = (first.span(), last.span().byte_range().end);
    let (start, line) = (span.byte_range().start, span.start());
    let span = Span { start, end, line: line.line, column: line.column + 1 };
    Location { file: file.to_owned(), span, ..Location::default() }
}

/// Returns the operation that a function ends with, such as `Operation::new(Method::GET, "/pets", "listPets", list_pets)`
/// and calls of methods. `items` are those of its file.
fn endpoint(file: &str, function: &ItemFn, items: &[Item]) -> Option<Endpoint> {
    let Some(Stmt::Expr(mut expression, None)) = function.block.stmts.last().cloned() else { return None };
    while let Expr::MethodCall(call) = expression {
        expression = *call.receiver;
    }
    let Expr::Call(call) = expression else { return None };
    let [method, path, id, run] = call.args.iter().collect::<Vec<_>>().try_into().ok()?;
    if call.func.to_token_stream().to_string() != "Operation :: new" {
        return None;
    }
    let run = last_name(run)?;
    let runs = items.iter().find_map(|item| match item {
        Item::Fn(function) if function.sig.ident == run => Some(&function.sig.ident),
        _ => None,
    });
    let name = runs.unwrap_or(&function.sig.ident);
    Some(Endpoint {
        id: text(id)?,
        path: text(path)?,
        method: last_name(method)?.to_lowercase(),
        function: place(file, name, name),
    })
}

/// Returns the last name of a path, such as `GET` of `Method::GET`.
fn last_name(expression: &Expr) -> Option<String> {
    let Expr::Path(path) = expression else { return None };
    path.path.segments.last().map(|segment| segment.ident.to_string())
}

/// Returns the texts in code, in lower case.
fn strings(code: TokenStream) -> Vec<String> {
    let of_one = |token| match token {
        TokenTree::Group(group) => strings(group.stream()),
        TokenTree::Literal(literal) => {
            let text = syn::parse_str::<LitStr>(&literal.to_string());
            text.iter().map(|text| text.value().to_lowercase()).collect()
        }
        _ => Vec::new(),
    };
    code.into_iter().flat_map(of_one).collect()
}

/// Returns the text of a string.
fn text(expression: &Expr) -> Option<String> {
    match expression {
        Expr::Lit(literal) => match &literal.lit {
            Lit::Str(text) => Some(text.value()),
            _ => None,
        },
        _ => None,
    }
}

/// Returns the name that serde gives to an item without `rename_all`, whose changes [`is_same`] ignores.
fn wire(attributes: &[Attribute], name: &Ident) -> String {
    let mut of_serde = attributes.iter().filter(|attribute| attribute.path().is_ident("serde"));
    of_serde.find_map(|of| setting(of, "rename")).unwrap_or_else(|| name.unraw().to_string())
}

/// Returns the value of a setting in an attribute: a name, or the text of a string without escapes.
fn setting(attribute: &Attribute, key: &str) -> Option<String> {
    // Tokens have one space between them, and the strings of settings have none.
    let tokens = attribute.meta.to_token_stream().to_string();
    let (_, value) = tokens.split_once(&format!("{key} = "))?;
    value.trim_start_matches('"').split(['"', ' ', ',']).next().map(str::to_owned)
}
