//! Hover: an object as it is written, and where it is implemented.

use document::openapi::Object;
use lsp_types::{Hover, HoverContents, HoverParams, MarkupContent, MarkupKind, TextDocumentPositionParams};

use crate::definition::{in_code, meant};
use crate::place::Place;
use crate::world::World;

/// The greatest number of lines of an object that are shown.
const MAX_LINES: usize = 25;

/// Answers `textDocument/hover`.
pub(crate) fn hover(world: &World, params: &HoverParams) -> Option<Hover> {
    let TextDocumentPositionParams { text_document, position } = &params.text_document_position_params;
    let view = world.view(&text_document.uri)?;
    let place = Place::at(view.tree.as_ref()?, view.offset_in_tree(*position));
    let names_it =
        place.steps.is_empty() || matches!(place.keyword(), Some("name" | "operationId" | "title"));
    let object = match place.target().filter(|_| place.is_on_text()) {
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

/// Returns the first lines of an object with references resolved, from its key on.
fn written(object: Object<'_>) -> String {
    let object = object.resolved().unwrap_or(object);
    let text = object.model().source();
    let (head, end) = (object.span().start, object.node().span.end);
    let line = text[..head].rfind('\n').map_or(0, |before| before + 1);
    let lines: Vec<&str> = text[line..end.max(head)].lines().collect();
    let indent = lines[0].len() - lines[0].trim_start().len();
    let shown = lines.iter().take(MAX_LINES).map(|line| line.get(indent..).unwrap_or_default());
    let more = (lines.len() > MAX_LINES).then_some("...");
    shown.chain(more).collect::<Vec<_>>().join("\n")
}
