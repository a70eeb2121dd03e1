//! The Components Object. Schemas and security schemes are compared by name; the rest is compared where it
//! is used.

use serde_json::Value;

use super::names::Names;
use super::object::Field::{Elsewhere, Plain};
use super::object::{self, Object};
use super::{mapping, schema, security, served_entries};
use crate::document::{Document, Place};
use crate::finding::{Finding, Subject};

const COMPONENTS: Object = Object {
    name: "components",
    fields: &[
        ("schemas", Elsewhere),
        ("responses", Elsewhere),
        ("parameters", Elsewhere),
        ("requestBodies", Elsewhere),
        ("headers", Elsewhere),
        ("securitySchemes", Elsewhere),
        ("links", Plain),
        ("callbacks", Plain),
    ],
};

pub(super) fn compare(document: &Document, components: &Place<'_>, served: &Value) -> Vec<Finding> {
    let owner = Subject::document().with("components", "");
    let served = &served["components"];
    let mut findings = Vec::new();
    if !components.is_nothing() {
        findings.extend(object::compare(&COMPONENTS, &owner, components, served));
    }
    for keyword in ["responses", "parameters", "requestBodies", "headers"] {
        findings.extend(mapping(components, keyword, &owner).err());
    }
    let kinds: [(&str, &str, Compare); 2] =
        [("schemas", "schema", schema::compare), ("securitySchemes", "security-scheme", security::scheme)];
    for (keyword, kind, compare) in kinds {
        let written = match mapping(components, keyword, &owner) {
            Ok(written) => written,
            Err(finding) => {
                findings.push(finding);
                continue;
            }
        };
        let subject = Subject::document();
        let names = Names { kind, owner: &subject, container: &written, case_matters: true };
        let matched = names.matched(written.entries(), served_entries(served.get(keyword)));
        findings.extend(matched.findings);
        for (name, place, value) in matched.pairs {
            findings.extend(compare(document, &subject.with(kind, name), &place, value));
        }
    }
    findings
}

type Compare = fn(&Document, &Subject, &Place<'_>, &Value) -> Vec<Finding>;
