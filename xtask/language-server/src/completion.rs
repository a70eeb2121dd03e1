//! Completion: keywords, their values, targets of references, and names that the document has.
//!
//! The text is read with a word in the place of what is being written. The place of that word in the model says what can
//! be written there.

use std::collections::BTreeSet;
use std::ops::Range;

use document::openapi::{Keys, Kind, Object, Shape, Step};
use lsp_types::{
    CompletionItem, CompletionItemKind, CompletionParams, CompletionResponse, CompletionTextEdit,
    TextDocumentPositionParams, TextEdit,
};

use crate::documents::Document;
use crate::place::Place;
use crate::tree::Tree;
use crate::world::World;

/// A word that no document has.
const WORD: &str = "written-here-7f3a";

/// What can be written.
#[derive(Default)]
struct Choices<'a> {
    /// Keys of a mapping, each with the text after its colon.
    keys: Vec<(&'a str, &'static str)>,
    values: Vec<String>,
}

/// Answers `textDocument/completion`.
pub(crate) fn completion(world: &World, params: &CompletionParams) -> Option<CompletionResponse> {
    let TextDocumentPositionParams { text_document, position } = &params.text_document_position;
    let view = world.view(&text_document.uri)?;
    let written = written(view.text.as_str(), view.text.offset(*position));
    let tree = with_word(view, &written)?;
    let place = Place::at(&tree, written.start);
    if !place.is_on_text() {
        return None;
    }
    let choices = if place.in_key && place.entry?.key == WORD {
        let (_, outer) = place.steps.split_last()?;
        Choices { keys: keys(&place, outer, &shape_at(place.object.kind(), outer)?), values: Vec::new() }
    } else if place.node.as_str() == Some(WORD) && !place.in_key {
        values(&place)
    } else {
        return None;
    };
    let keys = choices.keys.into_iter().map(|(key, after)| item(view, &written, key, Some(after)));
    let values = choices.values.iter().map(|value| item(view, &written, value, None));
    Some(CompletionResponse::Array(keys.chain(values).collect()))
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

/// Returns the document with [`WORD`] as a value, or else as a key.
fn with_word(view: &Document, written: &Range<usize>) -> Option<Tree> {
    [format!("\"{WORD}\""), format!("\"{WORD}\": null")].iter().find_map(|word| {
        let mut text = view.text.as_str().to_owned();
        text.replace_range(written.clone(), word);
        Tree::read(&view.file(), &text).ok()
    })
}

/// Returns the type of the value at the end of these steps in an object.
fn shape_at(kind: Kind, steps: &[Step<'_>]) -> Option<Shape> {
    let of_table = |kind: Kind, key: &str| {
        let table = kind.table();
        let known = table.keywords.iter().find(|(keyword, ..)| *keyword == key);
        known.map(|(.., shape)| shape).or((table.others.0 != Keys::Extensions).then_some(&table.others.1))
    };
    steps.iter().try_fold(Shape::Object(kind), |shape, step| match (shape, step) {
        (Shape::List(inner), Step::Item(_)) | (Shape::Map(_, inner), Step::Key(_)) => Some(*inner),
        (shape, Step::Key(key)) => of_table(kind_of(&shape)?, key).copied(),
        _ => None,
    })
}

fn kind_of(shape: &Shape) -> Option<Kind> {
    match shape {
        Shape::Object(kind) | Shape::Either(kind) => Some(*kind),
        Shape::SchemaOrBoolean => Some(Kind::Schema),
        _ => None,
    }
}

/// Returns the keys of a mapping of this shape, at the end of these steps in the object of a place.
fn keys<'a>(place: &Place<'a>, steps: &[Step<'_>], shape: &Shape) -> Vec<(&'a str, &'static str)> {
    let object = place.object;
    let present = |key: &str| steps.is_empty() && object.has(key);
    let mut keys: Vec<_> = names(object, steps, shape).into_iter().map(|name| (name, ":")).collect();
    if let Some(kind) = kind_of(shape) {
        keys.extend(components(object, kind).next().map(|_| ("$ref", ": ")));
        keys.extend(kind.table().keywords.iter().map(|(keyword, _, shape)| {
            let is_mapping = kind_of(shape).is_some() || matches!(shape, Shape::List(_) | Shape::Map(..));
            (*keyword, if is_mapping { ":" } else { ": " })
        }));
    }
    keys.retain(|(key, _)| *key != WORD && !present(key));
    keys
}

/// Returns the names that mappings of the same meaning have elsewhere: statuses, media types, properties, headers.
fn names<'a>(object: Object<'a>, steps: &[Step<'_>], shape: &Shape) -> BTreeSet<&'a str> {
    let model = object.model();
    match (kind_of(shape), steps, shape) {
        (Some(Kind::Responses), ..) => {
            model.all(Kind::Responses).flat_map(|it| it.parts()).map(|it| it.name()).collect()
        }
        (Some(Kind::SecurityRequirement), ..) => {
            components(object, Kind::SecurityScheme).map(|it| it.name()).collect()
        }
        (_, [Step::Key(keyword)], Shape::Map(Keys::Names, _)) => {
            let of_keyword = |it: &Object<'_>| it.steps().len() == 2 && it.keyword() == *keyword;
            model.everything().filter(of_keyword).map(|it| it.name()).collect()
        }
        _ => BTreeSet::new(),
    }
}

/// Returns the components of a kind.
fn components<'a>(object: Object<'a>, kind: Kind) -> impl Iterator<Item = Object<'a>> {
    let components = object.model().root().child("components");
    components.into_iter().flat_map(|it| it.parts()).filter(move |part| part.kind() == kind)
}

/// Returns what can be the value at a place.
fn values<'a>(place: &Place<'a>) -> Choices<'a> {
    let (object, model) = (place.object, place.object.model());
    let owned = |texts: &[&str]| texts.iter().map(|it| (*it).to_owned()).collect();
    let shape = shape_at(object.kind(), &place.steps);
    let values: Vec<String> = match (object.kind(), &place.steps[..], &shape) {
        (kind, [Step::Key("$ref")], _) => {
            let targets = components(object, kind);
            targets.map(|it| format!("#/components/{}/{}", it.keyword(), it.name())).collect()
        }
        (Kind::Link, [Step::Key("operationId")], _) => {
            model.operations().filter_map(|it| it.id()).map(str::to_owned).collect()
        }
        (Kind::Operation, [Step::Key("tags"), Step::Item(_)], _) => {
            model.all(Kind::Tag).filter_map(|tag| tag.text("name")).map(str::to_owned).collect()
        }
        (Kind::Schema, [Step::Key("required"), Step::Item(_)], _) => {
            object.children("properties").map(|it| it.name().to_owned()).collect()
        }
        (.., Some(Shape::Word(words))) => owned(words),
        (.., Some(Shape::Boolean | Shape::SchemaOrBoolean)) => owned(&["true", "false"]),
        _ => Vec::new(),
    };
    let keys = shape.map(|shape| keys(place, &place.steps, &shape)).unwrap_or_default();
    Choices { keys, values }
}

/// Whether a text is a name without quotes in YAML, unlike a comment, an alias or a number.
fn is_plain(text: &str) -> bool {
    let is_first = |first: char| first.is_alphabetic() || matches!(first, '/' | '$' | '_');
    text.starts_with(is_first) && !text.contains(": ") && !text.contains(" #")
}

/// Returns a suggestion in place of what is written. `after` follows a key.
fn item(view: &Document, written: &Range<usize>, label: &str, after: Option<&str>) -> CompletionItem {
    let text = view.text.as_str();
    let (old, rest) = (&text[written.clone()], &text[written.end..]);
    let is_json = text.trim_start_matches('\u{feff}').trim_start().starts_with('{');
    let quote = match old.chars().next().filter(|first| matches!(first, '\'' | '"')) {
        Some(quote) => String::from(quote),
        None if is_json && !(after.is_none() && matches!(label, "true" | "false")) => "\"".to_owned(),
        None if is_plain(label) => String::new(),
        None => "'".to_owned(),
    };
    let quoted = format!("{quote}{label}{quote}");
    let after = after.filter(|_| !rest.trim_start_matches(' ').starts_with(':')).unwrap_or_default();
    let edit = TextEdit { range: view.text.range(written.clone()), new_text: quoted.clone() + after };
    CompletionItem {
        label: label.to_owned(),
        kind: Some(CompletionItemKind::VALUE),
        filter_text: Some(quoted),
        text_edit: Some(CompletionTextEdit::Edit(edit)),
        ..CompletionItem::default()
    }
}
