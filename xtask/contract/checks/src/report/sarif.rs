//! Findings as SARIF 2.1.0 (Static Analysis Results Interchange Format, an OASIS standard), for code scanning.
//!
//! The crate `serde-sarif` was rejected: it generates its types from the JSON schema during the build, for which it
//! compiles a second `syn`.

use std::collections::BTreeSet;

use document::Span;
use fluent_uri::pct_enc::EString;
use fluent_uri::pct_enc::encoder::Path;
use serde_json::{Value, json};

use super::{Report, end};
use crate::finding::{File, Finding, Fingerprints, Severity};
use crate::{explanation, registry};

const SCHEMA: &str =
    "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json";
/// The name of the root of the repository. GitHub resolves it to the checkout.
const ROOT: &str = "%SRCROOT%";

pub(super) fn render(report: &Report<'_>) -> String {
    let rules: BTreeSet<&str> = report.findings().map(|(_, _, finding)| finding.rule.as_str()).collect();
    let mut fingerprints = Fingerprints::default();
    let results: Vec<_> = report.findings().map(|found| result(report, found, &mut fingerprints)).collect();
    let was_read = report.findings().all(|(_, _, finding)| finding.severity != Severity::Unreadable);
    let log = json!({
        "$schema": SCHEMA,
        "version": "2.1.0",
        "runs": [{
            "tool": { "driver": {
                "name": "contract",
                "version": env!("CARGO_PKG_VERSION"),
                "rules": rules.iter().map(|rule| descriptor(rule)).collect::<Vec<_>>(),
            } },
            "automationDetails": { "id": format!("contract/{}/", report.command) },
            "invocations": [{ "executionSuccessful": was_read }],
            "originalUriBaseIds": { ROOT: { "description": { "text": "The root of the repository." } } },
            // The columns of all findings count characters.
            "columnKind": "unicodeCodePoints",
            "results": results,
        }],
    });
    format!("{log:#}\n")
}

/// Describes a rule (section 3.49).
fn descriptor(name: &str) -> Value {
    let other = "A file could not be read, or its configuration has an entry without effect.";
    let rule = registry::find(name);
    let text = rule.map_or(other, |rule| rule.explanation);
    let help = rule.map_or_else(|| other.to_owned(), explanation::describe);
    json!({
        "id": name,
        "shortDescription": { "text": text },
        // GitHub requires it too.
        "fullDescription": { "text": text },
        "help": { "text": help, "markdown": help },
    })
}

/// Returns a finding (section 3.27).
fn result(
    report: &Report<'_>,
    (path, file, finding): (String, &File, &Finding),
    fingerprints: &mut Fingerprints,
) -> Value {
    let mut location = location(&path, finding.span, Some(&file.text));
    if !finding.pointer.is_empty() {
        location["logicalLocations"] = json!([{ "fullyQualifiedName": finding.pointer }]);
    }
    let code = finding.source.as_ref().map(|code| {
        let text = report.sources.files.get(&code.file).map(String::as_str);
        (self::location(&code.file, code.span, text), "The code.")
    });
    let before = finding.elsewhere.as_ref().map(|place| {
        let old = report.files.iter().find(|file| file.path == place.file);
        let path = old.map_or_else(|| place.file.clone(), |old| report.path(old));
        (self::location(&path, place.span, old.map(|old| &*old.text)), "The same place before the change.")
    });
    let related = code.into_iter().chain(before).enumerate().map(|(id, (mut location, message))| {
        (location["id"], location["message"]) = (id.into(), json!({ "text": message }));
        location
    });
    let related: Vec<_> = related.collect();
    let justification =
        |reason: &String| json!({ "kind": "external", "status": "accepted", "justification": reason });
    let sentences: Vec<_> = std::iter::once(finding.message.as_str()).chain(finding.advice()).collect();
    // Text of the document must not become a link (section 3.11.6).
    let text = sentences.join(" ").replace("](", "] (");
    json!({
        "ruleId": finding.rule,
        "level": match finding.severity {
            Severity::Info => "note",
            Severity::Warning => "warning",
            Severity::Error | Severity::Unreadable => "error",
        },
        "message": { "text": text.trim_end() },
        "locations": [location],
        "relatedLocations": related,
        // The only name by which GitHub recognises an alert again.
        "partialFingerprints": { "primaryLocationLineHash": fingerprints.of(&path, finding) },
        // Present in each result, because a run either has suppressions in all results or in none (section 3.27.23).
        "suppressions": finding.accepted.iter().map(justification).collect::<Vec<_>>(),
    })
}

/// Returns a place (section 3.28). Lines and columns begin with 1; the end column is the one after the last character
/// (section 3.30).
fn location(path: &str, span: Span, text: Option<&str>) -> Value {
    let mut region = json!({ "startLine": span.line.max(1), "startColumn": span.column.max(1) });
    if let Some((line, column)) = text.map(|text| end(span, text)) {
        (region["endLine"], region["endColumn"]) = (line.max(1).into(), column.max(1).into());
    }
    let mut uri = EString::<Path>::new();
    uri.encode_str::<Path>(path);
    // Before a colon, a relative reference would have a scheme.
    let uri = uri.into_string().replace(':', "%3A");
    let artifact = match std::path::Path::new(path).is_absolute() {
        true => json!({ "uri": format!("file://{uri}") }),
        false => json!({ "uri": uri, "uriBaseId": ROOT }),
    };
    json!({ "physicalLocation": { "artifactLocation": artifact, "region": region } })
}
