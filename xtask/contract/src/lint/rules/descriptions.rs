//! Descriptions: present where a reader needs them, not empty, and without scripts.

use crate::openapi::{Kind, Model, Object};
use crate::rule::{Findings, rules};

rules! {
    EMPTY: Strict Error "no-empty-descriptions", "this project",
        "Titles, names, summaries and descriptions are not empty.";
    SCHEMA: Strict Error "schema-description", "this project",
        "Schemas in `components`, and properties that are not references, have a `description`.";
    HEADER: Strict Error "header-description", "this project",
        "Each header has a `description`.";
    SCRIPT: Recommended Error "no-script-tags-in-markdown", "Spectral: no-script-tags-in-markdown",
        "No description contains `<script`, because a documentation page might run it.";
    EVAL: Recommended Error "no-eval-in-markdown", "Spectral: no-eval-in-markdown",
        "No description contains `eval(`, because a documentation page might run it.";
}

pub(crate) fn check(model: &Model<'_>, findings: &mut Findings) {
    for object in model.everything().filter(|object| !object.is_reference()) {
        for keyword in ["title", "name", "summary", "description"] {
            if let Some(text) = object.text(keyword) {
                words(object, keyword, text, findings);
            }
        }
        match object.kind() {
            Kind::Schema if is_public(object) && !object.has("description") => {
                let message = format!("{} has no description.", object.subject());
                let fix = "Add a `description` of its meaning and its unit or form.";
                findings.add(&SCHEMA, object.spot(), message, fix);
            }
            Kind::Header if !object.has("description") => {
                let message = format!("{} has no description.", object.subject());
                findings.add(
                    &HEADER,
                    object.spot(),
                    message,
                    "Add a `description` of its meaning and the RFC that defines it.",
                );
            }
            _ => {}
        }
    }
}

fn is_public(schema: Object<'_>) -> bool {
    schema.keyword() == "properties"
        || schema.parent().is_some_and(|parent| parent.kind() == Kind::Components)
}

fn words(object: Object<'_>, keyword: &str, text: &str, findings: &mut Findings) {
    if text.trim().is_empty() {
        let message = format!("`{keyword}` of {} is empty.", object.subject());
        findings.add(
            &EMPTY,
            object.value_spot(keyword),
            message,
            "Write it, or remove it if it is optional.",
        );
    }
    let dangers = [("<script", &SCRIPT), ("eval(", &EVAL)];
    for (danger, rule) in dangers.into_iter().filter(|(danger, _)| text.contains(danger)) {
        let message = format!("`{keyword}` of {} contains `{danger}`.", object.subject());
        findings.add(rule, object.value_spot(keyword), message, "Remove it.");
    }
}
