//! Parameters: declared once, in accordance with the path, and used.

use std::collections::{BTreeSet, HashSet};

use document::openapi::{Kind, Model, Object, Parameter, PathItem, template};
use document::repair::Repair;
use document::shortened;

use crate::rule::{Findings, rules};

rules! {
    PATH: Spec Error fix Safe "path-params",
        "OpenAPI 3.0.3, 4.7.8.2 and 4.7.12.2; Spectral: path-params; Redocly: path-parameters-defined",
        "Each parameter in a path template is declared, each declared path parameter is in the template, and \
         path parameters are required.";
    UNIQUE: Spec Error fix Unsafe "operation-parameters",
        "OpenAPI 3.0.3, 4.7.9.1; Spectral: operation-parameters; Redocly: operation-parameters-unique",
        "No list of parameters has two with the same `name` and `in`.";
    HEADERS: Recommended Error fix Unsafe "no-ignored-headers", "OpenAPI 3.0.3, 4.7.12.2 and 4.7.17.1",
        "No header parameter is called `Accept`, `Content-Type` or `Authorization`, and no response header \
         `Content-Type`: clients must ignore them.";
}

pub(crate) fn check(model: &Model<'_>, findings: &mut Findings) {
    for parameter in model.all(Kind::Parameter) {
        each(parameter, findings);
    }
    let is_ignored = |header: &Object<'_>| {
        let is_of_response = header.parent().is_some_and(|parent| parent.kind() == Kind::Response);
        header.kind() == Kind::Header && is_of_response && header.name().eq_ignore_ascii_case("content-type")
    };
    for header in model.everything().filter(is_ignored) {
        let message = "OpenAPI ignores the header `Content-Type` of a response.";
        let fix = "Remove it; the keys of `content` are the media types.";
        findings.add(&HEADERS, header.spot(), message, fix).remove();
    }
    for list in model.everything().filter(|owner| matches!(owner.kind(), Kind::Operation | Kind::PathItem)) {
        let mut seen = HashSet::new();
        for parameter in list.children("parameters").filter_map(Parameter::new) {
            if !seen.insert(parameter.key()) {
                let (name, location) = (shortened(parameter.name()), parameter.location());
                let message = format!("The parameter `{name}` in `{location}` is declared twice.");
                findings.add(&UNIQUE, parameter.declared().spot(), message, "Remove one.").remove();
            }
        }
    }
    model.path_items().for_each(|path| in_path(path, findings));
}

fn each(parameter: Object<'_>, findings: &mut Findings) {
    if let Some(view) = Parameter::new(parameter).filter(Parameter::is_ignored) {
        let message = format!("OpenAPI ignores the header parameter `{}`.", view.name());
        let fix = "Remove it; `content` and `security` declare it.";
        findings.add(&HEADERS, parameter.value_spot("name"), message, fix);
    }
    if parameter.text("in") == Some("path") && !parameter.flag("required") {
        let message = format!("{} is not `required: true`.", parameter.subject());
        let (at, key) = (parameter.pointer(), "required".to_owned());
        let added = findings.add(&PATH, parameter.key_spot("required"), message, "Add `required: true`.");
        match parameter.has("required") {
            true => added.write(true),
            false => added.repair(Repair::Add { at, key, value: true.into() }),
        };
    }
}

fn in_path(path: PathItem<'_>, findings: &mut Findings) {
    let in_template = BTreeSet::from_iter(template(path.path()).1);
    let owners = path.operations().map(|operation| *operation).chain([*path]);
    for parameter in owners.flat_map(|owner| owner.children("parameters")).filter_map(Parameter::new) {
        if parameter.location() == "path" && !in_template.contains(parameter.name()) {
            let (path, name) = (shortened(path.path()), shortened(parameter.name()));
            let message = format!("The path `{path}` has no `{{{name}}}`.");
            let fix = "Add it to the path, or remove the parameter.";
            findings.add(&PATH, parameter.declared().spot(), message, fix);
        }
    }
    for operation in path.operations() {
        let declared = operation.parameters();
        let declared: HashSet<_> = declared.iter().map(Parameter::key).collect();
        for name in in_template.iter().filter(|name| !declared.contains(&("path", (**name).into()))) {
            let (subject, name) = (operation.subject(), shortened(name));
            let message = format!("{subject} does not declare the path parameter `{{{name}}}`.");
            let fix = format!("Add a parameter `{name}` with `in: path` and `required: true`.");
            findings.add(&PATH, operation.spot(), message, fix);
        }
    }
}
