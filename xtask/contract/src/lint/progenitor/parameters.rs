//! Parameters: plain ones.

use std::collections::HashMap;

use crate::document::Node;

use crate::finding::Severity;
use crate::finding::shortened as shown;
use crate::openapi::Kind;
use crate::openapi::in_place;
use crate::openapi::{Model, Object};
use crate::rule::{Findings, Rule};

pub(crate) const STYLE: Rule = Rule::strict(
    "progenitor-parameter-style",
    Severity::Error,
    "progenitor",
    "Parameters are in the path or a header as `simple`, or in the query as `form`; there are no cookies.",
);
pub(crate) const CONTENT: Rule = Rule::strict(
    "progenitor-parameter-content",
    Severity::Error,
    "progenitor",
    "A parameter has a `schema`, not a `content`.",
);
pub(crate) const NAMES: Rule = Rule::strict(
    "progenitor-parameter-names",
    Severity::Error,
    "progenitor",
    "No two parameters of an operation have the same name, wherever they are: progenitor keeps only one.",
);
pub(crate) const OBJECT: Rule = Rule::strict(
    "progenitor-parameter-object",
    Severity::Error,
    "progenitor",
    "No parameter is an object with properties.",
);

pub(crate) fn check(model: &Model<'_>, findings: &mut Findings) {
    for parameter in model.all(Kind::Parameter) {
        let place = parameter.text("in").unwrap_or_default();
        if place == "cookie" {
            let message = format!("{} is a cookie, and progenitor knows none.", parameter.subject());
            findings.add(&STYLE, parameter.value_spot("in"), message, "Put it into a header or the query.");
        }
        let usual = match place {
            "query" => "form",
            "path" | "header" => "simple",
            _ => continue,
        };
        if let Some(style) = parameter.text("style").filter(|style| *style != usual) {
            let message = format!("{} has the style `{}`.", parameter.subject(), shown(style));
            findings.add(
                &STYLE,
                parameter.value_spot("style"),
                message,
                format!("Take it out; `{usual}` is the default."),
            );
        }
        if parameter.has("content") {
            let message = format!("{} has a `content`.", parameter.subject());
            findings.add(&CONTENT, parameter.key_spot("content"), message, "Write a `schema` instead.");
        }
    }
    for schema in model.all(Kind::Parameter).filter_map(|parameter| parameter.child("schema")) {
        if let Some(object) = object(schema).filter(|object| is_object(*object)) {
            let message = format!("{} is {}, an object.", schema.subject(), object.subject());
            findings.add(&OBJECT, schema.spot(), message, "Make each property a parameter of its own.");
        }
    }
    for operation in model.all(Kind::Operation) {
        names(operation, findings);
    }
}

fn names(operation: Object<'_>, findings: &mut Findings) {
    let mut places: HashMap<&str, &str> = HashMap::new();
    let path = operation.parent().into_iter();
    for owner in path.chain([operation]) {
        for parameter in owner.children("parameters") {
            let Some(resolved) = parameter.resolved() else { continue };
            let Some((place, name)) = resolved.text("in").zip(resolved.text("name")) else { continue };
            let other = *places.entry(name).or_insert(place);
            if other != place {
                let message = format!(
                    "{} has a parameter `{}` in `{other}` and one in `{place}`.",
                    operation.subject(),
                    shown(name)
                );
                findings.add(&NAMES, parameter.spot(), message, "Give one of them another name.");
            }
        }
    }
}

/// How many references and compositions of one are looked through.
const DEEPEST: usize = 20;

/// What a schema comes to, references followed; so are compositions of one, which are as good as references.
fn object<'a>(schema: Object<'a>) -> Option<Object<'a>> {
    let mut schema = schema.resolved()?;
    for _ in 0..DEEPEST {
        let mut parts = in_place(schema);
        match (parts.next(), parts.next()) {
            (Some(only), None) => schema = only.resolved()?,
            _ => break,
        }
    }
    Some(schema)
}

fn is_object(schema: Object<'_>) -> bool {
    let closed = schema.get("additionalProperties").and_then(Node::as_bool) == Some(false);
    schema.get("properties").is_some_and(|properties| !properties.entries().is_empty()) || closed
}
