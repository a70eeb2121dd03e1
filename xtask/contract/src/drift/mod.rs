//! File against code: one OpenAPI object per file, each a function from what is written and what is
//! served to findings.
//!
//! The two are compared as plain data, keyword by keyword, and every keyword counts: one that no table
//! here knows is a finding, never nothing. The typed model of OpenAPI would skip it. What is left out on
//! purpose stands in [`TOLERATED`].
//!
//! Names matter where generated clients see them, so schemas are compared by the name of their component.
//! Other components are only a way of writing less: a reference to one is as good as what it refers to.
//!
//! Where file and code disagree about whether something exists, nothing below it is compared, and a place
//! in `components` is told of once however often it is used: one difference, one finding.

#![allow(clippy::result_large_err, reason = "a finding is rare, so its size costs nothing")]

use crate::document as yaml;
use jiff::civil::Date;
use serde_json::Value;

use crate::document::{Document, Place};
use crate::finding::{Finding, Severity, Subject};

mod components;
mod deprecation;
mod document;
mod header;
mod media_type;
mod names;
mod object;
mod operation;
mod parameter;
mod path_item;
mod references;
mod request_body;
mod response;
mod schema;
mod security;
mod server;
mod tolerated;

pub use tolerated::{TOLERATED, Tolerated};

/// All differences between the file and the code, by their place in the file. `today` is the day that
/// sunset dates are judged by.
pub fn compare(document: &Document, served: &Value, today: Date) -> Vec<Finding> {
    let mut findings = references::findings(document, served);
    findings.extend(document::compare(document, served, today));
    once_each(findings)
}

/// Sorts by place, and makes one finding of those that say the same of one place.
fn once_each(mut findings: Vec<Finding>) -> Vec<Finding> {
    findings.sort_by(|one, other| {
        let order = |finding: &Finding| (finding.span.start, finding.span.end);
        order(one).cmp(&order(other)).then_with(|| sayings(one).cmp(&sayings(other)))
    });
    let mut merged: Vec<Finding> = Vec::with_capacity(findings.len());
    for finding in findings {
        match merged.last_mut().filter(|last| last.span == finding.span && sayings(last) == sayings(&finding))
        {
            Some(last) => {
                for operation in finding.operations {
                    if !last.operations.contains(&operation) {
                        last.operations.push(operation);
                    }
                }
            }
            None => merged.push(finding),
        }
    }
    merged
}

fn sayings(finding: &Finding) -> [&str; 4] {
    [&finding.rule, &finding.pointer, &finding.file, &finding.code]
}

/// What a reference stands for, and what to call it. `None` if it stands for nothing, which
/// [`references`] tells of.
fn resolve<'a>(document: &'a Document, place: &Place<'a>, subject: Subject) -> Option<(Place<'a>, Subject)> {
    let target = document.resolve(place).ok()?;
    if target.pointer == place.pointer {
        return Some((target, subject));
    }
    let name = target.pointer.rsplit('/').next().unwrap_or_default().replace("~1", "/").replace("~0", "~");
    Some((target, subject.component(&name)))
}

/// The mapping under a keyword, empty if there is none.
fn mapping<'a>(owner: &Place<'a>, keyword: &str, subject: &Subject) -> Result<Place<'a>, Finding> {
    let place = owner.get_or_nothing(keyword);
    let fits = place.is_mapping() || place.is_nothing();
    if fits { Ok(place) } else { Err(malformed(subject, keyword, &place, "a mapping")) }
}

/// The list under a keyword, empty if there is none.
fn list<'a>(owner: &Place<'a>, keyword: &str, subject: &Subject) -> Result<Place<'a>, Finding> {
    let place = owner.get_or_nothing(keyword);
    let fits = matches!(place.node.value, yaml::Value::Sequence(_)) || place.is_nothing();
    if fits { Ok(place) } else { Err(malformed(subject, keyword, &place, "a list")) }
}

/// The entries of an object of the code.
fn served_entries(value: Option<&Value>) -> impl Iterator<Item = (&str, &Value)> {
    value.and_then(Value::as_object).into_iter().flatten().map(|(name, value)| (name.as_str(), value))
}

/// That a part of the file has the wrong shape to be compared.
fn malformed(subject: &Subject, what: &str, place: &Place<'_>, wanted: &str) -> Finding {
    Finding::new(Severity::Unreadable, "malformed", &place.pointer, place.node.span)
        .message(subject, format!("`{what}` of {subject} must be {wanted}."))
        .sides(object::said(&place.node.to_json()), "")
        .fix(format!("Write {wanted}, as OpenAPI 3.0 has it."))
}
