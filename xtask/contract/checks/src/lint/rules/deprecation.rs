//! The dates and the successor of deprecated operations.

use jiff::civil::Date;

use document::openapi::{Kind, Model, Object};
use document::shortened;

use crate::lint::Settings;
use crate::rule::{Findings, rules};

rules! {
    DATES: Strict Error fix Unsafe "deprecation-dates", "this tool",
        "A deprecated operation, and no other, has `x-deprecated-since`, a later `x-sunset` (both \
         YYYY-MM-DD), and `x-successor`, a path of the document.";
    PASSED: Strict Error "sunset-passed", "this tool; RFC 8594",
        "The `x-sunset` date of an operation is not in the past.";
    NEAR: Strict Warning "sunset-near", "this tool; RFC 8594",
        "The `x-sunset` date of an operation is more than 90 days ahead, or as many as the setting `sunset-days`.";
}

/// The number of days before a sunset on which warnings begin, unless the configuration sets another.
pub const SUNSET_DAYS: u16 = 90;

pub(crate) fn check(model: &Model<'_>, settings: &Settings, findings: &mut Findings) {
    for operation in model.all(Kind::Operation) {
        let is_deprecated = operation.flag("deprecated");
        let subject = operation.subject();
        for keyword in ["x-deprecated-since", "x-sunset", "x-successor"] {
            match (is_deprecated, operation.has(keyword)) {
                (true, false) => {
                    let (spot, fix) = (operation.key_spot("deprecated"), format!("Add `{keyword}`."));
                    let message = format!("{subject} is deprecated but has no `{keyword}`.");
                    findings.add(&DATES, spot, message, fix);
                }
                (false, true) => {
                    let message = format!("{subject} has `{keyword}` but is not deprecated.");
                    let fix = "Remove it, or add `deprecated: true`.";
                    findings.add(&DATES, operation.key_spot(keyword), message, fix).remove();
                }
                _ => {}
            }
        }
        if is_deprecated {
            compared(operation, settings, findings);
            successor(operation, findings);
        }
    }
}

fn compared(operation: Object<'_>, settings: &Settings, findings: &mut Findings) {
    let subject = operation.subject();
    let mut date = |keyword: &str| {
        let text = operation.get(keyword)?.as_str().unwrap_or_default();
        let date = text.parse::<Date>().ok().filter(|date| date.to_string() == text);
        if date.is_none() {
            let message = format!("`{keyword}` of {subject} is not a date.");
            let fix = "Write a date such as `'2030-12-05'`.";
            findings.add(&DATES, operation.value_spot(keyword), message, fix);
        }
        date
    };
    let (since, sunset) = (date("x-deprecated-since"), date("x-sunset"));
    let spot = || operation.value_spot("x-sunset");
    if let Some((since, sunset)) = since.zip(sunset).filter(|(since, sunset)| since >= sunset) {
        let message = format!("{subject} is deprecated since {since}, but its sunset is on {sunset}.");
        findings.add(&DATES, spot(), message, "Correct one of the dates.");
    }
    if let Some((sunset, span)) = sunset.and_then(|sunset| Some((sunset, settings.today.until(sunset).ok()?)))
    {
        let days = span.get_days();
        if days < 0 {
            let message = format!("The sunset of {subject} was on {sunset}.");
            let fix = "Remove the operation, or move the date and announce it.";
            findings.add(&PASSED, spot(), message, fix);
        } else if days <= i32::from(settings.sunset_days) {
            let message = format!("The sunset of {subject} is on {sunset}, in {days} days.");
            findings.add(&NEAR, spot(), message, "Plan the release that removes the operation.");
        }
    }
}

fn successor(operation: Object<'_>, findings: &mut Findings) {
    let Some(successor) = operation.get("x-successor") else { return };
    let paths = operation.model().root().get("paths");
    if successor.as_str().and_then(|path| paths?.get(path)).is_none() {
        let path = shortened(successor.as_str().unwrap_or_default());
        let message =
            format!("The successor `{path}` of {} is not a path of the document.", operation.subject());
        findings.add(&DATES, operation.value_spot("x-successor"), message, "Write a path such as `/pets`.");
    }
}
