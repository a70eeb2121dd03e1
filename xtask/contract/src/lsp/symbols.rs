//! Document symbols: paths with their operations, and components with their properties.

use lsp_types::{DocumentSymbol, DocumentSymbolParams, DocumentSymbolResponse, SymbolKind};

use super::world::{View, World};
use crate::openapi::{Kind, Object, Parameter};

/// The limit of symbols of a document.
const MAX_SYMBOLS: usize = 10_000;
/// The number of objects above which only paths, operations and components are shown.
const MAX_OBJECTS: usize = 10_000;

/// Answers `textDocument/documentSymbol`.
pub(super) fn symbols(world: &World, params: &DocumentSymbolParams) -> Option<DocumentSymbolResponse> {
    let view = world.view(&params.text_document.uri)?;
    let tree = view.tree.as_ref()?;
    let mut collector =
        Collector { world, view, left: MAX_SYMBOLS, is_large: tree.model().len() > MAX_OBJECTS };
    let root = tree.model().root();
    Some(DocumentSymbolResponse::Nested(collector.children(root)))
}

struct Collector<'w> {
    world: &'w World,
    view: &'w View,
    left: usize,
    is_large: bool,
}

impl Collector<'_> {
    /// Returns the symbols in an object.
    fn children(&mut self, object: Object<'_>) -> Vec<DocumentSymbol> {
        let mut symbols = Vec::new();
        for part in object.parts() {
            if self.left == 0 {
                break;
            }
            match described(part) {
                Some((name, detail, kind)) => symbols.push(self.symbol(part, name, detail, kind)),
                None if is_container(part) => symbols.extend(self.children(part)),
                None => {}
            }
        }
        symbols
    }

    fn symbol(
        &mut self,
        object: Object<'_>,
        name: String,
        detail: Option<String>,
        kind: SymbolKind,
    ) -> DocumentSymbol {
        self.left -= 1;
        let encoding = self.world.encoding;
        let own = object.span();
        let selection_range = self.view.range(own, encoding);
        let mut whole = object.node().span;
        whole.start = whole.start.min(own.start);
        // The value of an alias is elsewhere.
        if whole.end < own.end || whole.start < own.start {
            whole = own;
        }
        let is_leaf = self.is_large && object.kind() != Kind::PathItem;
        let children = if is_leaf { Vec::new() } else { self.children(object) };
        #[expect(deprecated, reason = "the field of the protocol has no default")]
        DocumentSymbol {
            name,
            detail,
            kind,
            tags: object.flag("deprecated").then(|| vec![lsp_types::SymbolTag::DEPRECATED]),
            deprecated: None,
            range: self.view.range(whole, encoding),
            selection_range,
            children: (!children.is_empty()).then_some(children),
        }
    }
}

/// Whether the parts of an object are shown in place of the object.
fn is_container(object: Object<'_>) -> bool {
    matches!(object.kind(), Kind::Paths | Kind::Components | Kind::Responses)
        || (object.kind() == Kind::Schema
            && matches!(object.keyword(), "items" | "allOf" | "oneOf" | "anyOf"))
}

/// Returns the name, the detail and the kind of a symbol; `None` if the object is not shown. A name must not be empty.
fn described(object: Object<'_>) -> Option<(String, Option<String>, SymbolKind)> {
    let text = |keyword: &str| object.text(keyword).filter(|text| !text.trim().is_empty()).map(str::to_owned);
    let named = |kind| (!object.name().trim().is_empty()).then(|| (object.name().to_owned(), None, kind));
    let is_component = object.parent().is_some_and(|parent| parent.kind() == Kind::Components);
    match object.kind() {
        Kind::PathItem => named(SymbolKind::NAMESPACE),
        Kind::Operation => {
            let name = text("operationId").unwrap_or_else(|| object.name().to_uppercase());
            Some((name, Some(object.name().to_uppercase()), SymbolKind::METHOD))
        }
        Kind::Parameter if !is_component => {
            let parameter = Parameter::new(object)?;
            let name = Some(parameter.name().to_owned()).filter(|name| !name.trim().is_empty())?;
            Some((name, Some(parameter.location().to_owned()), SymbolKind::VARIABLE))
        }
        Kind::Schema if object.keyword() == "properties" => {
            let (name, _, kind) = named(SymbolKind::FIELD)?;
            Some((name, text("type"), kind))
        }
        Kind::Schema if is_component => {
            let kind = if object.has("enum") { SymbolKind::ENUM } else { SymbolKind::STRUCT };
            let (name, _, kind) = named(kind)?;
            Some((name, text("type"), kind))
        }
        Kind::Response if !is_component => named(SymbolKind::EVENT),
        _ if is_component => {
            let (name, _, kind) = named(SymbolKind::OBJECT)?;
            Some((name, Some(object.kind().word().to_owned()), kind))
        }
        _ => None,
    }
}
