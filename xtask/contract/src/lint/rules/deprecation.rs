//! What a deprecated operation tells: since when, until when, and what to use instead.

use jiff::civil::Date;

use crate::finding::Severity;
use crate::finding::shortened as shown;
use crate::openapi::Kind;
use crate::openapi::{Model, Object};
use crate::rule::{Findings, Rule};

const DATES: Rule = Rule::strict(
    "deprecation-dates",
    Severity::Error,
    "this project",
    "A deprecated operation, and no other, has `x-deprecated-since` and a later `x-sunset`, as YYYY-MM-DD, \
     and in `x-successor` a path of the document.",
);
const PASSED: Rule = Rule::strict(
    "sunset-passed",
    Severity::Error,
    "this project",
    "No operation is there after its `x-sunset`.",
);

const NEAR: Rule = Rule::strict(
    "sunset-near",
    Severity::Warning,
    "this project",
    "The `x-sunset` of an operation is more than 90 days away.",
);

pub(crate) const RULES: &[&Rule] = &[&DATES, &PASSED, &NEAR];

/// How many days before the sunset the warnings begin.
const WARNING_DAYS: i32 = 90;

const KEYWORDS: [&str; 3] = ["x-deprecated-since", "x-sunset", "x-successor"];

pub(crate) fn check(model: &Model<'_>, today: Date, findings: &mut Findings) {
    for operation in model.all(Kind::Operation) {
        if operation.flag("deprecated") {
            deprecated(operation, today, findings);
            continue;
        }
        for keyword in KEYWORDS.into_iter().filter(|keyword| operation.has(keyword)) {
            let message = format!("{} has `{keyword}` and is not deprecated.", operation.subject());
            findings.add(
                &DATES,
                operation.key_spot(keyword),
                message,
                "Take it out, or add `deprecated: true`.",
            );
        }
    }
}

fn deprecated(operation: Object<'_>, today: Date, findings: &mut Findings) {
    let subject = operation.subject();
    for keyword in KEYWORDS.into_iter().filter(|keyword| !operation.has(keyword)) {
        let message = format!("{subject} is deprecated and has no `{keyword}`.");
        findings.add(&DATES, operation.key_spot("deprecated"), message, format!("Add `{keyword}`."));
    }
    let mut date = |keyword: &str| {
        let node = operation.get(keyword)?;
        let date =
            node.as_str().and_then(|text| text.parse::<Date>().ok().filter(|date| date.to_string() == text));
        if date.is_none() {
            let message = format!("`{keyword}` of {subject} is no date.");
            findings.add(&DATES, operation.value_spot(keyword), message, "Write it as `'2030-12-05'`.");
        }
        date
    };
    let (since, sunset) = (date("x-deprecated-since"), date("x-sunset"));
    if let Some((since, sunset)) = since.zip(sunset).filter(|(since, sunset)| since >= sunset) {
        let message =
            format!("{subject} is removed on {sunset}, not after {since}, since when it is deprecated.");
        findings.add(&DATES, operation.value_spot("x-sunset"), message, "Correct one of the dates.");
    }
    if let Some(sunset) = sunset.filter(|sunset| *sunset < today) {
        let message = format!("{subject} was to be removed on {sunset}.");
        let fix = "Remove it, or move the date and tell its callers.";
        findings.add(&PASSED, operation.value_spot("x-sunset"), message, fix);
    }
    let days = |sunset: Date| today.until(sunset).map(|span| span.get_days()).unwrap_or(i32::MAX);
    if let Some(sunset) = sunset.filter(|sunset| *sunset >= today && days(*sunset) <= WARNING_DAYS) {
        let message = format!("{subject} is to be removed on {sunset}, in {} days.", days(sunset));
        findings.add(&NEAR, operation.value_spot("x-sunset"), message, "Plan the release without it.");
    }
    let Some(successor) = operation.get("x-successor") else { return };
    let paths = operation.model().root().get("paths");
    if successor.as_str().and_then(|path| paths?.get(path)).is_none() {
        let path = shown(successor.as_str().unwrap_or_default());
        let message = format!("The successor `{path}` of {subject} is no path of the document.");
        findings.add(&DATES, operation.value_spot("x-successor"), message, "Name one, as `/pets`.");
    }
}
