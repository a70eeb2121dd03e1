//! Request bodies with one supported media type, and parameters that have a schema and the default style.

use std::collections::HashMap;

use document::finding::shortened;
use document::openapi::{Additional, Kind, Model, Object, Schema, in_place};
use document::repair::Repair;
use document::rule::{Findings, rules};

use checks::lint::parameters_of;

rules! {
    ONE: Strict Error "progenitor-one-media-type", "progenitor 0.15",
        "A request body has one media type.";
    MEDIA_TYPE: Strict Error "progenitor-request-media-type", "progenitor 0.15",
        "A request body is JSON or a form with a schema, `application/octet-stream` with a plain binary \
         string, or `text/plain` with a plain string.";
    ENCODING: Strict Error "progenitor-request-encoding", "progenitor 0.15",
        "A request body has no `encoding`.";
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
    bodies(model, findings);
    for parameter in model.all(Kind::Parameter) {
        each(parameter, findings);
    }
    for operation in model.all(Kind::Operation) {
        names(operation, findings);
    }
}

fn bodies(model: &Model<'_>, findings: &mut Findings) {
    for body in model.all(Kind::RequestBody) {
        let mut media_types = body.children("content");
        let Some(media_type) = media_types.next() else { continue };
        if let Some(second) = media_types.next() {
            let message = format!("{} has more than one media type.", body.subject());
            let added = findings.add(&ONE, second.spot(), message, "Keep one.");
            if media_types.next().is_none() {
                added.remove().repair(Repair::Remove { at: media_type.pointer() });
            }
            continue;
        }
        if media_type.get("encoding").is_some_and(|encoding| !encoding.entries().is_empty()) {
            let message = format!("{} has an `encoding`.", media_type.subject());
            findings.add(&ENCODING, media_type.key_spot("encoding"), message, "Remove it.").remove();
        }
        let name = media_type.name();
        let essence = name.split(';').next().unwrap_or_default();
        let wrong = match essence {
            _ if !media_type.has("schema") => Some("has no schema"),
            "application/json" | "application/x-www-form-urlencoded" => None,
            "application/octet-stream" => (!is_bare(media_type, Some("binary")))
                .then_some("is not a plain `type: string` with `format: binary`"),
            "text/plain" | "text/x-markdown" => {
                (!is_bare(media_type, None)).then_some("is not a plain `type: string`")
            }
            _ => Some("is not supported"),
        };
        if let Some(wrong) = wrong {
            let message = format!("The media type `{}` of {} {wrong}.", shortened(name), body.subject());
            let fix = "Use `application/json` with a schema.";
            let added = findings.add(&MEDIA_TYPE, media_type.spot(), message, fix);
            if media_type.has("schema") {
                added.rename("application/json");
            }
        }
    }
}

fn is_bare(media_type: Object<'_>, format: Option<&str>) -> bool {
    let Some(schema) = media_type.child("schema").and_then(|schema| schema.resolved()) else { return false };
    let limits = ["pattern", "enum", "minLength", "maxLength", "default", "nullable", "discriminator"];
    schema.text("type") == Some("string")
        && schema.text("format") == format
        && !limits.iter().any(|limit| schema.has(limit))
}

fn each(parameter: Object<'_>, findings: &mut Findings) {
    let subject = parameter.subject();
    let style = parameter.text("style").unwrap_or_default();
    let usual = match parameter.text("in") {
        Some("cookie") => {
            let message = format!("{subject} is a cookie, which progenitor does not support.");
            let added =
                findings.add(&STYLE, parameter.value_spot("in"), message, "Use a header or the query.");
            added.write("header").write("query");
            style
        }
        Some("query") => "form",
        _ => "simple",
    };
    if parameter.has("style") && style != usual {
        let message = format!("{subject} has the style `{}`.", shortened(style));
        let fix = format!("Remove it; `{usual}` is the default.");
        findings.add(&STYLE, parameter.value_spot("style"), message, fix).remove();
    }
    if parameter.has("content") {
        let message = format!("{subject} has `content`.");
        findings.add(&CONTENT, parameter.key_spot("content"), message, "Write a `schema` instead.");
    }
    let Some(schema) = parameter.child("schema") else { return };
    if let Some(object) = resolved(schema).filter(|object| is_object(*object)) {
        let message = format!("{} is {}, which is an object.", schema.subject(), object.subject());
        findings.add(&OBJECT, schema.spot(), message, "Replace it by one parameter for each property.");
    }
}

fn names(operation: Object<'_>, findings: &mut Findings) {
    let mut locations: HashMap<&str, &str> = HashMap::new();
    for parameter in parameters_of(operation) {
        let (name, location) = (parameter.name(), parameter.location());
        let other = *locations.entry(name).or_insert(location);
        if other != location {
            let (subject, name) = (operation.subject(), shortened(name));
            let message = format!("{subject} has a parameter `{name}` in `{other}` and one in `{location}`.");
            findings.add(&NAMES, parameter.declared().spot(), message, "Rename one of them.");
        }
    }
}

/// The limit of references, and of compositions with a single part, to resolve.
const MAX_STEPS: usize = 20;

/// Resolves references, and compositions with a single part, which are equivalent to references.
fn resolved<'a>(schema: Object<'a>) -> Option<Object<'a>> {
    let next = |schema: &Object<'a>| {
        let mut parts = in_place(*schema);
        let first = parts.next()?;
        if parts.next().is_none() { first.resolved() } else { None }
    };
    std::iter::successors(schema.resolved(), next).take(MAX_STEPS).last()
}

fn is_object(schema: Object<'_>) -> bool {
    let schema = Schema::new(schema);
    schema.properties().next().is_some() || matches!(schema.additional_properties(), Additional::None)
}
