//! Who answers for the document, on what terms, and which version it is.

use crate::finding::Severity;
use crate::finding::shortened as shown;
use crate::openapi::Kind;
use crate::openapi::Model;
use crate::rule::{Findings, Rule};

const CONTACT: Rule =
    Rule::recommended("info-contact", Severity::Error, "Spectral", "`info` names a contact.");
const CONTACT_PROPERTIES: Rule = Rule::recommended(
    "contact-properties",
    Severity::Error,
    "Spectral",
    "The contact has a `name`, and a `url` or an `email` to reach it by.",
);
const LICENSE: Rule =
    Rule::recommended("info-license", Severity::Error, "Spectral, Redocly", "`info` names a license.");
const LICENSE_URL: Rule = Rule::recommended(
    "license-url",
    Severity::Error,
    "Spectral",
    "The license has a `url` (Redocly: `info-license-strict`; its `identifier` came with OpenAPI 3.1).",
);
const DESCRIPTION: Rule =
    Rule::recommended("info-description", Severity::Error, "Spectral", "`info` has a description.");
const VERSION: Rule = Rule::strict(
    "info-version",
    Severity::Error,
    "this project",
    "`info.version` is a semantic version, MAJOR.MINOR.PATCH.",
);

pub(crate) const RULES: &[&Rule] =
    &[&CONTACT, &CONTACT_PROPERTIES, &LICENSE, &LICENSE_URL, &DESCRIPTION, &VERSION];

pub(crate) fn check(model: &Model<'_>, findings: &mut Findings) {
    for info in model.all(Kind::Info) {
        for (keyword, rule) in [("contact", &CONTACT), ("license", &LICENSE), ("description", &DESCRIPTION)] {
            if !info.has(keyword) {
                findings.add(
                    rule,
                    info.spot(),
                    format!("`info` has no `{keyword}`."),
                    format!("Add `{keyword}`."),
                );
            }
        }
        if let Some(version) = info.text("version").filter(|version| !is_semantic(version)) {
            let message = format!("`{}` is no semantic version.", shown(version));
            let fix = "Write three numbers, such as `1.0.0`; they tell clients what to expect of a change.";
            findings.add(&VERSION, info.value_spot("version"), message, fix);
        }
    }
    for contact in model.all(Kind::Contact) {
        let reachable = contact.has("url") || contact.has("email");
        for (missing, what) in [(!contact.has("name"), "`name`"), (!reachable, "`url` or `email`")] {
            if missing {
                let message = format!("The contact has no {what}.");
                findings.add(&CONTACT_PROPERTIES, contact.spot(), message, format!("Add {what}."));
            }
        }
    }
    for license in model.all(Kind::License).filter(|license| !license.has("url")) {
        findings.add(&LICENSE_URL, license.spot(), "The license has no `url`.", "Add the `url` of its text.");
    }
}

fn is_semantic(version: &str) -> bool {
    let numbers: Vec<_> = version.split('.').collect();
    let is_number = |text: &&str| {
        let digits = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
        digits && (*text == "0" || !text.starts_with('0'))
    };
    numbers.len() == 3 && numbers.iter().all(is_number)
}
