//! Descriptions: there where a reader needs them, and nothing in them but words.

use crate::finding::Severity;
use crate::openapi::Kind;
use crate::openapi::{Model, Object};
use crate::rule::{Findings, Rule};

const EMPTY: Rule = Rule::strict(
    "no-empty-descriptions",
    Severity::Error,
    "this project",
    "Titles, names, summaries and descriptions say something.",
);
const SCHEMA: Rule = Rule::strict(
    "schema-description",
    Severity::Error,
    "this project",
    "Schemas of `components`, and properties that do not refer to one, have a description.",
);
const HEADER: Rule =
    Rule::strict("header-description", Severity::Error, "this project", "Each header has a description.");
const SCRIPT: Rule = Rule::recommended(
    "no-script-tags-in-markdown",
    Severity::Error,
    "Spectral",
    "No description has a `<script>` in it, which documentation pages might run.",
);
const EVAL: Rule = Rule::recommended(
    "no-eval-in-markdown",
    Severity::Error,
    "Spectral",
    "No description has an `eval(` in it.",
);

pub(crate) const RULES: &[&Rule] = &[&EMPTY, &SCHEMA, &HEADER, &SCRIPT, &EVAL];

pub(crate) fn check(model: &Model<'_>, findings: &mut Findings) {
    for object in model.everything().filter(|object| !object.is_reference()) {
        for keyword in ["title", "name", "summary", "description"] {
            // The keywords of a Schema Object are its own; a property called `name` is an object below.
            if let Some(text) = object.text(keyword) {
                words(object, keyword, text, findings);
            }
        }
        match object.kind() {
            Kind::Schema if is_public(object) && !object.has("description") => {
                let message = format!("{} has no description.", object.subject());
                findings.add(
                    &SCHEMA,
                    object.spot(),
                    message,
                    "Say what it stands for, with its unit or form.",
                );
            }
            Kind::Header if !object.has("description") => {
                let message = format!("{} has no description.", object.subject());
                findings.add(&HEADER, object.spot(), message, "Say what it tells, and which RFC defines it.");
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
        let message = format!("`{keyword}` of {} says nothing.", object.subject());
        findings.add(
            &EMPTY,
            object.value_spot(keyword),
            message,
            "Write it, or take it out where it may be left out.",
        );
    }
    let dangers = [("<script", &SCRIPT), ("eval(", &EVAL)];
    for (danger, rule) in dangers.into_iter().filter(|(danger, _)| text.contains(danger)) {
        let message = format!("`{keyword}` of {} has `{danger}` in it.", object.subject());
        findings.add(rule, object.value_spot(keyword), message, "Take it out.");
    }
}
