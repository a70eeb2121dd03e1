//! Parameters: declared once, in accordance with the path, and used.

use std::collections::HashSet;

use super::servers::names;
use crate::finding::shortened as shown;
use crate::openapi::{Kind, Model, Object};
use crate::rule::{Findings, rules};

rules! {
    PATH: Spec Error "path-params",
        "OpenAPI 3.0.3, 4.7.8.2 and 4.7.12.2; Spectral: path-params; Redocly: path-parameters-defined",
        "Each parameter in a path template is declared, each declared path parameter is in the template, and \
         path parameters are required.";
    UNIQUE: Spec Error "operation-parameters",
        "OpenAPI 3.0.3, 4.7.9.1; Spectral: operation-parameters; Redocly: operation-parameters-unique",
        "No list of parameters has two with the same `name` and `in`.";
    DESCRIPTION: Strict Error "parameter-description",
        "Spectral: oas3-parameter-description; Redocly: parameter-description",
        "Each parameter has a `description`.";
    HEADERS: Recommended Error "no-ignored-headers", "OpenAPI 3.0.3, 4.7.12.2 and 4.7.17.1",
        "No header parameter is called `Accept`, `Content-Type` or `Authorization`, and no response header \
         `Content-Type`: clients must ignore them.";
    DEFAULT: Recommended Error "no-required-default", "OpenAPI 3.0.3, 4.7.24.1",
        "A required parameter has no `default`, because it would never be used.";
}

pub(crate) fn check(model: &Model<'_>, findings: &mut Findings) {
    for parameter in model.all(Kind::Parameter) {
        each(parameter, findings);
    }
    for header in
        model.all(Kind::Response).flat_map(|response| response.children("headers").collect::<Vec<_>>())
    {
        if header.name().eq_ignore_ascii_case("content-type") {
            let message = "The header `Content-Type` of a response is ignored.";
            findings.add(
                &HEADERS,
                header.spot(),
                message,
                "Remove it; the keys of `content` are the media types.",
            );
        }
    }
    for list in model.all(Kind::Operation).chain(model.all(Kind::PathItem)) {
        unique(list, findings);
    }
    for path in model.all(Kind::PathItem).filter(|path| path.keyword().starts_with('/')) {
        in_path(path, findings);
    }
}

fn each(parameter: Object<'_>, findings: &mut Findings) {
    let subject = || parameter.subject();
    if !parameter.has("description") {
        let message = format!("{} has no description.", subject());
        findings.add(
            &DESCRIPTION,
            parameter.spot(),
            message,
            "Add a `description` of its effect and its values.",
        );
    }
    let ignored = ["accept", "content-type", "authorization"];
    let name = parameter.text("name").unwrap_or_default();
    if parameter.text("in") == Some("header") && ignored.contains(&name.to_ascii_lowercase().as_str()) {
        let message = format!("The header parameter `{name}` is ignored.");
        let fix = "Remove it; use `content` and `security` instead.";
        findings.add(&HEADERS, parameter.value_spot("name"), message, fix);
    }
    if parameter.text("in") == Some("path") && !parameter.flag("required") {
        let message = format!("{} is not `required: true`.", subject());
        findings.add(&PATH, parameter.key_spot("required"), message, "Add `required: true`.");
    }
    let schema = parameter.child("schema").and_then(|schema| schema.resolved());
    if let Some(schema) = schema.filter(|schema| parameter.flag("required") && schema.has("default")) {
        let message = format!("{} is required, so its default is never used.", subject());
        let spot = if schema.parent() == Some(parameter) {
            schema.key_spot("default")
        } else {
            parameter.key_spot("required")
        };
        findings.add(&DEFAULT, spot, message, "Remove `default` or `required`.");
    }
}

/// `in` and `name`, which identify a parameter.
type Key<'a> = (&'a str, &'a str);

fn key<'a>(parameter: Object<'a>) -> Option<Key<'a>> {
    parameter.text("in").zip(parameter.text("name"))
}

fn unique(list: Object<'_>, findings: &mut Findings) {
    let mut seen = HashSet::new();
    for parameter in list.children("parameters") {
        let Some((place, name)) = parameter.resolved().and_then(key) else { continue };
        let folded = if place == "header" { name.to_ascii_lowercase() } else { name.to_owned() };
        if !seen.insert((place, folded)) {
            let message = format!("The parameter `{}` in `{place}` is declared twice.", shown(name));
            findings.add(&UNIQUE, parameter.spot(), message, "Remove one.");
        }
    }
}

fn in_path(path: Object<'_>, findings: &mut Findings) {
    let template = path.name();
    let in_template: HashSet<&str> = names(template).collect();
    let declared = |owner: Object<'_>| {
        let parameters = owner.resolved_children("parameters").filter_map(key);
        parameters
            .filter(|(place, _)| *place == "path")
            .map(|(_, name)| name.to_owned())
            .collect::<HashSet<_>>()
    };
    let shared = declared(path);
    for owner in path.parts().filter(|part| part.kind() == Kind::Operation).chain([path]) {
        for parameter in owner.children("parameters") {
            let Some(("path", name)) = parameter.resolved().and_then(key) else { continue };
            if !in_template.contains(name) {
                let message = format!("The path `{}` has no `{{{}}}`.", shown(template), shown(name));
                let fix = "Add it to the path, or remove the parameter.";
                findings.add(&PATH, parameter.spot(), message, fix);
            }
        }
        if owner == path {
            continue;
        }
        let own = declared(owner);
        let mut missing: Vec<_> =
            in_template.iter().filter(|name| !own.contains(**name) && !shared.contains(**name)).collect();
        missing.sort();
        for name in missing {
            let message =
                format!("{} does not declare the path parameter `{{{}}}`.", owner.subject(), shown(name));
            let fix = format!("Add a parameter `{}` with `in: path` and `required: true`.", shown(name));
            findings.add(&PATH, owner.spot(), message, fix);
        }
    }
}
