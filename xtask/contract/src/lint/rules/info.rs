//! The `info` of the document: contact, license, description, version.

use crate::finding::shortened as shown;
use crate::openapi::{Kind, Model};
use crate::rule::{Findings, rules};

rules! {
    CONTACT: Recommended Error "info-contact", "Spectral: info-contact",
        "`info` has a `contact`.";
    CONTACT_PROPERTIES: Strict Error "contact-properties", "Spectral: contact-properties",
        "The contact has a `name`, and a `url` or an `email`.";
    LICENSE: Recommended Error "info-license", "Spectral: info-license; Redocly: info-license",
        "`info` has a `license`.";
    LICENSE_URL: Recommended Error "license-url", "Spectral: license-url; Redocly: info-license-strict",
        "The license has a `url`.";
    DESCRIPTION: Recommended Error "info-description", "Spectral: info-description",
        "`info` has a `description`.";
    VERSION: Strict Error "info-version-semver", "this project; Semantic Versioning 2.0.0, 2",
        "`info.version` is MAJOR.MINOR.PATCH.";
}

pub(crate) fn check(model: &Model<'_>, findings: &mut Findings) {
    for info in model.all(Kind::Info) {
        for (keyword, rule) in [("contact", &CONTACT), ("license", &LICENSE), ("description", &DESCRIPTION)] {
            if !info.has(keyword) {
                let message = format!("`info` has no `{keyword}`.");
                findings.add(rule, info.spot(), message, format!("Add `{keyword}`."));
            }
        }
        if let Some(version) = info.text("version").filter(|version| !is_semantic(version)) {
            let message = format!("`{}` is not a semantic version.", shown(version));
            let fix = "Write three numbers, such as `1.0.0`.";
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
        findings.add(
            &LICENSE_URL,
            license.spot(),
            "The license has no `url`.",
            "Add the URL of the license text.",
        );
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
