//! Parameters: default styles, a schema, unique names, no objects.

use std::collections::HashMap;

use crate::document::Node;

use crate::finding::shortened as shown;
use crate::openapi::{Kind, Model, Object, in_place};
use crate::rule::{Findings, rules};

rules! {
    STYLE: Strict Error "progenitor-parameter-style", "progenitor 0.15",
        "Parameters have the default style of their location, and none is in a cookie.";
    CONTENT: Strict Error "progenitor-parameter-content", "progenitor 0.15",
        "A parameter has a `schema` rather than `content`.";
    NAMES: Strict Error "progenitor-parameter-names", "progenitor 0.15",
        "No two parameters of an operation have the same name, even in different locations.";
    OBJECT: Strict Error "progenitor-parameter-object", "progenitor 0.15",
        "No parameter is an object with properties.";
}

pub(crate) fn check(model: &Model<'_>, findings: &mut Findings) {
    for parameter in model.all(Kind::Parameter) {
        let place = parameter.text("in").unwrap_or_default();
        if place == "cookie" {
            let message = format!("{} is a cookie, which progenitor does not support.", parameter.subject());
            findings.add(&STYLE, parameter.value_spot("in"), message, "Use a header or the query.");
        }
        let usual = match place {
            "query" => "form",
            "path" | "header" => "simple",
            _ => continue,
        };
        if let Some(style) = parameter.text("style").filter(|style| *style != usual) {
            let message = format!("{} has the style `{}`.", parameter.subject(), shown(style));
            let fix = format!("Remove it; `{usual}` is the default.");
            findings.add(&STYLE, parameter.value_spot("style"), message, fix);
        }
        if parameter.has("content") {
            let message = format!("{} has `content`.", parameter.subject());
            findings.add(&CONTENT, parameter.key_spot("content"), message, "Write a `schema` instead.");
        }
    }
    for schema in model.all(Kind::Parameter).filter_map(|parameter| parameter.child("schema")) {
        if let Some(object) = object(schema).filter(|object| is_object(*object)) {
            let message = format!("{} is {}, which is an object.", schema.subject(), object.subject());
            findings.add(&OBJECT, schema.spot(), message, "Replace it by one parameter for each property.");
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
                findings.add(&NAMES, parameter.spot(), message, "Rename one of them.");
            }
        }
    }
}

/// The most references and compositions of one part that are followed.
const DEEPEST: usize = 20;

/// The schema behind references and compositions of one part, which are equivalent to references.
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
