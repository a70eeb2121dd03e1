//! Responses: one type for success and one for errors, since the generated method has one of each.

use std::cmp::Reverse;
use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};

use document::openapi::{Id, Kind, Model, Object};
use document::rule::{Findings, Rule, rules};

rules! {
    SUCCESS: Strict Error "progenitor-one-success", "progenitor 0.15",
        "All 2xx responses of an operation, and its `default`, have the same body.";
    ERROR: Strict Error "progenitor-one-error", "progenitor 0.15",
        "All 4xx and 5xx responses of an operation, and its `default`, have the same body.";
    SCHEMA: Strict Error "progenitor-response-schema", "progenitor 0.15",
        "An `application/json` response has a `schema` and no `encoding`.";
    UPGRADE: Strict Error "progenitor-websocket", "progenitor 0.15",
        "No operation has `x-dropshot-websocket`.";
}

/// The body of a response, as words for a message and a hash of its schema. Equal bodies have one type.
type Body = (&'static str, Option<u64>);

fn body(response: Object<'_>) -> Body {
    match json(response) {
        Some(media_type) => {
            let mut hasher = DefaultHasher::new();
            media_type.get("schema").map(|schema| schema.to_json().to_string()).hash(&mut hasher);
            ("another JSON body", Some(hasher.finish()))
        }
        None if response.children("content").next().is_some() => {
            ("a body that is not `application/json`", None)
        }
        None => ("no body", None),
    }
}

fn json<'a>(response: Object<'a>) -> Option<Object<'a>> {
    let is_json = |name: &str| name == "application/json" || name.starts_with("application/json;");
    response.children("content").find(|media_type| is_json(media_type.name()))
}

pub(crate) fn check(model: &Model<'_>, findings: &mut Findings) {
    let bodies: HashMap<Id, Body> =
        model.all(Kind::Response).map(|response| (response.id, body(response))).collect();
    let body = |response: Object<'_>| match bodies[&response.resolved()?.id] {
        (_, None) if response.name() == "101" => Some(("an upgrade", None)),
        body => Some(body),
    };
    for responses in model.all(Kind::Responses) {
        let sides: [(&Rule, &[char], &str); 2] =
            [(&SUCCESS, &['2'], "success"), (&ERROR, &['4', '5'], "error")];
        for (rule, classes, what) in sides {
            // With `2XX`, `default` covers errors only.
            let covered = what == "success" && responses.child("2XX").is_some();
            let belongs = |response: &Object<'_>| match response.name() {
                "default" => !covered,
                "101" => what == "success",
                status => status.starts_with(classes),
            };
            let all = responses.parts().filter(belongs);
            let all: Vec<_> = all.filter_map(|response| Some((response, body(response)?))).collect();
            one_type(&all, rule, what, findings);
        }
    }
    for operation in model.all(Kind::Operation).filter(|operation| operation.has("x-dropshot-websocket")) {
        let message = format!("{} is marked as a websocket.", operation.subject());
        let spot = operation.key_spot("x-dropshot-websocket");
        findings.add(&UPGRADE, spot, message, "Remove `x-dropshot-websocket`.").remove();
    }
    for response in model.all(Kind::Response) {
        let Some(media_type) = json(response) else { continue };
        if !media_type.has("schema") {
            let message = format!("{} has no schema.", media_type.subject());
            findings.add(&SCHEMA, media_type.spot(), message, "Add `schema`.");
        }
        if media_type.get("encoding").is_some_and(|encoding| !encoding.entries().is_empty()) {
            let message =
                format!("{} has an `encoding`, which has no meaning for JSON.", media_type.subject());
            findings.add(&SCHEMA, media_type.key_spot("encoding"), message, "Remove it.").remove();
        }
    }
}

fn one_type(all: &[(Object<'_>, Body)], rule: &Rule, what: &str, findings: &mut Findings) {
    let mut users: HashMap<Body, usize> = HashMap::new();
    all.iter().for_each(|(_, body)| *users.entry(*body).or_default() += 1);
    // The most frequent body is the expected one; if several are, that of the lowest status.
    let usual = |(response, body): &&(Object<'_>, Body)| (users[body], Reverse(response.name().to_owned()));
    let Some((first, body)) = all.iter().max_by_key(usual) else { return };
    for (response, other) in all.iter().filter(|(_, other)| other != body) {
        let (subject, (other, _), name) = (response.subject(), other, first.name());
        let message =
            format!("{subject} has {other}, unlike `{name}`: progenitor can generate one type of {what}.");
        let fix = format!("Give every {what} of the operation the same body.");
        findings.add(rule, response.spot(), message, fix);
    }
}
