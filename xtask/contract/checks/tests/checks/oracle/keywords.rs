//! Edits of single keywords of the frozen documents: each yields a finding, or is of a kind that is left out for a reason.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use checks::finding::Finding;
use checks::lint::lint;
use checks::registry::find;
use checks::rule::Profile;
use document::openapi::{Kind, Model, Object};
use fixtures::{FEATURES, LIBRARY, TODAY};
use serde_json::{Value, json};

use super::case::{Case, DIRECTIONS, changes_of, read};
use super::instances::refused;
use super::values::FEW;
use crate::breaking::documents::SHAPES;

const DOCUMENTS: [(&str, &str); 3] =
    [("library.yaml", LIBRARY), ("features.yaml", FEATURES), ("shapes.yaml", SHAPES)];

/// The keywords that are for people.
const WORDS: [&str; 6] = ["title", "summary", "description", "externalDocs", "example", "examples"];

/// Keywords of which some edits have no effect, and why.
const IDLE: [(Kind, &[&str], &str); 9] = [
    (Kind::OpenApi, &["servers"], "servers that each path replaces"),
    (Kind::Server, &["url"], "servers that each path replaces"),
    (Kind::ServerVariable, &["default"], "a default that `enum` does not list"),
    (Kind::Header, &["style", "explode"], "defaults"),
    (Kind::Parameter, &["style", "explode"], "defaults"),
    (Kind::Encoding, &["contentType", "style", "explode", "allowReserved"], "defaults"),
    (Kind::MediaType, &["encoding"], "defaults"),
    (Kind::SecurityScheme, &["scheme", "bearerFormat", "name"], "hints, and schemes that nothing requires"),
    (Kind::Schema, &["type", "not"], "schemas that nothing uses alone"),
];

/// Why an edit needs no finding, if it needs none.
fn reason(object: &Object<'_>, keyword: &str) -> Option<&'static str> {
    match object.kind() {
        Kind::Info
        | Kind::Contact
        | Kind::License
        | Kind::Tag
        | Kind::ExternalDocumentation
        | Kind::Example => Some("words or examples"),
        _ if WORDS.contains(&keyword) && object.kind() != Kind::Components => Some("words or examples"),
        Kind::OpenApi if matches!(keyword, "openapi" | "info" | "tags") => Some("words or examples"),
        Kind::OpenApi if keyword == "components" => Some("components that nothing uses"),
        Kind::Components => Some("components that nothing uses"),
        _ => None,
    }
}

/// Returns other values for a keyword: without it, and another one.
fn edits(value: &Value) -> [Option<Value>; 2] {
    let other = match value {
        Value::Null => None,
        Value::Bool(value) => Some(json!(!value)),
        Value::Number(number) => Some(json!(number.as_f64().unwrap_or_default() + 1.0)),
        Value::String(text) => Some(json!(format!("{text}x"))),
        Value::Array(items) => items.split_last().map(|(_, rest)| json!(rest)),
        Value::Object(map) => map.keys().find(|key| !WORDS.contains(&key.as_str())).map(|first| {
            let mut rest = map.clone();
            rest.remove(first);
            Value::Object(rest)
        }),
    };
    [None, other]
}

fn is_about_validity(finding: &Finding) -> bool {
    find(&finding.rule).is_some_and(|rule| rule.profile == Profile::Spec)
}

/// Whether no value tells the schemas at a place of two documents apart, in requests and in responses.
fn have_same_values(base: &Value, revision: &Value, at: &str) -> bool {
    let case = |document: &Value| Case {
        schema: document.pointer(at).cloned().unwrap_or_default(),
        components: document["components"]["schemas"].as_object().cloned().unwrap_or_default(),
    };
    let (base, revision) = (case(base), case(revision));
    let is_refused = |base, revision| {
        DIRECTIONS.iter().any(|direction| refused(*direction, base, revision, FEW).1.is_some())
    };
    !is_refused(&base, &revision) && !is_refused(&revision, &base)
}

#[test]
fn each_edit_of_a_keyword_yields_a_finding() {
    let mut left_out: BTreeMap<&str, usize> = BTreeMap::new();
    let (mut number, mut failures) = (0, String::new());
    for (name, text) in DOCUMENTS {
        let base = read(text);
        let whole = base.root.to_json();
        let model = Model::of(&base);
        for object in kit::sample(model.everything()) {
            let pointer = object.pointer();
            for entry in object.node().entries() {
                let keyword = &entry.key;
                if let Some(reason) = reason(&object, keyword) {
                    *left_out.entry(reason).or_default() += 1;
                    continue;
                }
                for edit in edits(&entry.value.to_json()) {
                    let mut other = whole.clone();
                    let Some(Value::Object(map)) = other.pointer_mut(&pointer) else { continue };
                    match &edit {
                        Some(value) => map.insert(keyword.clone(), value.clone()),
                        None => map.remove(keyword),
                    };
                    number += 1;
                    let revision = read(&other.to_string());
                    let is_schema = matches!(object.kind(), Kind::Schema | Kind::Discriminator | Kind::Xml);
                    if !changes_of(&base, &revision).is_empty() {
                        continue;
                    }
                    if lint(&revision, TODAY).iter().any(is_about_validity) {
                        *left_out.entry("invalid documents").or_default() += 1;
                    } else if is_schema && have_same_values(&whole, &other, &pointer) {
                        *left_out.entry("schemas with the same values").or_default() += 1;
                    } else if object.within(Kind::Callback).is_some() && !is_schema {
                        *left_out.entry("names in callbacks").or_default() += 1;
                    } else if let Some((.., reason)) = IDLE.iter().find(|(kind, keywords, _)| {
                        *kind == object.kind() && keywords.contains(&keyword.as_str())
                    }) {
                        *left_out.entry(reason).or_default() += 1;
                    } else {
                        let what = edit.map_or("removed".to_owned(), |value| value.to_string());
                        let _ = writeln!(failures, "{name} {pointer}: `{keyword}` {what}");
                    }
                }
            }
        }
    }
    let missed = failures.lines().count();
    println!("keywords: {number} edits, {missed} without a finding, left out: {left_out:?}");
    assert!(failures.is_empty(), "{failures}");
}
