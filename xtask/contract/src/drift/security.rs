//! The Security Requirement Object and the Security Scheme Object.
//!
//! What counts is what holds for an operation: its own requirements, or those of the document if it has
//! none. Either way the finding stands where the requirement is written.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use serde_json::Value;

use super::malformed;
use super::object::Field::Plain;
use super::object::{self, Object};
use crate::document::{Document, Place};
use crate::finding::{Finding, Severity, Subject};

/// Any of these will do; each is a set of schemes with their scopes, all of which are needed.
type Requirements = BTreeSet<BTreeMap<String, BTreeSet<String>>>;

const SCHEME: Object = Object {
    name: "security-scheme",
    fields: &[
        ("type", Plain),
        ("scheme", Plain),
        ("name", Plain),
        ("in", Plain),
        ("flows", Plain),
        ("openIdConnectUrl", Plain),
    ],
};

pub(super) fn scheme(
    document: &Document,
    subject: &Subject,
    written: &Place<'_>,
    served: &Value,
) -> Vec<Finding> {
    match super::resolve(document, written, subject.clone()) {
        Some((written, subject)) => object::compare(&SCHEME, &subject, &written, served),
        None => Vec::new(),
    }
}

/// Whether the document's own requirements can be understood at all.
pub(super) fn top_level(root: &Place<'_>) -> Option<Finding> {
    let security = root.get("security")?;
    requirements(&security).is_none().then(|| not_understood(&Subject::document(), &security))
}

/// Compares what holds for one operation.
pub(super) fn compare(
    root: &Place<'_>,
    subject: &Subject,
    written: &Place<'_>,
    served: &Value,
) -> Option<Finding> {
    let code = served.get("security").map(from_json).unwrap_or_default();
    let own = written.get("security");
    let inherited = own.is_none();
    let place = own.or_else(|| root.get("security"));
    let file = match &place {
        None => Requirements::new(),
        Some(place) => match requirements(place) {
            Some(file) => file,
            None => return (!inherited).then(|| not_understood(subject, place)),
        },
    };
    if means(&file) == means(&code) {
        return None;
    }
    // Without requirements anywhere, the place to write them is beside `paths`.
    let (pointer, span) = match &place {
        Some(place) if place.node.items().is_empty() => (place.pointer.clone(), place.anchor()),
        Some(place) => {
            let only_here = |alternative: &Place<'_>| {
                let alternative = from_json(&Value::Array(vec![alternative.node.to_json()]));
                !alternative.is_subset(&means(&code))
            };
            let place = place.items().find(only_here).unwrap_or_else(|| place.clone());
            (place.pointer.clone(), place.node.span)
        }
        None => (root.pointer.clone(), root.get_or_nothing("paths").anchor()),
    };
    let message = format!("{subject} needs {} in the file, and {} in the code.", said(&file), said(&code));
    Some(
        Finding::new(Severity::Error, "operation-security", &pointer, span)
            .message(subject, message)
            .sides(said(&file), said(&code))
            .fix(format!(
                "Write a `security` that asks for {}, or change what the code asks for.",
                said(&code)
            )),
    )
}

/// No alternative at all and an alternative that asks for nothing are the same when alone.
fn means(requirements: &Requirements) -> Requirements {
    if requirements.is_empty() { Requirements::from([BTreeMap::new()]) } else { requirements.clone() }
}

fn requirements(place: &Place<'_>) -> Option<Requirements> {
    let json = place.node.to_json();
    let well_formed = json.as_array()?.iter().all(|alternative| {
        alternative.as_object().is_some_and(|schemes| {
            let mut scopes = schemes.values();
            scopes.all(|scopes| scopes.as_array().is_some_and(|scopes| scopes.iter().all(Value::is_string)))
        })
    });
    well_formed.then(|| from_json(&json))
}

fn from_json(json: &Value) -> Requirements {
    let scopes = |scopes: &Value| -> BTreeSet<String> {
        let scopes = scopes.as_array().into_iter().flatten();
        scopes.filter_map(Value::as_str).map(str::to_owned).collect()
    };
    let alternative = |alternative: &Value| -> BTreeMap<String, BTreeSet<String>> {
        super::served_entries(Some(alternative)).map(|(name, list)| (name.to_owned(), scopes(list))).collect()
    };
    json.as_array().into_iter().flatten().map(alternative).collect()
}

fn not_understood(subject: &Subject, place: &Place<'_>) -> Finding {
    malformed(subject, "security", place, "a list of mappings from a scheme to a list of scopes")
}

fn said(requirements: &Requirements) -> String {
    let mut text = String::new();
    for (position, alternative) in means(requirements).iter().enumerate() {
        text.push_str(if position == 0 { "" } else { " or " });
        if alternative.is_empty() {
            text.push_str("no key");
        }
        for (position, (scheme, scopes)) in alternative.iter().enumerate() {
            text.push_str(if position == 0 { "" } else { " and " });
            // Writing to a string cannot fail.
            let _ = write!(text, "`{scheme}`");
            if !scopes.is_empty() {
                let scopes: Vec<_> = scopes.iter().map(String::as_str).collect();
                let _ = write!(text, " ({})", scopes.join(", "));
            }
        }
    }
    text
}
