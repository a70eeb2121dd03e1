//! The dates and the successor of deprecated operations.

use checks::rule::{Findings, rules};
use document::openapi::{Kind, Model, Object};
use document::shortened;
use jiff::civil::Date;

rules! {
    DATES: Strict Error fix Unsafe "deprecation-dates", "this project",
        "A deprecated operation, and no other, has `x-deprecated-since`, a later `x-sunset` (both \
         YYYY-MM-DD), and `x-successor`, a path of the document.";
}

pub(super) fn check(model: &Model<'_>, findings: &mut Findings) {
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
            dates(operation, findings);
            successor(operation, findings);
        }
    }
}

fn dates(operation: Object<'_>, findings: &mut Findings) {
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
    if let Some((since, sunset)) = since.zip(sunset).filter(|(since, sunset)| since >= sunset) {
        let message = format!("{subject} is deprecated since {since}, but its sunset is on {sunset}.");
        findings.add(&DATES, operation.value_spot("x-sunset"), message, "Correct one of the dates.");
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
