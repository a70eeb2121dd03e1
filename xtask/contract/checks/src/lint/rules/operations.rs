//! Operations: identifier, request body, tags, responses, and the dates on which deprecated ones will be removed.

use std::collections::hash_map::Entry;
use std::collections::{BTreeSet, HashMap, HashSet};

use document::openapi::{Kind, Model, Object};
use document::{Node, shortened};
use jiff::civil::Date;

use crate::lint::{Settings, item_spot, items, lacking};
use crate::rule::{Added, Findings, Rule, rules};

rules! {
    UNIQUE: Spec Error "operation-operationId-unique",
        "OpenAPI 3.0.3, 4.7.10.1; Spectral: operation-operationId-unique; Redocly: \
         operation-operationId-unique",
        "Each `operationId` is unique in the document.";
    URL_SAFE: Recommended Error "operation-operationId-valid-in-url",
        "Spectral: operation-operationId-valid-in-url; Redocly: operation-operationId-url-safe",
        "An `operationId` has only characters that are allowed in a URL.";
    BODY: Recommended Error "no-ignored-request-body", "OpenAPI 3.0.3, 4.7.10.1; RFC 9110, 9.3",
        "GET, HEAD, DELETE and TRACE have no request body, because HTTP defines no meaning for it and \
         clients ignore it.";
    TAGS: Recommended Error "operation-tags", "Spectral: operation-tags",
        "Each operation has a tag.";
    TAG_DEFINED: Recommended Error fix Unsafe "operation-tag-defined",
        "Spectral: operation-tag-defined; Redocly: operation-tag-defined",
        "The tags of operations are defined in `tags` of the document.";
    TAG_UNIQUE: Spec Error "openapi-tags-uniqueness",
        "OpenAPI 3.0.3, 4.7.1.1; Spectral: openapi-tags-uniqueness",
        "No two tags have the same name.";
    SUCCESS: Recommended Error "operation-success-response",
        "Spectral: operation-success-response; Redocly: operation-2xx-response",
        "Each operation has a 2xx or 3xx response.";
    ERROR: Recommended Error "operation-4xx-response", "Redocly: operation-4xx-response",
        "Each operation has a 4xx response.";
    QUOTED: Spec Warning fix Safe "quoted-status-codes", "OpenAPI 3.0.3, 4.7.16.2",
        "Status codes are in quotation marks, since the keys of JSON are strings.";
    EXAMPLE: Strict Error "media-type-example", "this tool",
        "Each request and response body has an example.";
    NO_BODY: Recommended Error "no-body-with-204", "RFC 9110, 6.4.1 and 15.3.6",
        "Responses with the status 1xx, 204, 205 and 304 have no body.";
    PASSED: Strict Error "sunset-passed", "oasdiff: x-sunset; RFC 8594",
        "The `x-sunset` date of an operation is not in the past.";
    NEAR: Strict Warning "sunset-near", "oasdiff: x-sunset; RFC 8594",
        "The `x-sunset` date of an operation is more than 90 days ahead, or as many as the setting `sunset-days`.";
}

pub(crate) fn check(model: &Model<'_>, findings: &mut Findings) {
    let mut ids = HashMap::new();
    for operation in model.all(Kind::Operation) {
        if operation.has("requestBody") && matches!(operation.name(), "get" | "head" | "delete" | "trace") {
            let (subject, method) = (operation.subject(), operation.name().to_uppercase());
            let message = format!("{subject} has a request body, but HTTP defines none for {method}.");
            let fix = "Use parameters, or another method.";
            findings.add(&BODY, operation.key_spot("requestBody"), message, fix);
        }
        let Some(id) = operation.text("operationId") else { continue };
        let spot = || operation.value_spot("operationId");
        match ids.entry(id) {
            Entry::Vacant(new) => drop(new.insert(spot().span.line)),
            Entry::Occupied(first) => {
                let message = format!(
                    "The operation on line {} has the `operationId` `{}` too.",
                    first.get(),
                    shortened(id)
                );
                findings.add(&UNIQUE, spot(), message, "Rename one of them.");
            }
        }
        let safe = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~:/?#[]@!$&'()*+,;=".contains(&byte);
        if id.is_empty() || !id.bytes().all(safe) {
            let message =
                format!("The `operationId` `{}` has characters that a URL does not allow.", shortened(id));
            findings.add(&URL_SAFE, spot(), message, "Use letters and digits.");
        }
    }
    tags(model, findings);
    responses(model, findings);
}

fn tags(model: &Model<'_>, findings: &mut Findings) {
    let mut defined = HashSet::new();
    for tag in model.all(Kind::Tag) {
        if tag.text("name").is_some_and(|name| !defined.insert(name)) {
            let message = format!("{} is defined twice.", tag.subject());
            findings.add(&TAG_UNIQUE, tag.value_spot("name"), message, "Remove one.");
        }
    }
    let (operations, fix) = (model.all(Kind::Operation), "Add `tags` with a defined tag.");
    lacking(&TAGS, operations, ("tag", fix), |it| !items(*it, "tags").is_empty(), findings);
    if !model.root().has("tags") {
        let used = model.all(Kind::Operation).flat_map(|it| items(it, "tags")).filter_map(Node::as_str);
        let used: BTreeSet<_> = used.collect();
        if let Some(first) = used.first() {
            let message = format!(
                "The document has no `tags`, but its operations use {}, the first is `{}`.",
                used.len(),
                shortened(first)
            );
            let fix = "Define each tag of the operations in `tags` of the document.";
            findings.add(&TAG_DEFINED, model.root().spot(), message, fix);
        }
        return;
    }
    for operation in model.all(Kind::Operation) {
        for (number, tag) in items(operation, "tags").iter().enumerate() {
            let Some(name) = tag.as_str().filter(|name| !defined.contains(name)) else { continue };
            let message = format!("The tag `{}` of {} is not defined.", shortened(name), operation.subject());
            let fix = "Define it in `tags` of the document, or use a defined one.";
            let added = findings.add(&TAG_DEFINED, item_spot(operation, "tags", number), message, fix);
            added.meant(name, defined.iter().copied(), Added::write);
        }
    }
}

fn responses(model: &Model<'_>, findings: &mut Findings) {
    let needed: [(&Rule, &[char], _, _); 2] = [
        (&SUCCESS, &['2', '3'], "2xx or 3xx response", "Add a 2xx or 3xx response."),
        (&ERROR, &['4'], "4xx response", "Add a 4xx response."),
    ];
    for (rule, classes, what, fix) in needed {
        let has = |it: &Object<'_>| it.parts().any(|response| response.name().starts_with(classes));
        lacking(rule, model.all(Kind::Responses), (what, fix), has, findings);
    }
    for response in model.all(Kind::Responses).flat_map(|responses| responses.parts()) {
        status(response, findings);
    }
    let has = |it: &Object<'_>| it.has("example") || it.has("examples");
    lacking(&EXAMPLE, model.all(Kind::MediaType), ("example", "Add an `example`."), has, findings);
}

fn status(response: Object<'_>, findings: &mut Findings) {
    let status = response.name();
    let spot = response.spot();
    let key = response.model().source().get(spot.span.start..).unwrap_or_default();
    if key.starts_with(status) && status.bytes().all(|byte| byte.is_ascii_digit()) {
        let message = "The status code is not in quotation marks.";
        findings.add(&QUOTED, spot, message, "Write quotation marks, such as `'200'`.").rename(status);
    }
    let Some(resolved) = response.resolved() else { return };
    let content = resolved.get("content").map(Node::entries).unwrap_or_default();
    if (status.starts_with('1') || matches!(status, "204" | "205" | "304")) && !content.is_empty() {
        let message =
            format!("{} has a body, which HTTP does not allow for this status.", response.subject());
        findings.add(&NO_BODY, response.spot(), message, "Remove `content`, or use another status.");
    }
}

/// The number of days before a sunset on which warnings begin, unless the configuration sets another.
pub const SUNSET_DAYS: u16 = 90;

/// Checks the dates on which deprecated operations will be removed.
pub(crate) fn sunsets(model: &Model<'_>, settings: &Settings, findings: &mut Findings) {
    for operation in model.all(Kind::Operation).filter(|operation| operation.flag("deprecated")) {
        let Some(sunset) = operation.text("x-sunset").and_then(|text| text.parse::<Date>().ok()) else {
            continue;
        };
        let Ok(span) = settings.today.until(sunset) else { continue };
        let (subject, spot, days) = (operation.subject(), operation.value_spot("x-sunset"), span.get_days());
        if days < 0 {
            let message = format!("The sunset of {subject} was on {sunset}.");
            let fix = "Remove the operation, or move the date and announce it.";
            findings.add(&PASSED, spot, message, fix);
        } else if days <= i32::from(settings.sunset_days) {
            let message = format!("The sunset of {subject} is on {sunset}, in {days} days.");
            findings.add(&NEAR, spot, message, "Plan the release that removes the operation.");
        }
    }
}
