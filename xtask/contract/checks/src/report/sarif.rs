//! Findings as SARIF 2.1.0 (Static Analysis Results Interchange Format, an OASIS standard), for code scanning.
//!
//! The crate `serde-sarif` was rejected: it generates its types from the JSON schema during the build, for which it
//! compiles a second `syn`.

use document::Span;
use fluent_uri::pct_enc::EString;
use fluent_uri::pct_enc::encoder::{Data, Path};
use serde_json::{Value, json};

use super::{About, Report, Sources, end, from_root};
use crate::finding::{Finding, Severity};
use crate::fingerprint::Fingerprints;
use crate::{explanation, registry};

const SCHEMA: &str =
    "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json";
/// The name of the root of the repository. GitHub resolves it to the checkout.
const ROOT: &str = "%SRCROOT%";

pub(super) fn render(report: &Report<'_>) -> String {
    let mut rules: Vec<&str> = report.findings().map(|(_, finding)| finding.rule.as_str()).collect();
    rules.sort_unstable();
    rules.dedup();
    let mut fingerprints = Fingerprints::default();
    let results: Vec<_> = report
        .findings()
        .map(|(about, finding)| result(report, about, finding, &rules, &mut fingerprints))
        .collect();
    let was_read = report.findings().all(|(_, finding)| finding.severity != Severity::Unreadable);
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
    let Some(rule) = registry::find(name) else {
        let text = "A file could not be read, or its configuration has an entry without effect.";
        let text = json!({ "text": text });
        return json!({ "id": name, "shortDescription": text, "fullDescription": text, "help": text });
    };
    let help = explanation::describe(rule);
    json!({
        "id": name,
        "shortDescription": { "text": rule.explanation },
        // GitHub requires it too.
        "fullDescription": { "text": rule.explanation },
        "help": { "text": help, "markdown": help },
        "defaultConfiguration": { "level": level(rule.severity_in(rule.profile, rule.severity)) },
        "properties": { "origin": rule.origin, "profile": rule.profile.to_string() },
    })
}

const fn level(severity: Severity) -> &'static str {
    match severity {
        Severity::Info => "note",
        Severity::Warning => "warning",
        Severity::Error | Severity::Unreadable => "error",
    }
}

/// Returns a finding (section 3.27).
fn result(
    report: &Report<'_>,
    about: &About<'_>,
    finding: &Finding,
    rules: &[&str],
    fingerprints: &mut Fingerprints,
) -> Value {
    let place = artifact(report.sources, about.path);
    let mut location = location(&place, finding.span, Some(about.text));
    if !finding.pointer.is_empty() {
        location["logicalLocations"] = json!([{ "fullyQualifiedName": finding.pointer }]);
    }
    let code = finding.source.as_ref().map(|source| {
        let path = report.sources.root().join(&source.file);
        (path.to_string_lossy().into_owned(), source, report.sources.text(&source.file), "The code.")
    });
    let before = finding.elsewhere.as_ref().map(|place| {
        let text = report.files.iter().find(|about| about.path == place.file).map(|about| about.text);
        (place.file.clone(), place, text, "The same place before the change.")
    });
    let related = code.into_iter().chain(before).enumerate().map(|(id, (path, place, text, message))| {
        let mut location = self::location(&artifact(report.sources, &path), place.span, text);
        (location["id"], location["message"]) = (id.into(), json!({ "text": message }));
        location
    });
    let related: Vec<_> = related.collect();
    let justification =
        |reason: &String| json!({ "kind": "external", "status": "accepted", "justification": reason });
    let sentences: Vec<_> = std::iter::once(finding.message.as_str()).chain(finding.advice()).collect();
    // Text of the document must not become a link (section 3.11.6).
    let text = sentences.join(" ").replace("](", "] (");
    let fingerprint = fingerprints.of(place["uri"].as_str().unwrap_or_default(), finding);
    json!({
        "ruleId": finding.rule,
        "ruleIndex": rules.binary_search(&finding.rule.as_str()).unwrap_or_default(),
        "level": level(finding.severity),
        "message": { "text": text.trim_end() },
        "locations": [location],
        "relatedLocations": related,
        // The only name by which GitHub recognises an alert again.
        "partialFingerprints": { "primaryLocationLineHash": fingerprint },
        // Present in each result, because a run either has suppressions in all results or in none (section 3.27.23).
        "suppressions": finding.accepted.iter().map(justification).collect::<Vec<_>>(),
    })
}

/// Returns a place (section 3.28). Lines and columns begin with 1; the end column is the one after the last character
/// (section 3.30).
fn location(place: &Value, span: Span, text: Option<&str>) -> Value {
    let mut region = json!({ "startLine": span.line.max(1), "startColumn": span.column.max(1) });
    if let Some((line, column)) = text.map(|text| end(span, text)) {
        (region["endLine"], region["endColumn"]) = (line.max(1).into(), column.max(1).into());
    }
    json!({ "physicalLocation": { "artifactLocation": place, "region": region } })
}

/// Returns the URI of a file: relative to the root of the repository if the file is in it, else absolute.
fn artifact(sources: &Sources, path: &str) -> Value {
    let encoded = |path: &str| {
        let mut encoded = EString::<Path>::new();
        for (position, segment) in path.split('/').enumerate() {
            if position > 0 {
                encoded.push('/');
            }
            // Also encodes a colon, before which a relative reference would have a scheme.
            encoded.encode_str::<Data>(segment);
        }
        encoded.into_string()
    };
    let whole = super::absolute(path);
    match whole.starts_with(super::normal(sources.root())) {
        true => json!({ "uri": encoded(&from_root(sources.root(), path)), "uriBaseId": ROOT }),
        false => json!({ "uri": format!("file://{}", encoded(&whole.to_string_lossy())) }),
    }
}
