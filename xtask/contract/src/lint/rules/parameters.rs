//! Parameters: each declared once, where it can be sent, and as the path says.

use std::collections::{HashMap, HashSet};

use super::servers::names;
use crate::finding::Severity;
use crate::finding::shortened as shown;
use crate::openapi::Kind;
use crate::openapi::{Model, Object};
use crate::rule::{Findings, Rule};

const PATH: Rule = Rule::recommended(
    "path-params",
    Severity::Error,
    "Spectral",
    "The parameters of a path are declared, required, and those declared are in the path \
     (Redocly: `path-parameters-defined`).",
);
const UNIQUE: Rule = Rule::recommended(
    "operation-parameters",
    Severity::Error,
    "Spectral",
    "No parameter is there twice in one list (Redocly: `operation-parameters-unique`).",
);
const DESCRIPTION: Rule = Rule::recommended(
    "parameter-description",
    Severity::Error,
    "Redocly",
    "Each parameter has a description.",
);
const HEADERS: Rule = Rule::spec(
    "no-ignored-headers",
    "OpenAPI 3.0.3",
    "No parameter is called `Accept`, `Content-Type` or `Authorization`, and no response header \
     `Content-Type`: they are ignored (sections 4.7.12.2 and 4.7.17.1).",
);
const DEFAULT: Rule = Rule::spec(
    "no-required-default",
    "OpenAPI 3.0.3",
    "A parameter that is required has no default, which would never be used (section 4.7.24).",
);

pub(crate) const RULES: &[&Rule] = &[&PATH, &UNIQUE, &DESCRIPTION, &HEADERS, &DEFAULT];

pub(crate) fn check(model: &Model<'_>, findings: &mut Findings) {
    for parameter in model.all(Kind::Parameter) {
        each(parameter, findings);
    }
    for header in
        model.all(Kind::Response).flat_map(|response| response.children("headers").collect::<Vec<_>>())
    {
        if header.name().eq_ignore_ascii_case("content-type") {
            let message = "The header `Content-Type` of a response is ignored.";
            findings.add(&HEADERS, header.spot(), message, "Take it out: the keys of `content` say it.");
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
        findings.add(&DESCRIPTION, parameter.spot(), message, "Say what it does, and what may be sent.");
    }
    let ignored = ["accept", "content-type", "authorization"];
    let name = parameter.text("name").unwrap_or_default();
    if parameter.text("in") == Some("header") && ignored.contains(&name.to_ascii_lowercase().as_str()) {
        let message = format!("The header parameter `{name}` is ignored.");
        let fix = "Take it out: `content` and `security` say it.";
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
        findings.add(&DEFAULT, spot, message, "Take out `default` or `required`.");
    }
}

/// What a parameter is known by: place and name.
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
            let message = format!("The parameter `{}` in `{place}` is there twice.", shown(name));
            findings.add(&UNIQUE, parameter.spot(), message, "Take one out.");
        }
    }
}

fn in_path(path: Object<'_>, findings: &mut Findings) {
    let template = path.name();
    let in_template: HashSet<&str> = names(template).collect();
    let mut counted = HashMap::new();
    for name in names(template) {
        *counted.entry(name).or_insert(0) += 1;
    }
    if let Some((name, _)) = counted.iter().filter(|(_, count)| **count > 1).min() {
        let message = format!("The path has `{{{}}}` twice.", shown(name));
        findings.add(&PATH, path.spot(), message, "Give one of them another name.");
    }
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
                findings.add(
                    &PATH,
                    parameter.spot(),
                    message,
                    "Put it into the path, or take the parameter out.",
                );
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
            let message = format!("{} does not declare the path's `{{{}}}`.", owner.subject(), shown(name));
            let fix = format!("Add a parameter `{}` with `in: path` and `required: true`.", shown(name));
            findings.add(&PATH, owner.spot(), message, fix);
        }
    }
}
