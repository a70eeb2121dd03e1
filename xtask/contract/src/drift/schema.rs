//! The Schema Object.

use serde_json::Value;

use super::names::Names;
use super::object::Field::{Elsewhere, Plain, Set, SetOrNone};
use super::object::{self, OR_FALSE, OR_ZERO, Object};
use super::tolerated::tolerates;
use super::{list, malformed, mapping, served_entries};
use crate::document::{Document, Place};
use crate::finding::{Finding, Severity, Subject, shortened};

const SCHEMA: Object = Object {
    name: "schema",
    fields: &[
        ("$ref", Elsewhere),
        ("type", Plain),
        ("format", Plain),
        ("enum", Set),
        ("default", Plain),
        ("multipleOf", Plain),
        ("maximum", Plain),
        ("exclusiveMaximum", OR_FALSE),
        ("minimum", Plain),
        ("exclusiveMinimum", OR_FALSE),
        ("maxLength", Plain),
        ("minLength", OR_ZERO),
        ("pattern", Plain),
        ("maxItems", Plain),
        ("minItems", OR_ZERO),
        ("uniqueItems", OR_FALSE),
        ("maxProperties", Plain),
        ("minProperties", OR_ZERO),
        ("required", SetOrNone),
        ("nullable", OR_FALSE),
        ("readOnly", OR_FALSE),
        ("writeOnly", OR_FALSE),
        ("deprecated", OR_FALSE),
        ("discriminator", Plain),
        ("xml", Plain),
        ("properties", Elsewhere),
        ("additionalProperties", Elsewhere),
        ("items", Elsewhere),
        ("not", Elsewhere),
        ("allOf", Elsewhere),
        ("oneOf", Elsewhere),
        ("anyOf", Elsewhere),
    ],
};

/// Compares the `schema` of a parameter, a header or a media type.
pub(super) fn compare_under(
    document: &Document,
    subject: &Subject,
    owner: &Place<'_>,
    served: &Value,
) -> Vec<Finding> {
    part(document, subject, owner, served, "schema")
}

/// Compares two schemas.
pub(super) fn compare(
    document: &Document,
    subject: &Subject,
    written: &Place<'_>,
    served: &Value,
) -> Vec<Finding> {
    if !written.is_mapping() {
        return vec![malformed(subject, "the schema", written, "a mapping")];
    }
    let (written, served) = (only_member(written), only_member_served(served));
    let written = &written;
    match (written.get("$ref"), served.get("$ref").and_then(Value::as_str)) {
        (None, None) => inline(document, subject, written, served),
        (Some(file), Some(code)) => {
            let mut findings = siblings(subject, written);
            let target = file.node.as_str().and_then(|file| document.find(file));
            if target.is_none_or(|target| Some(target.pointer.as_str()) != code.strip_prefix('#')) {
                findings.extend(other_reference(document, subject, &file, code));
            }
            findings
        }
        (Some(file), None) => {
            let finding = Finding::new(Severity::Error, "schema-reference", &file.pointer, file.node.span);
            let name = name(file.node.as_str().unwrap_or_default());
            let message =
                format!("{subject} is the schema `{name}` in the file, and has no name in the code.");
            let finding = finding.message(subject, message).sides(format!("`{name}`"), object::said(served));
            vec![finding.fix("Write the schema out here, or give it a name in the code.")]
        }
        (None, Some(code)) => {
            let finding =
                Finding::new(Severity::Error, "schema-reference", &written.pointer, written.node.span);
            let message =
                format!("{subject} is the schema `{}` in the code, and has no name in the file.", name(code));
            let file = object::said(&written.node.to_json());
            let finding = finding.message(subject, message).sides(file, format!("`{}`", name(code)));
            vec![finding.fix(format!("Write `$ref: '{code}'`, or write the schema out in the code."))]
        }
    }
}

fn inline(document: &Document, subject: &Subject, written: &Place<'_>, served: &Value) -> Vec<Finding> {
    let mut findings = object::compare(&SCHEMA, subject, written, served);
    findings.extend(properties(document, subject, written, served));
    findings.extend(additional_properties(document, subject, written, served));
    for keyword in ["items", "not"] {
        findings.extend(part(document, subject, written, served, keyword));
    }
    for keyword in ["allOf", "oneOf", "anyOf"] {
        findings.extend(members(document, subject, written, served, keyword));
    }
    findings
}

fn properties(document: &Document, subject: &Subject, written: &Place<'_>, served: &Value) -> Vec<Finding> {
    let container = match mapping(written, "properties", subject) {
        Ok(container) => container,
        Err(finding) => return vec![finding],
    };
    let names = Names { kind: "property", owner: subject, container: &container, case_matters: true };
    let matched = names.matched(container.entries(), served_entries(served.get("properties")));
    let mut findings = matched.findings;
    for (name, place, value) in matched.pairs {
        findings.extend(compare(document, &subject.with("property", name), &place, value));
    }
    findings
}

/// Left out, `true` and `{}` are the same.
fn additional_properties(
    document: &Document,
    subject: &Subject,
    written: &Place<'_>,
    served: &Value,
) -> Vec<Finding> {
    const KEYWORD: &str = "additionalProperties";
    let allows_all =
        |value: &Value| *value == Value::Bool(true) || value.as_object().is_some_and(|all| all.is_empty());
    let place = written.get(KEYWORD);
    let file = place.as_ref().map_or(Value::Bool(true), |place| place.node.to_json());
    let code = served.get(KEYWORD).unwrap_or(&Value::Bool(true));
    match &place {
        _ if allows_all(&file) && allows_all(code) => return Vec::new(),
        Some(place) if file.is_object() && code.is_object() => {
            return compare(document, &subject.with("additional properties", ""), place, code);
        }
        _ if file == *code => return Vec::new(),
        _ => {}
    }
    let (span, pointer) = match &place {
        Some(place) => (place.node.span, place.pointer.as_str()),
        None => (written.anchor(), written.pointer.as_str()),
    };
    let (file, code) = (object::said(&file), object::said(code));
    let message = format!("`{KEYWORD}` of {subject} is `{file}` in the file and `{code}` in the code.");
    let finding = Finding::new(Severity::Error, "schema-additional-properties", pointer, span);
    let finding =
        finding.message(subject, message).sides(format!("{KEYWORD}: {file}"), format!("{KEYWORD}: {code}"));
    vec![finding.fix(format!("Write `{KEYWORD}: {code}`, or change the code."))]
}

/// A keyword whose value is a schema.
fn part(
    document: &Document,
    subject: &Subject,
    written: &Place<'_>,
    served: &Value,
    keyword: &'static str,
) -> Vec<Finding> {
    match (written.get(keyword), served.get(keyword)) {
        (None, None) => Vec::new(),
        (Some(file), Some(code)) if keyword == "schema" => compare(document, subject, &file, code),
        (Some(file), Some(code)) => compare(document, &subject.with(keyword, ""), &file, code),
        (file, code) => {
            let place = file.as_ref().unwrap_or(written);
            let said =
                |side: Option<Value>| side.map_or(format!("no {keyword}"), |value| object::said(&value));
            let (here, there) = if file.is_some() { ("file", "code") } else { ("code", "file") };
            let message = format!("{subject} has `{keyword}` in the {here}, but not in the {there}.");
            let rule = if keyword == "schema" {
                format!("schema-not-in-{there}")
            } else {
                format!("schema-{keyword}")
            };
            let finding = Finding::new(Severity::Error, rule, &place.pointer, place.anchor());
            let sides = (said(file.as_ref().map(|place| place.node.to_json())), said(code.cloned()));
            let finding = finding.message(subject, message).sides(sides.0, sides.1);
            vec![finding.fix(format!("Bring file and code together about `{keyword}`."))]
        }
    }
}

/// A list of schemas, in any order.
fn members(
    document: &Document,
    subject: &Subject,
    written: &Place<'_>,
    served: &Value,
    keyword: &'static str,
) -> Vec<Finding> {
    let container = match list(written, keyword, subject) {
        Ok(container) => container,
        Err(finding) => return vec![finding],
    };
    let subject = subject.with(keyword, "");
    let mut code: Vec<&Value> = served[keyword].as_array().into_iter().flatten().collect();
    let mut file = Vec::new();
    for member in container.items() {
        match code.iter().position(|code| compare(document, &subject, &member, code).is_empty()) {
            Some(position) => drop(code.remove(position)),
            None => file.push(member),
        }
    }
    let mut findings = Vec::new();
    let rule = || format!("schema-{}", keyword.replace("Of", "-of"));
    let mut code = code.into_iter();
    for member in file {
        match code.next() {
            Some(code) => findings.extend(compare(document, &subject, &member, code)),
            None => {
                let finding = Finding::new(Severity::Error, rule(), &member.pointer, member.anchor());
                let message = format!("{subject} has a member in the file that it has not in the code.");
                let finding = finding
                    .message(&subject, message)
                    .sides(object::said(&member.node.to_json()), "no such member");
                findings.push(finding.fix("Take the member out, or put it into the code."));
            }
        }
    }
    for code in code {
        let finding = Finding::new(Severity::Error, rule(), &container.pointer, container.anchor());
        let message = format!("{subject} has a member in the code that it has not in the file.");
        let finding = finding.message(&subject, message).sides("no such member", object::said(code));
        findings.push(finding.fix("Add the member, or take it out of the code."));
    }
    findings
}

/// `allOf` with one member is that member, unless it has more to say than words.
fn only_member<'a>(written: &Place<'a>) -> Place<'a> {
    let mut written = written.clone();
    loop {
        let more =
            written.entries().any(|(keyword, _)| keyword != "allOf" && !tolerates(SCHEMA.name, keyword));
        let member = written.get("allOf").filter(|members| !more && members.node.items().len() == 1);
        match member.and_then(|members| members.items().next()).filter(Place::is_mapping) {
            // Findings about the member stand where the schema's key is.
            Some(member) => written = Place { key: written.key, ..member },
            None => return written,
        }
    }
}

fn only_member_served(served: &Value) -> &Value {
    let mut served = served;
    loop {
        let keywords = served.as_object().into_iter().flatten().map(|(keyword, _)| keyword);
        let more = { keywords }.any(|keyword| keyword != "allOf" && !tolerates(SCHEMA.name, keyword));
        match served.get("allOf").and_then(Value::as_array).map(Vec::as_slice) {
            Some([member]) if !more => served = member,
            _ => return served,
        }
    }
}

/// What stands beside a `$ref` has no effect, so it cannot be what somebody meant.
fn siblings(subject: &Subject, written: &Place<'_>) -> Vec<Finding> {
    let beside =
        written.entries().filter(|(keyword, _)| *keyword != "$ref" && !tolerates(SCHEMA.name, keyword));
    let finding = |(keyword, place): (&str, Place<'_>)| {
        let message =
            format!("{subject} has `{}` beside a `$ref`, where it has no effect.", shortened(keyword));
        Finding::new(Severity::Error, "reference-sibling", &place.pointer, place.anchor())
            .message(subject, message)
            .sides(format!("{keyword}: {}", object::said(&place.node.to_json())), "")
            .fix("Move it into the schema that is referred to, or write the schema out here.")
    };
    beside.map(finding).collect()
}

fn other_reference(document: &Document, subject: &Subject, file: &Place<'_>, code: &str) -> Option<Finding> {
    let reference = file.node.as_str().unwrap_or_default();
    // One that leads nowhere is told of as such.
    document.find(reference)?;
    let message = format!(
        "{subject} is the schema `{}` in the file and `{}` in the code.",
        name(reference),
        name(code)
    );
    Some(
        Finding::new(Severity::Error, "schema-reference", &file.pointer, file.node.span)
            .message(subject, message)
            .sides(format!("`{}`", name(reference)), format!("`{}`", name(code)))
            .fix(format!("Write `$ref: '{code}'`, or change the code.")),
    )
}

fn name(reference: &str) -> &str {
    reference.strip_prefix("#/components/schemas/").unwrap_or(reference)
}
