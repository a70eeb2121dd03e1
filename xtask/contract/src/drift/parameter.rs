//! The Parameter Object. Parameters are known by their place and name; those of the path item count for
//! each of its operations.

use std::collections::HashMap;

use serde_json::{Map, Value};

use super::names::Names;
use super::object::Field::{Elsewhere, Or, Plain};
use super::object::{self, OR_FALSE, Object};
use super::{list, malformed, media_type, resolve, schema};
use crate::document::{Document, Place};
use crate::finding::{Finding, Severity, Subject};

const PARAMETER: Object = Object {
    name: "parameter",
    fields: &[
        ("name", Elsewhere),
        ("in", Plain),
        ("required", OR_FALSE),
        ("deprecated", OR_FALSE),
        ("allowEmptyValue", OR_FALSE),
        ("allowReserved", OR_FALSE),
        ("style", Or(default_style)),
        ("explode", Or(default_explode)),
        ("schema", Elsewhere),
        ("content", Elsewhere),
    ],
};

fn default_style(parameter: &Map<String, Value>) -> Value {
    match parameter.get("in").and_then(Value::as_str) {
        Some("query" | "cookie") => "form".into(),
        _ => "simple".into(),
    }
}

fn default_explode(parameter: &Map<String, Value>) -> Value {
    let style = parameter.get("style").cloned().unwrap_or_else(|| default_style(parameter));
    (style == "form").into()
}

/// A parameter of the file: what it is called, where it is, and how to speak of it.
struct Written<'a> {
    name: &'a str,
    kind: &'a str,
    place: Place<'a>,
    /// Its name in the file, to point at.
    key: Place<'a>,
}

/// Compares the parameters that hold for an operation. Each pair is the path item and the operation.
pub(super) fn compare_all(
    document: &Document,
    subject: &Subject,
    written: (&Place<'_>, &Place<'_>),
    served: (&Value, &Value),
) -> Vec<Finding> {
    let container = match list(written.1, "parameters", subject) {
        Ok(container) => container,
        Err(finding) => return vec![finding],
    };
    let mut findings = Vec::new();
    let own = collect(document, subject, &container, &mut findings);
    if !findings.is_empty() {
        return findings;
    }
    // What is wrong with the list itself is the path item's to tell.
    let shared = list(written.0, "parameters", subject).ok();
    let shared = shared.map(|shared| collect(document, subject, &shared, &mut findings)).unwrap_or_default();
    let code = served_parameters(served);

    let mut keyed: Vec<(String, Written<'_>)> =
        own.into_iter().map(|parameter| (key(&parameter), parameter)).collect();
    let overridden = |name: &str, keyed: &[(String, Written<'_>)]| keyed.iter().any(|(own, _)| own == name);
    for parameter in shared {
        let name = key(&parameter);
        if !overridden(&name, &keyed) {
            keyed.push((name, parameter));
        }
    }
    moved(subject, &mut keyed, &code, &mut findings);

    let names = Names { kind: "parameter", owner: subject, container: &container, case_matters: true };
    let points = keyed.iter().map(|(name, parameter)| (name.as_str(), parameter.key.clone()));
    let matched = names.matched(points, code.iter().map(|(name, value)| (name.as_str(), *value)));
    findings.extend(matched.findings);
    let by_name: HashMap<&str, &Written<'_>> =
        keyed.iter().map(|(name, parameter)| (name.as_str(), parameter)).collect();
    for (name, _, value) in matched.pairs {
        if let Some(parameter) = by_name.get(name) {
            findings.extend(compare(document, subject, parameter, value));
        }
    }
    findings
}

/// A parameter that only changed its place is one difference, not two.
fn moved(
    subject: &Subject,
    keyed: &mut [(String, Written<'_>)],
    code: &[(String, &Value)],
    findings: &mut Vec<Finding>,
) {
    let written: Vec<String> = keyed.iter().map(|(name, _)| name.clone()).collect();
    for (name, parameter) in keyed.iter_mut() {
        let elsewhere = code.iter().find(|(other, value)| {
            value["name"] == parameter.name
                && !written.contains(other)
                && !code.iter().any(|(other, _)| other == name)
        });
        let Some((other, value)) = elsewhere else { continue };
        let Some(place) = parameter.place.get("in") else { continue };
        let (file, code) = (parameter.kind, value["in"].as_str().unwrap_or_default());
        let subject = subject.with("parameter", parameter.name);
        let message = format!("{subject} is in the {file} in the file and in the {code} in the code.");
        findings.push(
            Finding::new(Severity::Error, "parameter-in", &place.pointer, place.node.span)
                .message(&subject, message)
                .sides(format!("in: {file}"), format!("in: {code}"))
                .fix(format!("Write `in: {code}`, or change the code.")),
        );
        name.clone_from(other);
    }
}

fn compare(document: &Document, subject: &Subject, written: &Written<'_>, served: &Value) -> Vec<Finding> {
    let subject = subject.with("parameter", written.name);
    let mut code = served.clone();
    // Where the places differ, that has been told.
    code["in"] = written.kind.into();
    let mut findings = object::compare(&PARAMETER, &subject, &written.place, &code);
    findings.extend(schema::compare_under(document, &subject, &written.place, served));
    findings.extend(media_type::compare_all(document, &subject, &written.place, served));
    findings
}

fn collect<'a>(
    document: &'a Document,
    subject: &Subject,
    list: &Place<'a>,
    findings: &mut Vec<Finding>,
) -> Vec<Written<'a>> {
    let mut parameters = Vec::new();
    for item in list.items() {
        let Some((place, _)) = resolve(document, &item, subject.clone()) else { continue };
        let text = |key: &str| place.node.get(key).and_then(|node| node.as_str());
        match (text("name"), text("in")) {
            (Some(name), Some(kind)) => {
                let key = place.get("name").map(|name| Place { key: Some(name.node.span), ..name });
                let key = key.filter(|_| place.pointer == item.pointer).unwrap_or(item);
                parameters.push(Written { name, kind, key, place });
            }
            _ => {
                findings.push(malformed(subject, "a parameter", &place, "a mapping with `name` and `in`"));
                let all = object::compare(&PARAMETER, subject, &place, &Value::Null);
                findings
                    .extend(all.into_iter().filter(|finding| finding.rule == "parameter-unknown-keyword"));
            }
        }
    }
    parameters
}

/// HTTP gives no meaning to the case of a header's name.
fn key(parameter: &Written<'_>) -> String {
    named(parameter.kind, parameter.name)
}

fn named(kind: &str, name: &str) -> String {
    match kind {
        "header" => format!("{} in {kind}", name.to_ascii_lowercase()),
        _ => format!("{name} in {kind}"),
    }
}

fn served_parameters<'s>((item, operation): (&'s Value, &'s Value)) -> Vec<(String, &'s Value)> {
    let mut parameters: Vec<(String, &Value)> = Vec::new();
    for list in [operation, item] {
        for parameter in list["parameters"].as_array().into_iter().flatten() {
            let text = |key: &str| parameter[key].as_str().unwrap_or_default();
            let name = named(text("in"), text("name"));
            if !parameters.iter().any(|(known, _)| *known == name) {
                parameters.push((name, parameter));
            }
        }
    }
    parameters
}
