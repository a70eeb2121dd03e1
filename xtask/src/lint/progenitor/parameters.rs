//! Parameters: plain ones.

use std::collections::HashMap;

use animal_store::yaml::Node;

use super::super::outline::{Obj, Outline};
use super::super::rule::{Findings, Origin, Rule};
use super::super::structure::kinds::Kind;
use super::super::structure::{in_place, shown};

pub(super) const STYLE: Rule = Rule::error(
    "progenitor-parameter-style",
    Origin::Progenitor,
    "Parameters are in the path or a header as `simple`, or in the query as `form`; there are no cookies.",
);
pub(super) const CONTENT: Rule = Rule::error(
    "progenitor-parameter-content",
    Origin::Progenitor,
    "A parameter has a `schema`, not a `content`.",
);
pub(super) const NAMES: Rule = Rule::error(
    "progenitor-parameter-names",
    Origin::Progenitor,
    "No two parameters of an operation have the same name, wherever they are: progenitor keeps only one.",
);
pub(super) const OBJECT: Rule = Rule::error(
    "progenitor-parameter-object",
    Origin::Progenitor,
    "No parameter is an object with properties.",
);

pub(super) fn check(outline: &Outline<'_>, findings: &mut Findings) {
    for parameter in outline.all(Kind::Parameter) {
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
    for schema in outline.all(Kind::Parameter).filter_map(|parameter| parameter.child("schema")) {
        if let Some(object) = object(schema).filter(|object| is_object(*object)) {
            let message = format!("{} is {}, an object.", schema.subject(), object.subject());
            findings.add(&OBJECT, schema.spot(), message, "Make each property a parameter of its own.");
        }
    }
    for operation in outline.all(Kind::Operation) {
        names(operation, findings);
    }
}

fn names(operation: Obj<'_, '_>, findings: &mut Findings) {
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
fn object<'o, 'a>(schema: Obj<'o, 'a>) -> Option<Obj<'o, 'a>> {
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

fn is_object(schema: Obj<'_, '_>) -> bool {
    let closed = schema.get("additionalProperties").and_then(Node::as_bool) == Some(false);
    schema.get("properties").is_some_and(|properties| !properties.entries().is_empty()) || closed
}
