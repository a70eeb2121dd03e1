//! What a deprecated operation owes its callers: since when, until when, and what to use instead.
//!
//! The service makes the headers `Deprecation`, `Sunset` and `Link` out of these, so the file is the only
//! place that has them. The code knows just whether an operation is deprecated; where the two disagree
//! about that, nothing is said of the rest.

use crate::document::Span;
use jiff::civil::Date;
use serde_json::Value;

use super::names::nearest;
use super::object::said;
use crate::document::{Document, Place};
use crate::finding::{Finding, Severity, Subject};

const SINCE: &str = "x-deprecated-since";
const SUNSET: &str = "x-sunset";
const SUCCESSOR: &str = "x-successor";

/// How many days before the sunset the warnings begin.
const WARNING_DAYS: i32 = 90;

pub(super) fn judge(
    document: &Document,
    subject: &Subject,
    written: &Place<'_>,
    served: &Value,
    everything: &Value,
    today: Date,
) -> Vec<Finding> {
    let file = written.node.get("deprecated").and_then(|deprecated| deprecated.as_bool()).unwrap_or_default();
    let code = served.get("deprecated").and_then(Value::as_bool).unwrap_or_default();
    match (file, code) {
        (true, true) => {
            // A path that only one side has is told of where it is missing.
            let is_path = |path: &str| {
                let file = document.root.get("paths").and_then(|paths| paths.get(path));
                file.is_some() || everything["paths"].get(path).is_some()
            };
            deprecated(subject, written, today, is_path)
        }
        (false, false) => {
            let found = [SINCE, SUNSET, SUCCESSOR]
                .into_iter()
                .filter_map(|keyword| Some((keyword, written.get(keyword)?)));
            found.map(|(keyword, place)| not_deprecated(subject, keyword, &place)).collect()
        }
        _ => Vec::new(),
    }
}

fn deprecated(
    subject: &Subject,
    written: &Place<'_>,
    today: Date,
    is_path: impl Fn(&str) -> bool,
) -> Vec<Finding> {
    let mut findings = Vec::new();
    let mut date = |keyword: &'static str| {
        let date = asked(written, subject, keyword, "a date, as '2030-12-05'", |text| {
            text.parse::<Date>().ok().filter(|date| date.to_string() == text)
        });
        date.map_err(|finding| findings.push(finding)).ok()
    };
    let (since, sunset) = (date(SINCE), date(SUNSET));
    let successor =
        asked(written, subject, SUCCESSOR, "a path of this document", |text| is_path(text).then_some(()));
    findings.extend(successor.err());
    let Some((sunset, place)) = sunset else { return findings };
    if let Some((since, _)) = since.filter(|(since, _)| *since >= sunset) {
        let message =
            format!("{subject} would be removed on {sunset}, no later than it is deprecated, on {since}.");
        let finding = finding(Severity::Error, "deprecation-sunset-order", subject, &place, message);
        findings.push(finding.fix(format!("Let `{SUNSET}` be later than `{SINCE}`.")));
    }
    let days = today.until(sunset).map(|span| span.get_days()).unwrap_or_default();
    if days < 0 {
        let message = format!("{subject} was to be removed on {sunset} and is still there on {today}.");
        let finding = finding(Severity::Error, "deprecation-sunset-passed", subject, &place, message);
        findings.push(
            finding.fix("Remove the operation from file and code, or move the date and tell its callers."),
        );
    } else if days <= WARNING_DAYS {
        let message = format!("{subject} is to be removed on {sunset}, in {days} days.");
        let finding = finding(Severity::Warning, "deprecation-sunset-near", subject, &place, message);
        findings.push(finding.fix("Plan the release without it."));
    }
    findings
}

/// The value of a keyword that a deprecated operation must have, if it has the form that it must have.
fn asked<'a, T>(
    written: &Place<'a>,
    subject: &Subject,
    keyword: &str,
    form: &str,
    read: impl Fn(&str) -> Option<T>,
) -> Result<(T, Place<'a>), Finding> {
    let fix = format!("Write `{keyword}` as {form}.");
    let Some(place) = written.get(keyword) else {
        // One that is misspelt is an extension that nobody knows.
        let misspelt =
            nearest(keyword, written.entries().map(|(key, _)| key).filter(|key| key.starts_with("x-")));
        let misspelt = misspelt.filter(|key| ![SINCE, SUNSET, SUCCESSOR].contains(key));
        let deprecated = written.get_or_nothing(misspelt.unwrap_or("deprecated"));
        let message = format!("{subject} is deprecated, but has no `{keyword}`.");
        let finding =
            Finding::new(Severity::Error, "deprecation-incomplete", &deprecated.pointer, deprecated.anchor());
        return Err(finding.message(subject, message).sides(format!("no {keyword}"), "").fix(fix));
    };
    if let Some(value) = place.node.as_str().and_then(read) {
        return Ok((value, place));
    }
    let message = format!("`{keyword}` of {subject} is not {form}.");
    Err(finding(Severity::Error, "deprecation-malformed", subject, &place, message).fix(fix))
}

fn not_deprecated(subject: &Subject, keyword: &str, place: &Place<'_>) -> Finding {
    let message = format!("{subject} has `{keyword}`, but is not deprecated.");
    let mut finding = finding(Severity::Error, "deprecation-of-nothing", subject, place, message);
    finding.span = place.anchor();
    finding.fix(format!("Take `{keyword}` out, or deprecate the operation in file and code."))
}

fn finding(severity: Severity, rule: &str, subject: &Subject, place: &Place<'_>, message: String) -> Finding {
    let span: Span = place.node.span;
    let finding = Finding::new(severity, rule, &place.pointer, span);
    finding.message(subject, message).sides(said(&place.node.to_json()), "")
}
