//! Completion: targets of references, and names that the document has.
//!
//! The text is read with a word in the place of what is being written. The place of that word in the model says what can
//! be written there.

use std::collections::BTreeSet;
use std::ops::Range;

use document::openapi::{Kind, Object, Step};
use document::{Node, edits};
use lsp_types::{
    CompletionItem, CompletionItemKind, CompletionParams, CompletionResponse, CompletionTextEdit,
    TextDocumentPositionParams, TextEdit,
};

use crate::documents::{Document, World};
use crate::place::Place;
use crate::tree::Tree;

/// A word that no document has.
const WORD: &str = "written-here-7f3a";

/// Answers `textDocument/completion`.
pub(crate) fn completion(world: &World, params: &CompletionParams) -> Option<CompletionResponse> {
    let TextDocumentPositionParams { text_document, position } = &params.text_document_position;
    let view = world.view(&text_document.uri)?;
    let written = written(view.text.as_str(), view.text.offset(*position));
    let mut found = BTreeSet::new();
    for word in [format!("\"{WORD}\""), format!("\"{WORD}\": null")] {
        let mut text = view.text.as_str().to_owned();
        text.replace_range(written.clone(), &word);
        let Ok(tree) = Tree::read(&view.file(), &text) else { continue };
        let place = Place::at(&tree, written.start);
        match (place.in_key, place.steps.split_last()) {
            (true, Some((Step::Key(WORD), outer))) => {
                found.extend(keys(place.object, outer).map(|key| (key.to_owned(), ":")));
            }
            (false, ..) if place.node.as_str() == Some(WORD) && place.is_on_text() => {
                found.extend(values(&place).into_iter().map(|value| (value, "")));
            }
            _ => {}
        }
        if !found.is_empty() {
            break;
        }
    }
    let items = found.iter().map(|(label, after)| item(view, &written, label, after));
    Some(CompletionResponse::Array(items.collect()))
}

/// Returns the bytes of the key or value around an offset, with its quotes.
fn written(text: &str, offset: usize) -> Range<usize> {
    let is_part = |c: char| c.is_alphanumeric() || "#/_-.$~+*".contains(c);
    let (before, after) = text.split_at(text.floor_char_boundary(offset));
    let mut range =
        before.trim_end_matches(is_part).len()..text.len() - after.trim_start_matches(is_part).len();
    if let Some(quote) = text[..range.start].chars().next_back().filter(|it| matches!(it, '\'' | '"')) {
        range.start -= 1;
        range.end += usize::from(text[range.end..].starts_with(quote));
    }
    range
}

/// Returns the names that mappings of the same meaning have elsewhere: statuses, media types, properties, headers, and the
/// security schemes. The mapping is at the end of these steps in an object.
fn keys<'a>(object: Object<'a>, steps: &[Step<'_>]) -> impl Iterator<Item = &'a str> {
    let model = object.model();
    let (mapping, named): (_, Vec<Object<'a>>) = match (object.kind(), steps) {
        (Kind::Responses, []) => {
            (Some(object.node()), model.all(Kind::Responses).flat_map(|it| it.parts()).collect())
        }
        (Kind::SecurityRequirement, []) => {
            (Some(object.node()), components(object, Kind::SecurityScheme).collect())
        }
        (kind, [Step::Key(keyword)]) => {
            let owners = model.all(kind).flat_map(|it| it.children(keyword));
            (object.get(keyword), owners.filter(|it| it.steps().len() == 2).collect())
        }
        _ => (None, Vec::new()),
    };
    let is_new = move |name: &&str| mapping.is_some_and(|mapping| mapping.get(name).is_none());
    named.into_iter().map(|object| object.name()).filter(is_new)
}

/// Returns the components of a kind.
fn components<'a>(object: Object<'a>, kind: Kind) -> impl Iterator<Item = Object<'a>> {
    let components = object.model().root().child("components");
    components.into_iter().flat_map(|it| it.parts()).filter(move |part| part.kind() == kind)
}

/// Returns what can be the value at a place.
fn values(place: &Place<'_>) -> Vec<String> {
    let (object, model) = (place.object, place.object.model());
    match (object.kind(), &place.steps[..]) {
        (kind, [Step::Key("$ref")]) => {
            let targets = components(object, kind);
            targets.map(|it| format!("#/components/{}/{}", it.keyword(), it.name())).collect()
        }
        (Kind::Link, [Step::Key("operationId")]) => {
            model.operations().filter_map(|it| it.id()).map(str::to_owned).collect()
        }
        (Kind::Operation, [Step::Key("tags"), Step::Item(_)]) => {
            unlisted(object.get("tags"), model.all(Kind::Tag).filter_map(|tag| tag.text("name")))
        }
        (Kind::Schema, [Step::Key("required"), Step::Item(_)]) => {
            unlisted(object.get("required"), object.children("properties").map(|it| it.name()))
        }
        _ => Vec::new(),
    }
}

/// Returns the names that a list does not have yet.
fn unlisted<'a>(list: Option<&Node>, names: impl Iterator<Item = &'a str>) -> Vec<String> {
    let items = list.map_or(&[][..], Node::items);
    let is_new = |name: &&str| !items.iter().any(|item| item.as_str() == Some(name));
    names.filter(is_new).map(str::to_owned).collect()
}

/// Returns a suggestion in place of what is written. `after` follows it, unless it is there.
fn item(view: &Document, written: &Range<usize>, label: &str, after: &str) -> CompletionItem {
    let text = view.text.as_str();
    let (old, rest) = (&text[written.clone()], &text[written.end..]);
    let quoted = edits::written(text, old, label);
    let after = if rest.trim_start_matches(' ').starts_with(':') { "" } else { after };
    let edit = TextEdit { range: view.text.range(written.clone()), new_text: quoted.clone() + after };
    CompletionItem {
        label: label.to_owned(),
        kind: Some(CompletionItemKind::VALUE),
        filter_text: Some(quoted),
        text_edit: Some(CompletionTextEdit::Edit(edit)),
        ..CompletionItem::default()
    }
}
