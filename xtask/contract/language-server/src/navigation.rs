//! Hover, go to definition and find references: along references, by names, and from the document to the code.

use checks::finding;
use document::edits::uses;
use document::openapi::{Kind, Object};
use lsp_types::{
    GotoDefinitionParams, GotoDefinitionResponse, Hover, HoverContents, HoverParams, Location, MarkupContent,
    MarkupKind, ReferenceParams,
};

use crate::documents::{Document, World};
use crate::place::Place;

/// The greatest number of lines of an object that hover shows.
const MAX_LINES: usize = 25;
/// The greatest number of bytes: a whole document in JSON can be one line.
const MAX_BYTES: usize = 4_000;

/// Answers `textDocument/hover`: an object as it is written, and where it is implemented.
pub(crate) fn hover(world: &World, params: &HoverParams) -> Option<Hover> {
    let (view, place) = world.place(&params.text_document_position_params)?;
    let names_it =
        place.steps.is_empty() || matches!(place.keyword(), Some("name" | "operationId" | "title"));
    let object = match place.target() {
        Some(target) => target,
        None => meant(&place).filter(|_| names_it)?,
    };
    let mut value = format!("**{}**\n\n```yaml\n{}\n```", object.subject(), written(object));
    if let Some(source) = in_code(world, view, object) {
        value += &format!("\n\nimplemented in `{}:{}`", source.file, source.span.line);
    }
    let contents = HoverContents::Markup(MarkupContent { kind: MarkupKind::Markdown, value });
    Some(Hover { contents, range: Some(view.range(place.span)) })
}

/// Answers `textDocument/definition`.
pub(crate) fn definition(world: &World, params: &GotoDefinitionParams) -> Option<GotoDefinitionResponse> {
    let (view, place) = world.place(&params.text_document_position_params)?;
    let locations = match place.target() {
        Some(target) => view.locations([target.span()].into_iter()),
        None => vec![world.location(&in_code(world, view, meant(&place)?)?)?],
    };
    Some(GotoDefinitionResponse::Array(locations))
}

/// Answers `textDocument/references`, of components, operations and tags.
pub(crate) fn references(world: &World, params: &ReferenceParams) -> Option<Vec<Location>> {
    let (view, place) = world.place(&params.text_document_position)?;
    let object = place.named()?;
    let declared = params.context.include_declaration.then(|| object.span());
    Some(view.locations(declared.into_iter().chain(uses(object).into_iter().map(|used| used.span))))
}

/// Returns the object that a key or value stands for: the object that the key opens, or else the one that contains it.
fn meant<'a>(place: &Place<'a>) -> Option<Object<'a>> {
    let shown = |object: &Object<'_>| !matches!(object.kind(), Kind::OpenApi | Kind::Info | Kind::Paths);
    place.is_on_text().then_some(place.object).filter(shown)
}

/// Returns the place in the code of an object. The code of a component is that of its first use that has code.
fn in_code(world: &World, view: &Document, object: Object<'_>) -> Option<finding::Location> {
    // Examples are not implemented.
    if world.project.document() != view.path || object.within(Kind::Example).is_some() {
        return None;
    }
    let locate = world.implementation.as_ref()?;
    let uses = |user: &Object<'_>| user.is_reference() && user.resolved() == Some(object);
    let users = object.model().everything().filter(uses);
    std::iter::once(object).chain(users).find_map(|object| locate(&object.subject()))
}

/// Returns the first lines of an object with references resolved, with its key.
fn written(object: Object<'_>) -> String {
    let object = object.resolved().unwrap_or(object);
    let text = object.model().source();
    let (head, end) = (object.span().start, object.node().span.end);
    let line = text[..head].rfind('\n').map_or(0, |before| before + 1);
    let start = match text[line..head].trim().is_empty() {
        // The value of an alias is at its anchor.
        _ if end <= head => object.node().span.start,
        true => line,
        false => head,
    };
    let written = &text[start..end];
    let shown = &written[..written.floor_char_boundary(MAX_BYTES)];
    let indent = shown.len() - shown.trim_start().len();
    let lines = shown.lines().take(MAX_LINES).map(|line| line.get(indent..).unwrap_or_default());
    let is_whole = shown.len() == written.len() && shown.lines().nth(MAX_LINES).is_none();
    lines.chain((!is_whole).then_some("...")).collect::<Vec<_>>().join("\n")
}
