//! Hover: an object as it is written, and where it is implemented.

use document::openapi::Object;
use lsp_types::{Hover, HoverContents, HoverParams, MarkupContent, MarkupKind};

use crate::definition::{in_code, meant};
use crate::world::World;

/// The greatest number of lines of an object that are shown.
const MAX_LINES: usize = 25;
/// The greatest number of bytes: a whole document in JSON can be one line.
const MAX_BYTES: usize = 4_000;

/// Answers `textDocument/hover`.
pub(crate) fn hover(world: &World, params: &HoverParams) -> Option<Hover> {
    let (view, place) = world.place(&params.text_document_position_params)?;
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
