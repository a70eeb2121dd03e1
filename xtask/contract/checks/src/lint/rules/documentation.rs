//! Names, summaries and descriptions must be present and not empty.

use document::openapi::{Kind, Model, Object};

use crate::lint::lacking;
use crate::rule::{Findings, Rule, rules};

rules! {
    CONTACT: Recommended Error "info-contact", "Spectral: info-contact",
        "`info` has a `contact`.";
    CONTACT_PROPERTIES: Strict Error "contact-properties", "Spectral: contact-properties",
        "The contact has a `name`, and a `url` or an `email`.";
    LICENSE: Recommended Error "info-license", "Spectral: info-license; Redocly: info-license",
        "`info` has a `license`.";
    LICENSE_URL: Recommended Error "license-url", "Spectral: license-url; Redocly: info-license-strict",
        "The license has a `url`.";
    INFO: Recommended Error "info-description", "Spectral: info-description",
        "`info` has a `description`.";
    TAG: Recommended Error "tag-description", "Spectral: tag-description; Redocly: tag-description",
        "Each tag has a `description`.";
    ID: Recommended Error "operation-operationId",
        "Spectral: operation-operationId; Redocly: operation-operationId",
        "Each operation has an `operationId`.";
    SUMMARY: Recommended Error "operation-summary", "Redocly: operation-summary",
        "Each operation has a `summary`.";
    OPERATION: Recommended Error "operation-description",
        "Spectral: operation-description; Redocly: operation-description",
        "Each operation has a `description`.";
    PARAMETER: Strict Error "parameter-description",
        "Spectral: oas3-parameter-description; Redocly: parameter-description",
        "Each parameter has a `description`.";
    HEADER: Strict Error "header-description", "this tool",
        "Each header has a `description`.";
    SCHEMA: Strict Error "schema-description", "this tool",
        "Schemas in `components`, and properties that are not references, have a `description`.";
    EMPTY: Strict Error fix Safe "no-empty-descriptions", "this tool",
        "Titles, names, summaries and descriptions are not empty.";
    SCRIPT: Recommended Error "no-script-tags-in-markdown", "Spectral: no-script-tags-in-markdown",
        "No description contains `<script`, because a documentation page might run it.";
    EVAL: Recommended Error "no-eval-in-markdown", "Spectral: no-eval-in-markdown",
        "No description contains `eval(`, because a documentation page might run it.";
}

/// The objects that must have a keyword, the rule, and what to write.
const EXPECTED: &[(Kind, &str, &Rule, &str)] = &[
    (Kind::Info, "contact", &CONTACT, "the person or team that answers questions"),
    (Kind::Info, "license", &LICENSE, "the name and the URL of the license"),
    (Kind::Info, "description", &INFO, "what the service does"),
    (Kind::Contact, "name", &CONTACT_PROPERTIES, "the name of a person or team"),
    (Kind::License, "url", &LICENSE_URL, "the URL of the license text"),
    (Kind::Tag, "description", &TAG, "what its operations have in common"),
    (Kind::Operation, "operationId", &ID, "a name such as `listPets`"),
    (Kind::Operation, "summary", &SUMMARY, "a few words, for lists of operations"),
    (Kind::Operation, "description", &OPERATION, "what a client should know"),
    (Kind::Parameter, "description", &PARAMETER, "its effect and its values"),
    (Kind::Header, "description", &HEADER, "its meaning and the RFC that defines it"),
    (Kind::Schema, "description", &SCHEMA, "its meaning and its unit or form"),
];

pub(crate) fn check(model: &Model<'_>, findings: &mut Findings) {
    for (kind, keyword, rule, what) in EXPECTED {
        let objects = model.all(*kind).filter(|object| *kind != Kind::Schema || is_public(object));
        let (name, fix) = (format!("`{keyword}`"), format!("Add `{keyword}`: {what}."));
        lacking(rule, objects, (&name, &fix), |object| object.has(keyword), findings);
    }
    for contact in model.all(Kind::Contact).filter(|contact| !contact.has("url") && !contact.has("email")) {
        let message = "The contact has neither `url` nor `email`.";
        findings.add(&CONTACT_PROPERTIES, contact.spot(), message, "Add one of them.");
    }
    for object in model.everything().filter(|object| !object.is_reference()) {
        for keyword in ["title", "name", "summary", "description"] {
            words(object, keyword, findings);
        }
    }
}

fn is_public(schema: &Object<'_>) -> bool {
    schema.keyword() == "properties"
        || schema.parent().is_some_and(|parent| parent.kind() == Kind::Components)
}

fn words(object: Object<'_>, keyword: &str, findings: &mut Findings) {
    let Some(text) = object.text(keyword) else { return };
    if text.trim().is_empty() {
        let message = format!("`{keyword}` of {} is empty.", object.subject());
        let fix = "Write it, or remove it if it is optional.";
        let added = findings.add(&EMPTY, object.value_spot(keyword), message, fix);
        if matches!(keyword, "summary" | "description") && object.kind() != Kind::Response {
            added.remove();
        }
    }
    let dangers = [("<script", &SCRIPT), ("eval(", &EVAL)];
    for (danger, rule) in dangers.into_iter().filter(|(danger, _)| text.contains(danger)) {
        let message = format!("`{keyword}` of {} contains `{danger}`.", object.subject());
        findings.add(rule, object.value_spot(keyword), message, "Remove it.");
    }
}
