//! Completion: keywords, the values of keywords, targets of references, status codes and media types.

use std::collections::BTreeSet;

use document::openapi::{Demand, Keys, Kind, Model, Shape};
use http::StatusCode;
use lsp_types::{
    CompletionItem, CompletionItemKind, CompletionList, CompletionParams, CompletionResponse,
    CompletionTextEdit, TextDocumentPositionParams, TextEdit,
};

use crate::context::{Context, Level, Slot};
use crate::documents::Document;
use crate::hover::described;
use crate::world::World;

/// The media types that are offered beside those of the document.
const MEDIA_TYPES: &[&str] = &[
    "application/json",
    "application/problem+json",
    "application/merge-patch+json",
    "application/x-www-form-urlencoded",
    "multipart/form-data",
    "application/octet-stream",
    "application/xml",
    "text/plain",
    "text/csv",
    "text/event-stream",
];

/// The limit of suggestions. The client asks again after the next character.
const MAX_ITEMS: usize = 200;

/// One suggestion.
struct Choice {
    label: String,
    detail: String,
    kind: CompletionItemKind,
    /// Whether the text needs quotes to be a string.
    needs_quotes: bool,
    /// What follows a key: nothing, or a space before a value on the same line.
    has_value_on_line: bool,
    is_required: bool,
}

impl Choice {
    fn new(label: impl Into<String>, detail: impl Into<String>, kind: CompletionItemKind) -> Self {
        let (label, detail) = (label.into(), detail.into());
        Self { label, detail, kind, needs_quotes: false, has_value_on_line: false, is_required: false }
    }
}

/// Answers `textDocument/completion`.
pub(crate) fn completion(world: &World, params: &CompletionParams) -> Option<CompletionResponse> {
    let TextDocumentPositionParams { text_document, position } = &params.text_document_position;
    let view = world.view(&text_document.uri)?;
    let model = view.tree.as_ref()?.model();
    let text = view.text.as_str();
    let context = Context::at(text, view.text.offset(*position))?;
    let choices = match context.slot {
        Slot::Key => {
            let shape = shape_at(&context.levels)?;
            let mut choices = keys(shape, &context.levels, model);
            if !choices.is_empty() {
                let present = siblings(text, &context);
                choices.retain(|choice| !present.contains(&choice.label));
            }
            // In a block list, the beginning of a mapping and a scalar look the same.
            choices.extend(items(&context.levels, model));
            choices
        }
        Slot::Value => values(&context.levels, model),
    };
    let written = text[context.written.clone()].trim_start_matches(['\'', '"']);
    let mut matching = choices.into_iter().filter(|choice| matches(&choice.label, written));
    let items: Vec<_> =
        matching.by_ref().take(MAX_ITEMS).map(|choice| item(choice, &context, view)).collect();
    let is_incomplete = matching.next().is_some();
    Some(CompletionResponse::List(CompletionList { is_incomplete, items }))
}

/// Whether the characters that were written occur in a suggestion in their order, as editors match them.
fn matches(label: &str, written: &str) -> bool {
    let mut rest = label.chars().flat_map(char::to_lowercase);
    written.chars().flat_map(char::to_lowercase).all(|wanted| rest.any(|character| character == wanted))
}

/// Returns the type of the value at the end of these levels.
fn shape_at(levels: &[Level]) -> Option<&'static Shape> {
    const ROOT: &Shape = &Shape::Object(Kind::OpenApi);
    levels.iter().try_fold(ROOT, |shape, level| match (shape, level) {
        (Shape::List(item), Level::Item) => Some(*item),
        (Shape::Map(_, value), Level::Key(_)) => Some(*value),
        (_, Level::Key(key)) => {
            let table = kind_of(shape)?.table();
            let known = table.keywords.iter().find(|(keyword, ..)| keyword == key);
            known.map(|(.., shape)| shape).or((table.others.0 != Keys::Extensions).then_some(&table.others.1))
        }
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

/// Returns the keys of a mapping of this shape.
fn keys(shape: &Shape, levels: &[Level], model: &Model<'_>) -> Vec<Choice> {
    if let Shape::Map(_, Shape::Object(Kind::MediaType)) = shape {
        return media_types(model);
    }
    let Some(kind) = kind_of(shape) else { return Vec::new() };
    let table = kind.table();
    let mut choices: Vec<Choice> = Vec::new();
    if matches!(shape, Shape::Either(_) | Shape::SchemaOrBoolean) && !levels.is_empty() {
        let detail = format!("reference to a {}", table.name);
        let choice = Choice::new("$ref", detail, CompletionItemKind::REFERENCE);
        choices.push(Choice { has_value_on_line: true, ..choice });
    }
    choices.extend(table.keywords.iter().map(|(keyword, demand, shape)| {
        let is_required = *demand == Demand::Required;
        let detail = if is_required { "required, " } else { "" }.to_owned() + &described(shape);
        let has_value_on_line = kind_of(shape).is_none() && !matches!(shape, Shape::List(_) | Shape::Map(..));
        let choice = Choice::new(*keyword, detail, CompletionItemKind::PROPERTY);
        Choice { has_value_on_line, is_required, ..choice }
    }));
    if table.others.0 == Keys::Statuses {
        choices.extend(statuses());
    }
    if kind == Kind::SecurityRequirement {
        choices.extend(
            components(model, Kind::SecurityScheme)
                .map(|(_, name)| Choice::new(name, "security scheme", CompletionItemKind::REFERENCE)),
        );
    }
    choices
}

fn statuses() -> impl Iterator<Item = Choice> {
    let known = (100..600).filter_map(|number| StatusCode::from_u16(number).ok());
    let known = known.filter_map(|status| Some((status.as_str().to_owned(), status.canonical_reason()?)));
    let ranges =
        ["1XX", "2XX", "3XX", "4XX", "5XX"].map(|range| (range.to_owned(), "all statuses of this class"));
    let default = ("default".to_owned(), "all other statuses");
    known.chain(ranges).chain([default]).map(|(label, detail)| {
        let needs_quotes = label != "default";
        Choice { needs_quotes, ..Choice::new(label, detail, CompletionItemKind::ENUM_MEMBER) }
    })
}

fn media_types(model: &Model<'_>) -> Vec<Choice> {
    let used = model.all(Kind::MediaType).map(|media_type| media_type.name());
    let known: BTreeSet<&str> = used.chain(MEDIA_TYPES.iter().copied()).collect();
    known.into_iter().map(|name| Choice::new(name, "media type", CompletionItemKind::ENUM_MEMBER)).collect()
}

/// Returns the components of a kind: their keyword and name.
fn components<'a>(model: &'a Model<'a>, kind: Kind) -> impl Iterator<Item = (&'a str, &'a str)> {
    let components = model.root().child("components");
    let parts = components.into_iter().flat_map(|components| components.parts());
    parts.filter(move |part| part.kind() == kind).map(|part| (part.keyword(), part.name()))
}

/// Returns the values of the key at the end of these levels.
fn values(levels: &[Level], model: &Model<'_>) -> Vec<Choice> {
    let Some((last, outer)) = levels.split_last() else { return Vec::new() };
    let value = |text: &str| Choice::new(text, "", CompletionItemKind::VALUE);
    let Level::Key(key) = last else { return items(levels, model) };
    let owner = shape_at(outer);
    if key == "$ref" {
        let Some(kind) = owner.and_then(kind_of) else { return Vec::new() };
        let targets = components(model, kind);
        let choice = |(keyword, name)| {
            let reference = format!("#/components/{keyword}/{name}");
            let choice = Choice::new(reference, kind.table().name, CompletionItemKind::REFERENCE);
            Choice { needs_quotes: true, ..choice }
        };
        return targets.map(choice).collect();
    }
    if owner.and_then(kind_of) == Some(Kind::Link) && key == "operationId" {
        let ids = model.operations().filter_map(|operation| operation.id());
        return ids.map(|id| Choice::new(id, "operation", CompletionItemKind::REFERENCE)).collect();
    }
    match shape_at(levels) {
        Some(Shape::Word(words)) => words.iter().map(|word| value(word)).collect(),
        Some(Shape::Boolean | Shape::SchemaOrBoolean) => ["true", "false"].map(value).into(),
        _ => Vec::new(),
    }
}

/// Returns the scalar items of a list.
fn items(levels: &[Level], model: &Model<'_>) -> Vec<Choice> {
    let [outer @ .., Level::Key(key), Level::Item] = levels else { return Vec::new() };
    match (shape_at(outer).and_then(kind_of), key.as_str()) {
        (Some(Kind::Operation), "tags") => {
            let names = model.all(Kind::Tag).filter_map(|tag| tag.text("name"));
            names.map(|name| Choice::new(name, "tag", CompletionItemKind::REFERENCE)).collect()
        }
        _ => Vec::new(),
    }
}

/// Returns the other keys of a block mapping: those in the same column, up to a line further left.
fn siblings(text: &str, context: &Context) -> BTreeSet<String> {
    let Some(column) = context.column else { return BTreeSet::new() };
    let start = text[..context.written.start].rfind('\n').map_or(0, |before| before + 1);
    let end =
        text[context.written.end..].find('\n').map_or(text.len(), |length| context.written.end + length);
    let belongs = |line: &&str| {
        let indent = line.len() - line.trim_start_matches(' ').len();
        indent >= column || line[indent..].trim_end().is_empty() || line[indent..].starts_with('#')
    };
    let own = &text[start..context.written.start];
    let mut keys = BTreeSet::new();
    let mut add = |line: &str| {
        if let Some(rest) = line.get(column..).filter(|rest| !rest.starts_with([' ', '#'])) {
            let key = rest.split(':').next().unwrap_or_default();
            keys.insert(key.trim().trim_matches(['"', '\'']).to_owned());
        }
    };
    let after = text[end..].split('\n').skip(1).take_while(|line| belongs(line) && !is_item(line, column));
    after.for_each(&mut add);
    // The marker of a list begins the mapping.
    if own.trim_start().starts_with("- ") {
        return keys;
    }
    for line in text[..start].trim_end_matches('\n').rsplit('\n') {
        if is_item(line, column) {
            add(line);
            break;
        }
        if !belongs(&line) {
            break;
        }
        add(line);
    }
    keys
}

/// Whether a line begins an item of a list whose mapping is in this column.
fn is_item(line: &str, column: usize) -> bool {
    let indent = line.len() - line.trim_start_matches(' ').len();
    indent < column && line[indent..].starts_with("- ")
}

fn item(choice: Choice, context: &Context, view: &Document) -> CompletionItem {
    let Choice { label, detail, kind, needs_quotes, has_value_on_line, is_required } = choice;
    let text = view.text.as_str();
    let written = &text[context.written.clone()];
    let quote = written.chars().next().filter(|first| matches!(first, '\'' | '"'));
    let quote = quote.or_else(|| match context.is_json {
        true => {
            (context.slot == Slot::Key || needs_quotes || !matches!(&*label, "true" | "false")).then_some('"')
        }
        false => needs_quotes.then_some('\''),
    });
    let rest = &text[context.written.end..];
    let is_part = |c: char| c.is_alphanumeric() || "#/_-.$~+*".contains(c);
    let mut end = rest.find(|c| !is_part(c)).unwrap_or(rest.len());
    if let Some(quote) = quote.filter(|quote| rest[end..].starts_with(*quote)) {
        end += quote.len_utf8();
    }
    let has_colon = rest[end..].trim_start_matches(' ').starts_with(':');
    let mut new_text = quote.map_or_else(|| label.clone(), |quote| format!("{quote}{label}{quote}"));
    if context.slot == Slot::Key && !has_colon && kind != CompletionItemKind::REFERENCE
        || label == "$ref" && !has_colon
    {
        new_text.push_str(if has_value_on_line || context.is_json { ": " } else { ":" });
    }
    let range = view.text.range(context.written.start..context.written.end + end);
    CompletionItem {
        kind: Some(kind),
        detail: (!detail.is_empty()).then_some(detail),
        // Required keywords first.
        sort_text: Some(format!("{}{label}", u8::from(!is_required))),
        filter_text: Some(quote.map_or_else(|| label.clone(), |quote| format!("{quote}{label}{quote}"))),
        text_edit: Some(CompletionTextEdit::Edit(TextEdit { range, new_text })),
        label,
        ..CompletionItem::default()
    }
}
