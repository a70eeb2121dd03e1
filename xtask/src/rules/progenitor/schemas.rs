//! Schemas from which progenitor can generate a Rust type.

use std::collections::{BTreeSet, HashSet};

use document::openapi::shapes::type_of;
use document::openapi::{Kind, Model, Object};
use document::repair::Repair;
use document::rule::{Findings, rules};
use document::{Node, Value};
use heck::ToPascalCase;

use checks::lint::{FORMATS_OF, KEYWORDS_OF, items};

rules! {
    TYPE: Strict Error "progenitor-type", "progenitor 0.15",
        "A schema without `type` has no `format`, no numeric bounds, and not the keywords of two types.";
    NOT: Strict Error "progenitor-not", "progenitor 0.15",
        "`not` contains only an `enum` of strings, numbers or booleans, with or without their `type`.";
    ENUM: Strict Error "progenitor-enum", "progenitor 0.15",
        "The values of an `enum` have one type, and strings stay distinct as names of Rust variants.";
    COMPOSITION: Strict Error "progenitor-composition", "progenitor 0.15",
        "No schema has both `oneOf` and `anyOf`.";
}

pub(crate) fn check(model: &Model<'_>, findings: &mut Findings) {
    for schema in model.all(Kind::Schema) {
        if schema.keyword() == "not" {
            not(schema, findings);
        } else {
            typeless(schema, findings);
        }
        values(schema, findings);
        if schema.has("oneOf") && schema.has("anyOf") {
            let message = format!("{} has both `oneOf` and `anyOf`.", schema.subject());
            let fix = "Move one of them into an `allOf`.";
            findings.add(&COMPOSITION, schema.key_spot("anyOf"), message, fix);
        }
    }
    for not in model.everything().filter(|object| object.keyword() == "not" && object.is_reference()) {
        let message = "`not` holds a reference.";
        findings.add(&NOT, not.spot(), message, "Replace it by an `enum` of the excluded values.");
    }
}

fn typeless(schema: Object<'_>, findings: &mut Findings) {
    let composed = ["type", "allOf", "oneOf", "anyOf", "not"];
    // A part of `allOf` can take its type from the other parts.
    if schema.keyword() == "allOf" || composed.iter().any(|keyword| schema.has(keyword)) {
        return;
    }
    let first = |keywords: &[&'static str]| keywords.iter().copied().find(|keyword| has(schema, keyword));
    let mut found: Vec<&str> = KEYWORDS_OF.iter().filter_map(|(_, keywords)| first(keywords)).collect();
    found.extend(first(&["enum"]).into_iter().chain(first(&["format"])));
    // The keywords of a single type determine the type, except that a number may be an integer.
    let Some(keyword) = found.last() else { return };
    let is_number =
        |keyword| KEYWORDS_OF.iter().any(|(types, all)| types.contains(&"number") && all.contains(keyword));
    if found.len() == 1 && *keyword != "format" && !is_number(keyword) {
        return;
    }
    let message = format!("{} has `{keyword}` and no `type`.", schema.subject());
    let format = schema.text("format").unwrap_or_default();
    let of_format = FORMATS_OF.iter().find(|(_, formats)| formats.contains(&format)).map(|(kind, _)| *kind);
    let types: &[&str] = match of_format {
        Some(kind) => &[kind],
        None if found.len() == 1 && is_number(keyword) => &["integer", "number"],
        None => &[],
    };
    let added = findings.add(&TYPE, schema.key_spot(keyword), message, "Add `type`.");
    types.iter().fold(added, |added, kind| {
        let (key, value) = ("type".to_owned(), (*kind).into());
        added.repair(Repair::Add { at: schema.pointer(), key, value })
    });
}

/// Whether a schema has a keyword with a non-empty value.
fn has(schema: Object<'_>, keyword: &str) -> bool {
    let empty = |node: &Node| node.entries().is_empty() && node.items().is_empty();
    let collection = matches!(keyword, "properties" | "required" | "enum");
    schema.get(keyword).is_some_and(|node| !collection || !empty(node))
}

fn not(schema: Object<'_>, findings: &mut Findings) {
    let plain = |key: &str| matches!(key, "type" | "enum" | "title" | "description") || key.starts_with("x-");
    let (entries, values) = (schema.node().entries(), items(schema, "enum"));
    let scalar = |node: &Node| matches!(node.value, Value::String(_) | Value::Number(_) | Value::Bool(_));
    let understood =
        entries.iter().all(|entry| plain(&entry.key)) && !values.is_empty() && values.iter().all(scalar);
    if !understood && !entries.is_empty() {
        let message = format!("`not` of {} is not only an `enum`.", schema.subject());
        let fix = "Write an `enum` of the excluded values, or describe the allowed ones.";
        findings.add(&NOT, schema.spot(), message, fix);
    }
}

fn values(schema: Object<'_>, findings: &mut Findings) {
    let items = items(schema, "enum");
    let mut kinds: BTreeSet<&str> = items.iter().map(type_of).collect();
    kinds.remove("null");
    if kinds.len() > 1 && !schema.has("type") {
        let kinds: Vec<_> = kinds.into_iter().collect();
        let message = format!("The `enum` of {} has {}.", schema.subject(), kinds.join(" and "));
        findings.add(&ENUM, schema.value_spot("enum"), message, "Use values of one type.");
        return;
    }
    let texts: HashSet<&str> = items.iter().filter_map(Node::as_str).collect();
    let is_unique = |spell: fn(&str) -> String| {
        texts.iter().map(|text| spell(text)).collect::<HashSet<_>>().len() == texts.len()
    };
    let separated = |text: &str| variant(&text.replace(|c: char| c == '_' || !is_letter(c), "X"));
    if !is_unique(variant) && !is_unique(separated) {
        let message = format!("Two values of the `enum` of {} have the same name in Rust.", schema.subject());
        findings.add(&ENUM, schema.value_spot("enum"), message, "Rename one of them.");
    }
}

/// The name of the Rust variant for a value of an `enum`.
fn variant(text: &str) -> String {
    let name = match text {
        "+1" => "plus1".to_owned(),
        "-1" => "minus1".to_owned(),
        _ => text.replace('\'', "").replace(|c: char| !is_letter(c), "-").to_pascal_case(),
    };
    match name.chars().next() {
        None => "X".to_owned(),
        Some(first) if first.is_alphabetic() => name,
        Some(_) => format!("X{name}"),
    }
}

fn is_letter(character: char) -> bool {
    character.is_alphanumeric() || character == '_'
}
