//! Document symbols: paths with their operations, and components with their properties.

use document::openapi::{Kind, Object, Parameter};
use lsp_types::{DocumentSymbol, DocumentSymbolParams, DocumentSymbolResponse, SymbolKind};

use crate::documents::Document;
use crate::world::World;

/// The limit of symbols of a document.
const MAX_SYMBOLS: usize = 10_000;
/// The levels of symbols by the greatest number of objects of a document: all; paths and operations; only paths, always
/// with components. Most of the time of an answer is that of writing the symbols.
const LEVELS: [(usize, usize); 3] = [(10_000, usize::MAX), (30_000, 2), (usize::MAX, 1)];

/// Answers `textDocument/documentSymbol`.
pub(crate) fn symbols(world: &World, params: &DocumentSymbolParams) -> Option<DocumentSymbolResponse> {
    let view = world.view(&params.text_document.uri)?;
    let tree = view.tree.as_ref()?;
    let number = tree.model().len();
    let levels = LEVELS.iter().find(|(most, _)| number <= *most).map_or(1, |(_, levels)| *levels);
    let mut collector = Collector { view, left: MAX_SYMBOLS, levels };
    let root = tree.model().root();
    Some(DocumentSymbolResponse::Nested(collector.children(root)))
}

struct Collector<'w> {
    view: &'w Document,
    /// The number of symbols that may still be added.
    left: usize,
    /// The number of levels that may still be added below the current object.
    levels: usize,
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
        let own = object.span();
        let selection_range = self.view.range(own);
        let mut whole = object.node().span;
        whole.start = whole.start.min(own.start);
        // The value of an alias is elsewhere.
        if whole.end < own.end || whole.start < own.start {
            whole = own;
        }
        self.levels -= 1;
        let children = if self.levels == 0 { Vec::new() } else { self.children(object) };
        self.levels += 1;
        #[expect(deprecated, reason = "the field of the protocol has no default")]
        DocumentSymbol {
            name,
            detail,
            kind,
            tags: object.flag("deprecated").then(|| vec![lsp_types::SymbolTag::DEPRECATED]),
            deprecated: None,
            range: self.view.range(whole),
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
