//! Hover: what an object or rule is, where it is implemented, since which release, and until when.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use checks::{explanation, registry};
use document::openapi::{Kind, Object, Shape};
use document::shortened;
use lsp_types::{Hover, HoverContents, HoverParams, MarkupContent, MarkupKind, TextDocumentPositionParams};

use crate::actions::{findings, place};
use crate::definition::{in_code, meant};
use crate::documents::Document;
use crate::place::Place;
use crate::text::word_at;
use crate::world::World;

/// Answers `textDocument/hover`.
pub(crate) fn hover(world: &World, params: &HoverParams) -> Option<Hover> {
    let TextDocumentPositionParams { text_document, position } = &params.text_document_position_params;
    let view = world.view(&text_document.uri)?;
    if let Some(tree) = &view.tree {
        let place = Place::at(tree, view.offset_in_tree(*position));
        let offset = view.text.offset(*position);
        let rules = rules_at(world, view, offset);
        let texts: Vec<String> = of_place(world, view, &place).into_iter().chain(rules).collect();
        let range = place.is_on_text().then(|| view.range(place.span));
        return (!texts.is_empty()).then(|| Hover { range, ..shown(texts.join("\n\n---\n\n")) });
    }
    let text = view.text.as_str();
    let name = word_at(text, view.text.offset(*position), |c| c.is_alphanumeric() || "-$".contains(c));
    let explained = of_rule(&text[name.clone()])?;
    Some(Hover { range: Some(view.text.range(name)), ..shown(explained) })
}

fn shown(value: String) -> Hover {
    let contents = HoverContents::Markup(MarkupContent { kind: MarkupKind::Markdown, value });
    Hover { contents, range: None }
}

/// Explains the rules of the findings at an offset.
fn rules_at(world: &World, view: &Document, offset: usize) -> Vec<String> {
    let at_offset = findings(world, view).filter(|(finding, since)| {
        place(view, finding, since).is_some_and(|place| (place.start..=place.end).contains(&offset))
    });
    let rules: BTreeSet<&str> = at_offset.map(|(finding, _)| finding.rule.as_str()).collect();
    let explained = rules.into_iter().filter_map(registry::find);
    explained.map(|rule| format!("rule `{}`: {}", rule.name, rule.explanation)).collect()
}

fn of_place(world: &World, view: &Document, place: &Place<'_>) -> Option<String> {
    if !place.is_on_text() {
        return None;
    }
    if let Some(target) = place.target() {
        return Some(of_object(world, view, target));
    }
    let object = meant(place)?;
    let names_it =
        place.steps.is_empty() || matches!(place.keyword(), Some("name" | "operationId" | "title"));
    if names_it {
        return Some(of_object(world, view, object));
    }
    // Inside of examples, extensions and lists there is nothing to describe.
    Some(of_keyword(object, place.keyword()?))
}

/// Describes a keyword by its type.
fn of_keyword(object: Object<'_>, keyword: &str) -> String {
    let table = object.kind().table();
    let known = table.keywords.iter().find(|(known, ..)| *known == keyword);
    let what = known.map_or_else(|| "extension".to_owned(), |(_, _, shape)| described(shape));
    format!("`{}`: {what}\n\nKeyword of the {}.", shortened(keyword), table.name)
}

/// Describes the values of a keyword.
pub(crate) fn described(shape: &Shape) -> String {
    match shape {
        Shape::Any => "any value".to_owned(),
        Shape::Text => "string".to_owned(),
        Shape::Boolean => "`true` or `false`".to_owned(),
        Shape::Number => "number".to_owned(),
        Shape::Count => "non-negative integer".to_owned(),
        Shape::Uri => "URL".to_owned(),
        Shape::Email => "email address".to_owned(),
        Shape::Word(words) => format!("`{}`", words.join("`, `")),
        Shape::List(item) => format!("list of {}", described(item)),
        Shape::Map(_, value) => format!("map of {}", described(value)),
        Shape::Object(kind) => kind.table().name.to_owned(),
        Shape::Either(kind) => format!("{} or a reference", kind.table().name),
        Shape::SchemaOrBoolean => "Schema Object, a reference, `true` or `false`".to_owned(),
    }
}

/// Describes an object: its kind and name, its text, and where it comes from.
fn of_object(world: &World, view: &Document, object: Object<'_>) -> String {
    let whole = object.resolved().unwrap_or(object);
    let mut text = format!("**{}**", title(object));
    if let Some(summary) = whole.text("summary").or_else(|| whole.text("title")) {
        let _ = write!(text, "\n\n{summary}");
    }
    if let Some(description) = whole.text("description") {
        let _ = write!(text, "\n\n{}", description.trim_end());
    }
    let mut facts = facts(whole);
    if let Some(source) = in_code(world, view, object) {
        facts.push(format!("implemented in `{}:{}`", source.file, source.span.line));
    }
    if world.is_of_project(view) && !world.releases.is_empty() {
        facts.push(match world.releases.since(object) {
            Some(version) => format!("since release {version}"),
            None => "not released yet".to_owned(),
        });
    }
    facts.extend(deprecation(whole));
    for (number, fact) in facts.iter().enumerate() {
        let _ = write!(text, "{}\n- {fact}", if number == 0 { "\n" } else { "" });
    }
    text
}

/// Returns the kind and the name of an object.
fn title(object: Object<'_>) -> String {
    match object.kind() {
        Kind::Operation => {
            let path = object.parent().map(|path| path.name()).unwrap_or_default();
            let line = format!("{} {}", object.name().to_uppercase(), shortened(path));
            match object.text("operationId") {
                Some(id) => format!("operation `{}`: {line}", shortened(id)),
                None => format!("operation {line}"),
            }
        }
        Kind::Parameter => {
            let whole = object.resolved().unwrap_or(object);
            let name = whole.text("name").unwrap_or(object.name());
            format!("parameter `{}` in {}", shortened(name), whole.text("in").unwrap_or("an unknown place"))
        }
        _ => object.subject().to_string(),
    }
}

/// Returns what the keywords of an object say in short.
fn facts(object: Object<'_>) -> Vec<String> {
    let schema = match object.kind() {
        Kind::Schema => Some(object),
        _ => object.schema().and_then(|schema| schema.resolved()).map(|schema| *schema),
    };
    let mut facts = Vec::new();
    if let Some(schema) = schema {
        let kind = schema.text("type").unwrap_or("any type");
        let format = schema.text("format").map(|format| format!(", format {format}")).unwrap_or_default();
        let name = schema.subject().to_string();
        let of = if object.kind() == Kind::Schema { String::new() } else { format!(" ({name})") };
        facts.push(format!("type {kind}{format}{of}"));
        if let Some(values) = schema.get("enum") {
            let values: Vec<String> =
                values.items().iter().take(20).map(|value| format!("`{}`", value.to_json())).collect();
            facts.push(format!("one of {}", values.join(", ")));
        }
    }
    if object.is_required() {
        facts.push("required".to_owned());
    }
    facts
}

/// Returns since when and until when an object is deprecated.
fn deprecation(object: Object<'_>) -> Option<String> {
    if !object.flag("deprecated") {
        return None;
    }
    let date = |key: &str, word: &str| object.text(key).map(|date| format!(" {word} {}", shortened(date)));
    let since = date("x-deprecated-since", "since").unwrap_or_default();
    let until = date("x-sunset", "until").unwrap_or_default();
    Some(format!("deprecated{since}{until}"))
}

/// Describes a rule, with its example.
pub(crate) fn of_rule(name: &str) -> Option<String> {
    let rule = registry::find(name)?;
    let explained = explanation::explain(rule);
    let text = explained.split_once("\n\n").map_or(&*explained, |(_, text)| text);
    Some(format!("**rule `{name}`**\n\n{text}"))
}
