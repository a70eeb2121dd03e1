//! What violates OpenAPI 3.0.3 in the structure of a document: keywords, types, forms of values and keys, references.
//!
//! [`Model::of`] finds the violations; this module describes them.

use std::collections::HashMap;

use document::names::{edit_distance, nearest};
use document::openapi::shapes::{meant, text_of, type_of, wrong_value};
use document::openapi::{Flaw, Invalid, Keys, Kind, Model, Object, Shape, Step};
use document::repair::Repair;
use document::{Entry, Node, Value, shortened};
use serde_json::Value as Json;

use crate::rule::{Added, Findings, Rule, rules};

rules! {
    KEYWORD: Spec Error fix Unsafe "struct-keyword", "OpenAPI 3.0.3, 4.7 and 4.9; Redocly: struct",
        "Each key of an object is a keyword of that object, or an `x-` extension where extensions are \
         allowed.";
    MISSING: Spec Error "struct-missing", "OpenAPI 3.0.3, 4.7; Redocly: struct",
        "An object has all of its required keywords.";
    TYPE: Spec Error fix Safe "struct-type", "OpenAPI 3.0.3, 4.7; Redocly: struct",
        "The value of a keyword has the type that the specification defines.";
    VALUE: Spec Error fix Unsafe "struct-value", "OpenAPI 3.0.3, 4.7; Redocly: struct",
        "A keyword with a fixed set of values has one of them; a URL, an email address and a count are \
         well-formed.";
    KEY: Spec Error fix Unsafe "struct-key", "OpenAPI 3.0.3, 4.7.7.1, 4.7.8.1 and 4.7.16.1",
        "Paths begin with `/`; status codes and component names have the required form.";
    SIBLINGS: Recommended Error fix Unsafe "no-$ref-siblings", "OpenAPI 3.0.3, 4.7.23; Spectral: no-$ref-siblings",
        "A Reference Object has no keyword beside `$ref`, because readers must ignore it.";
    INVALID: Spec Error fix Unsafe "invalid-ref",
        "OpenAPI 3.0.3, 4.7.23; Spectral: invalid-ref; Redocly: no-unresolved-refs",
        "Each `$ref` leads to an object of this document, of the kind that its place requires.";
    CYCLE: Spec Error "no-circular-refs", "JSON Schema draft Wright-00, 7",
        "No chain of references or compositions leads back to its beginning without a property or item \
         between.";
}

pub(crate) fn check(model: &Model<'_>, findings: &mut Findings) {
    for invalid in model.invalid() {
        let (rule, message, fix) = describe(model, invalid);
        let added = findings.add(rule, invalid.spot(model), message, fix);
        match invalid.flaw {
            Flaw::Keyword(entry) => {
                let (_, repair) = instead_of(model.object(invalid.object).kind(), entry, &added.place());
                repair.into_iter().fold(added, Added::repair);
            }
            Flaw::Sibling(_) => drop(added.remove()),
            Flaw::Key(Keys::Paths, key) if !key.starts_with('$') => drop(added.rename(&format!("/{key}"))),
            Flaw::Type(shape, node) => {
                let written = &model.source()[node.span.start..node.span.end];
                converted(keyword(invalid), shape, node, written).into_iter().fold(added, Added::write);
            }
            Flaw::Value(Shape::Word(words), node) => {
                let (mut words, value) = (words.to_vec(), shortened(&text_of(node)));
                words.sort_by_cached_key(|word| edit_distance(&value, word));
                words.into_iter().fold(added, Added::write);
            }
            Flaw::NoTarget | Flaw::OtherKind(_) => misspelt(model.object(invalid.object), added),
            _ => {}
        }
    }
}

/// Describes a violation: the rule, the message and the fix.
pub(crate) fn describe(model: &Model<'_>, invalid: &Invalid<'_>) -> (&'static Rule, String, String) {
    let object = model.object(invalid.object);
    let name = object.kind().table().name;
    let reference = shortened(object.text("$ref").unwrap_or_default());
    match invalid.flaw {
        Flaw::Keyword(entry) => {
            let message = format!("`{}` is not a keyword of the {name}.", shortened(&entry.key));
            (&KEYWORD, message, instead_of(object.kind(), entry, "").0)
        }
        Flaw::Missing(keyword) => {
            let message = format!("{} has no `{keyword}`.", object.subject());
            (&MISSING, message, format!("Add `{keyword}`."))
        }
        Flaw::Key(keys, key) => {
            let message = match keys {
                Keys::ComponentNames => format!("`{}` cannot be the name of a component.", shortened(key)),
                _ => format!("`{}` cannot be a key of the {name}.", shortened(key)),
            };
            (&KEY, message, form(keys).to_owned())
        }
        Flaw::Type(shape, node) => {
            let (keyword, expected) = (keyword(invalid), expected(&shape));
            let message = format!("`{keyword}` is {}, but must be {expected}.", type_of(node));
            (&TYPE, message, format!("Write {expected}{}.", hint(keyword, node)))
        }
        Flaw::Value(shape, node) => {
            let value = shortened(&text_of(node));
            let message = format!("`{}` cannot be `{value}`.", keyword(invalid));
            (&VALUE, message, format!("Write {}.", expected(&shape)))
        }
        Flaw::Sibling(key) => {
            let message = format!("`{}` is ignored, because it is beside `$ref`.", shortened(key));
            (&SIBLINGS, message, "Remove it, or replace the reference by the object.".to_owned())
        }
        Flaw::OtherKind(target) => {
            let other = with_article(model.object(target).kind().table().name);
            let message = format!("`{reference}` is {other}, but {} is required here.", with_article(name));
            (&INVALID, message, "Correct the reference.".to_owned())
        }
        Flaw::NoTarget => {
            let message = format!("`{reference}` does not lead to an object of OpenAPI.");
            let fix = "Correct the reference, or add its target to `components`.";
            (&INVALID, message, fix.to_owned())
        }
        Flaw::OtherFile(number) => {
            let place = format!("`{reference}` on line {}", invalid.span.line);
            let message = match number {
                1 => format!("A reference leads to another file: {place}."),
                _ => format!("{number} references lead to other files, the first {place}."),
            };
            let fix = "Bundle the document into one file first, for example with `redocly bundle`.";
            (&INVALID, message, fix.to_owned())
        }
        Flaw::Cycle => {
            let fix = "Replace the reference by the object, or move it into a property or items.";
            (&CYCLE, format!("`{reference}` leads back to this place."), fix.to_owned())
        }
    }
}

/// Returns the last key on the way to a violation.
fn keyword<'a>(invalid: &Invalid<'a>) -> &'a str {
    let key = invalid.steps.iter().rev().find_map(|step| match step {
        Step::Key(key) => Some(*key),
        Step::Item(_) => None,
    });
    key.unwrap_or("the document")
}

/// Adds the component that a reference probably means: the one whose name is similar to the last part of the reference.
fn misspelt(reference: Object<'_>, added: Added<'_>) {
    let name = reference.text("$ref").and_then(|text| text.rsplit('/').next()).unwrap_or_default();
    let components = reference.model().root().child("components");
    let parts = components.iter().flat_map(|components| components.parts());
    let known: HashMap<&str, _> =
        parts.filter(|it| it.kind() == reference.kind()).map(|it| (it.name(), it)).collect();
    added
        .meant(name, known.keys().copied(), |added, name| added.write(format!("#{}", known[name].pointer())));
}

const NOTHING: &str = "Remove it: OpenAPI 3.0 has nothing like it.";
/// Keywords of other versions, whether removing them is enough, and the equivalent in OpenAPI 3.0.
const ELSEWHERE: &[(&[&str], bool, &str)] = &[
    (&["const"], false, "Write an `enum` of one value."),
    (
        &["examples"],
        false,
        "Write one `example` in a schema. The examples of a response belong to its media types.",
    ),
    (&["identifier"], false, "Write the license's `url`: `identifier` came with OpenAPI 3.1."),
    (&["webhooks", "jsonSchemaDialect", "contains", "$schema", "$id"], true, NOTHING),
    (&["dependentRequired", "propertyNames"], true, NOTHING),
    (
        &["patternProperties", "unevaluatedProperties"],
        false,
        "Write `additionalProperties`: this keyword came with OpenAPI 3.1.",
    ),
    (&["prefixItems"], false, "Write one schema for all `items`: OpenAPI 3.0 has no tuples."),
    (&["if", "then", "else"], false, "Write `oneOf`: conditions came with OpenAPI 3.1."),
    (&["$defs", "definitions"], false, "Move it to `components/schemas`."),
    (&["contentEncoding", "contentMediaType"], false, "Write `format: byte` or `format: binary`."),
    (&["pathItems"], false, "Write the path under `paths`: `pathItems` came with OpenAPI 3.1."),
    (
        &["swagger", "host", "basePath", "consumes", "produces", "securityDefinitions", "collectionFormat"],
        false,
        "Convert the document, for example with `swagger2openapi`: this keyword is of Swagger 2.0.",
    ),
    (&["$ref"], false, "Write it out: the specification allows no reference here."),
];

/// What a key means that is not a keyword: the fix, and the repair if the fix names exactly that.
fn instead_of(kind: Kind, entry: &Entry, at: &str) -> (String, Option<Repair>) {
    let at = at.to_owned();
    if let Some((_, is_removed, fix)) = ELSEWHERE.iter().find(|(keys, ..)| keys.contains(&&*entry.key)) {
        return ((*fix).to_owned(), is_removed.then_some(Repair::Remove { at }));
    }
    let fitting = kind.table().keywords.iter().filter(|(.., shape)| fits(shape, &entry.value));
    if let Some(keyword) = nearest(&entry.key, fitting.map(|(keyword, ..)| *keyword)) {
        let rename = Repair::Rename { at, to: keyword.to_owned() };
        return (format!("Did you mean `{keyword}`?"), Some(rename));
    }
    match meant(kind, &entry.key) {
        Some(keyword) => (format!("Did you mean `{keyword}`?"), None),
        None if kind == Kind::Discriminator => ("Remove it.".to_owned(), Some(Repair::Remove { at })),
        None => {
            let fix = "Remove it, or begin its name with `x-` if tools of your own read it.";
            (fix.to_owned(), Some(Repair::Remove { at }))
        }
    }
}

/// Whether a value has the type of a shape.
fn fits(shape: &Shape, node: &Node) -> bool {
    match shape {
        Shape::List(_) => matches!(node.value, Value::Sequence(_)),
        Shape::Map(..) | Shape::Object(_) | Shape::Either(_) => matches!(node.value, Value::Mapping(_)),
        Shape::SchemaOrBoolean => matches!(node.value, Value::Mapping(_) | Value::Bool(_)),
        _ => wrong_value(shape, node).is_none() || matches!(node.value, Value::Null),
    }
}

/// Returns what a key of a form looks like, as a fix.
pub fn form(keys: Keys) -> &'static str {
    match keys {
        Keys::Paths => "Begin the path with a slash.",
        Keys::Statuses => "Write a status from 100 to 599, a range such as `4XX`, or `default`.",
        Keys::Expressions => {
            "Write the operation below a URL or a runtime expression, such as `{$request.body#/url}`."
        }
        _ => "Use letters, digits, `.`, `-` and `_` only, so that a reference can name it.",
    }
}

/// Returns the values that a shape has.
fn expected(shape: &Shape) -> String {
    let words = match shape {
        Shape::Object(kind) | Shape::Either(kind) => return with_article(kind.table().name),
        Shape::SchemaOrBoolean => return with_article(Kind::Schema.table().name),
        Shape::Word([one]) => return format!("`{one}`"),
        Shape::Word(words) => return format!("one of `{}`", words.join("`, `")),
        Shape::List(_) => "an array",
        Shape::Map(..) => "a mapping",
        Shape::Boolean => "`true` or `false`",
        Shape::Number => "a number",
        Shape::Count => "a non-negative integer",
        Shape::Uri => "a URL such as `https://example.com/terms`, percent-encoded where necessary",
        Shape::Email => "an email address such as `api@example.com`",
        Shape::Text | Shape::Any => "a string",
    };
    words.to_owned()
}

/// Returns a value as the type of a shape, if it is written like one of that type: `'true'` as a boolean, `1.10` as the
/// same text, a text as a list of one. `written` may begin with an anchor or a tag.
fn converted(keyword: &str, shape: Shape, node: &Node, written: &str) -> Option<Json> {
    match (shape, &node.value) {
        // The number `3.0` lacks the patch version.
        _ if keyword == "openapi" => Some("3.0.3".into()),
        (Shape::List(Shape::Text), Value::String(text)) => Some(vec![text.as_str()].into()),
        (Shape::Boolean, Value::String(text)) => text.parse::<bool>().ok().map(Into::into),
        (Shape::Number | Shape::Count, Value::String(text)) => {
            text.parse::<serde_json::Number>().ok().map(Into::into)
        }
        // As a text they would refer to something, or restrict values.
        _ if matches!(keyword, "$ref" | "pattern") => None,
        (Shape::Text | Shape::Uri | Shape::Email, Value::Number(_) | Value::Bool(_)) => {
            written.split_whitespace().last().map(Into::into)
        }
        _ => None,
    }
}

/// An explanation for common mistakes, to append to the fix.
fn hint(keyword: &str, node: &Node) -> &'static str {
    match (keyword, &node.value) {
        ("type", Value::Sequence(_)) => ": OpenAPI 3.0 has one type and `nullable: true`",
        ("exclusiveMinimum" | "exclusiveMaximum", Value::Number(_)) => {
            ": in OpenAPI 3.0 it is `true` if `minimum` or `maximum` itself is excluded"
        }
        ("$ref", Value::Null) => ", in quotes: without them, `#` begins a comment",
        ("required", Value::Bool(_)) => ": a schema lists the names of the properties it requires",
        ("items", Value::Sequence(_)) => ": OpenAPI 3.0 has one schema for all items",
        ("version" | "openapi", Value::Number(_)) => ", in quotes",
        _ => "",
    }
}

fn with_article(name: &str) -> String {
    let article = if name.starts_with(['A', 'E', 'I', 'O', 'U', 'X']) { "an" } else { "a" };
    format!("{article} {name}")
}
