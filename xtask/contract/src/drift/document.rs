//! The OpenAPI Object and the Info Object.

use jiff::civil::Date;
use serde_json::Value;

use super::names::Names;
use super::object::Field::{Elsewhere, Plain};
use super::object::{self, Object};
use super::{components, list, mapping, path_item, security, served_entries, server};
use crate::document::{Document, Place};
use crate::finding::{Finding, Subject};

const DOCUMENT: Object = Object {
    name: "document",
    fields: &[
        ("openapi", Plain),
        ("info", Elsewhere),
        ("servers", Elsewhere),
        ("paths", Elsewhere),
        ("components", Elsewhere),
        ("security", Elsewhere),
        ("tags", Elsewhere),
    ],
};

const INFO: Object = Object { name: "info", fields: &[("version", Plain)] };

const TAG: Object = Object { name: "tag", fields: &[("name", Elsewhere)] };

pub(super) fn compare(document: &Document, served: &Value, today: Date) -> Vec<Finding> {
    let subject = Subject::document();
    let root = document.root();
    let mut findings = object::compare(&DOCUMENT, &subject, &root, served);
    match mapping(&root, "info", &subject) {
        Ok(info) if info.is_nothing() => {
            let finding = Finding::new(crate::finding::Severity::Error, "info-version", "", root.anchor());
            let version = object::said(&served["info"]["version"]);
            let message =
                format!("the document has no `info`, so nothing says that it is version {version}.");
            let finding = finding.message(&subject, message).sides("no info", format!("version: {version}"));
            findings.push(finding.fix("Add `info` with a `title` and a `version`."));
        }
        Ok(info) => {
            let subject = subject.with("info", "");
            findings.extend(object::compare(&INFO, &subject, &info, &served["info"]));
        }
        Err(finding) => findings.push(finding),
    }
    findings.extend(server::compare(&root, &subject, served));
    findings.extend(security::top_level(&root));
    findings.extend(tags(&root, &subject, served));
    match mapping(&root, "paths", &subject) {
        Ok(paths) => findings.extend(all_paths(document, &paths, served, today)),
        Err(finding) => findings.push(finding),
    }
    match mapping(&root, "components", &subject) {
        Ok(written) => findings.extend(components::compare(document, &written, served)),
        Err(finding) => findings.push(finding),
    }
    findings
}

fn all_paths(document: &Document, paths: &Place<'_>, served: &Value, today: Date) -> Vec<Finding> {
    let subject = Subject::document();
    let names = Names { kind: "path", owner: &subject, container: paths, case_matters: true };
    let written = paths.entries().filter(|(path, _)| !path.starts_with("x-"));
    let matched = names.matched(written, served_entries(served.get("paths")));
    let mut findings = matched.findings;
    for (path, place, item) in matched.pairs {
        let subject = subject.with("path", path);
        findings.extend(path_item::compare(document, &subject, &place, item, served, today));
    }
    findings
}

/// Tags by name.
fn tags(root: &Place<'_>, subject: &Subject, served: &Value) -> Vec<Finding> {
    let tags = match list(root, "tags", subject) {
        Ok(tags) => tags,
        Err(finding) => return vec![finding],
    };
    let mut findings = Vec::new();
    let mut written = Vec::new();
    for tag in tags.items() {
        match tag.node.get("name").and_then(|name| name.as_str()) {
            Some(name) => {
                // Points at the name rather than at the whole entry.
                let key = tag.get("name").map(|name| name.node.span);
                written.push((name, Place { key, ..tag }));
            }
            None => findings.push(super::malformed(subject, "a tag", &tag, "a mapping with a `name`")),
        }
    }
    let served = served.get("tags").and_then(Value::as_array).into_iter().flatten();
    let served = served.filter_map(|tag| Some((tag.get("name")?.as_str()?, tag)));
    let names = Names { kind: "tag", owner: subject, container: &tags, case_matters: true };
    let matched = names.matched(written.into_iter(), served);
    findings.extend(matched.findings);
    for (name, place, tag) in matched.pairs {
        findings.extend(object::compare(&TAG, &subject.with("tag", name), &place, tag));
    }
    findings
}
