//! The dates on which deprecated operations will be removed.

use jiff::civil::Date;

use document::openapi::{Kind, Model};

use crate::lint::Settings;
use crate::rule::{Findings, rules};

rules! {
    PASSED: Strict Error "sunset-passed", "oasdiff: x-sunset; RFC 8594",
        "The `x-sunset` date of an operation is not in the past.";
    NEAR: Strict Warning "sunset-near", "oasdiff: x-sunset; RFC 8594",
        "The `x-sunset` date of an operation is more than 90 days ahead, or as many as the setting `sunset-days`.";
}

/// The number of days before a sunset on which warnings begin, unless the configuration sets another.
pub const SUNSET_DAYS: u16 = 90;

pub(crate) fn check(model: &Model<'_>, settings: &Settings, findings: &mut Findings) {
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
