//! References: each must lead somewhere, and each component must be of use.

use std::collections::HashSet;

use serde_json::Value;

use crate::document::{Document, Place};
use crate::finding::{Finding, Severity, Subject, shortened};

/// Keywords whose values are names with something under each, not an object.
const NAMED: [&str; 13] = [
    "paths",
    "properties",
    "schemas",
    "responses",
    "parameters",
    "requestBodies",
    "headers",
    "securitySchemes",
    "links",
    "callbacks",
    "content",
    "variables",
    "encoding",
];

/// Keywords whose values are data, in which a `$ref` is no reference.
const DATA: [&str; 4] = ["example", "examples", "default", "enum"];

/// The kinds of components that nothing but a reference makes use of.
const SHARED: [&str; 4] = ["responses", "parameters", "requestBodies", "headers"];

pub(super) fn findings(document: &Document, served: &Value) -> Vec<Finding> {
    let root = document.root();
    let mut references = Vec::new();
    collect(&root, false, &mut references);
    let mut findings: Vec<_> =
        references.iter().filter_map(|place| broken(document, served, place)).collect();
    findings.extend(unused(document, &root));
    findings
}

/// All values of `$ref` at or below a place.
fn collect<'a>(place: &Place<'a>, named: bool, references: &mut Vec<Place<'a>>) {
    for item in place.items() {
        collect(&item, false, references);
    }
    for (key, value) in place.entries() {
        if named {
            collect(&value, false, references);
        } else if key == "$ref" {
            references.push(value);
        } else if !DATA.contains(&key) && !key.starts_with("x-") {
            collect(&value, NAMED.contains(&key) && value.is_mapping(), references);
        }
    }
}

fn broken(document: &Document, served: &Value, place: &Place<'_>) -> Option<Finding> {
    let subject = Subject::document().with("reference", place.node.as_str().unwrap_or_default());
    let finding = |rule: &str, message: String| {
        let finding = Finding::new(Severity::Unreadable, rule, &place.pointer, place.node.span);
        finding.message(&subject, message).sides(super::object::said(&place.node.to_json()), "")
    };
    let Some(reference) = place.node.as_str() else {
        let message = "a `$ref` must be text.".to_owned();
        return Some(finding("reference-broken", message).fix("Write it as '#/components/…/…'."));
    };
    let Some(target) = document.find(reference) else {
        // What the code has and the file lacks is told of where it is missing.
        if reference.starts_with("#/components/schemas/") && served.pointer(&reference[1..]).is_some() {
            return None;
        }
        let (message, fix) = if reference.starts_with('#') {
            let message = format!("`{}` is not in this document.", shortened(reference));
            (message, "Correct the name, or add what it refers to.")
        } else {
            let message = format!("`{}` leads out of this document.", shortened(reference));
            (message, "Bring it into this document, under `components`.")
        };
        return Some(finding("reference-broken", message).fix(fix));
    };
    match document.resolve(&target) {
        Err(bad) if bad.circle => {
            let message = format!("`{}` leads in a circle.", shortened(reference));
            Some(finding("reference-circle", message).fix("Let it refer to something that is no reference."))
        }
        _ => None,
    }
}

/// Components that nothing in use refers to: no code can agree or disagree with them.
fn unused(document: &Document, root: &Place<'_>) -> Vec<Finding> {
    let components = root.get("components");
    let mut open: Vec<(Place<'_>, bool)> = root.get("paths").map(|paths| (paths, true)).into_iter().collect();
    // Schemas are compared whether they are referred to or not.
    open.extend(
        components.as_ref().and_then(|components| components.get("schemas")).map(|schemas| (schemas, true)),
    );
    let mut used = HashSet::new();
    while let Some((place, named)) = open.pop() {
        let mut references = Vec::new();
        collect(&place, named, &mut references);
        for reference in references {
            let target = reference.node.as_str().and_then(|reference| document.find(reference));
            if let Some(target) = target.filter(|target| used.insert(target.pointer.clone())) {
                open.push((target, false));
            }
        }
    }
    let mut findings = Vec::new();
    for kind in SHARED {
        let kind_of = components.as_ref().and_then(|components| components.get(kind));
        for (name, place) in
            kind_of.iter().flat_map(Place::entries).filter(|(_, place)| !used.contains(&place.pointer))
        {
            let name = shortened(name);
            let subject = Subject::document().with("component", &name);
            findings.push(
                Finding::new(Severity::Error, "component-unused", &place.pointer, place.anchor())
                    .message(
                        &subject,
                        format!("nothing that the service does refers to `{name}` in `components/{kind}`."),
                    )
                    .sides(name, "")
                    .fix("Refer to it, or take it out."),
            );
        }
    }
    findings
}
