//! Findings as SARIF 2.1.0 (Static Analysis Results Interchange Format, an OASIS standard), for code scanning.
//!
//! The crate `serde-sarif` was rejected: it generates its types from the JSON schema during the build, for which it
//! compiles a second `syn`, and the few types that are needed here are short.

use document::Span;
use document::finding::{Finding, Severity};
use fluent_uri::pct_enc::EString;
use fluent_uri::pct_enc::encoder::{Data, Path};
use serde::Serialize;
use serde_json::{Value, json};

use super::{About, Report, Sources, end, from_root};
use crate::fingerprint::Fingerprints;
use crate::registry;

const SCHEMA: &str =
    "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json";
/// The name of the root of the repository. GitHub resolves it to the checkout.
const ROOT: &str = "%SRCROOT%";

/// A finding (SARIF 2.1.0, section 3.27).
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct SarifResult {
    rule_id: String,
    rule_index: usize,
    level: &'static str,
    message: Message,
    locations: Vec<Location>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    related_locations: Vec<Location>,
    partial_fingerprints: Value,
    /// Present in each result, because a run either has suppressions in all results or in none (section 3.27.23).
    suppressions: Vec<Value>,
}

#[derive(Serialize)]
struct Message {
    text: String,
}

/// A place (section 3.28).
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Location {
    #[serde(skip_serializing_if = "Option::is_none")]
    id: Option<usize>,
    physical_location: PhysicalLocation,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    logical_locations: Vec<Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    message: Option<Message>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct PhysicalLocation {
    artifact_location: ArtifactLocation,
    region: Region,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct ArtifactLocation {
    uri: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    uri_base_id: Option<&'static str>,
}

/// Lines and columns from 1; the end column is the one after the last character (section 3.30).
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Region {
    start_line: usize,
    start_column: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    end_line: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    end_column: Option<usize>,
}

pub(super) fn render(report: &Report<'_>) -> String {
    let mut rules: Vec<&str> = findings(report).map(|(_, finding)| finding.rule.as_str()).collect();
    rules.sort_unstable();
    rules.dedup();
    let mut fingerprints = Fingerprints::default();
    let results: Vec<_> = findings(report)
        .map(|(about, finding)| result(report, about, finding, &rules, &mut fingerprints))
        .collect();
    let was_read = findings(report).all(|(_, finding)| finding.severity != Severity::Unreadable);
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

fn findings<'a>(report: &'a Report<'_>) -> impl Iterator<Item = (&'a About<'a>, &'a Finding)> {
    report.files.iter().flat_map(|about| about.findings.iter().map(move |finding| (about, finding)))
}

/// Describes a rule (section 3.49).
fn descriptor(name: &str) -> Value {
    let Some(rule) = registry::find(name) else {
        let text = "A file could not be read, or its configuration has an entry without effect.";
        let text = json!({ "text": text });
        return json!({ "id": name, "shortDescription": text, "fullDescription": text, "help": text });
    };
    let help = registry::explain(rule);
    json!({
        "id": name,
        "shortDescription": { "text": rule.explanation },
        // GitHub requires it too.
        "fullDescription": { "text": rule.explanation },
        // Four backticks, because an example could contain three.
        "help": { "text": help, "markdown": format!("````text\n{help}````\n") },
        "defaultConfiguration": { "level": level(rule.severity) },
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

fn result(
    report: &Report<'_>,
    about: &About<'_>,
    finding: &Finding,
    rules: &[&str],
    fingerprints: &mut Fingerprints,
) -> SarifResult {
    let rule_index = rules.binary_search(&finding.rule.as_str()).unwrap_or_default();
    let mut location = location(report.sources, about.path, finding.span, Some(about.text));
    if !finding.pointer.is_empty() {
        location.logical_locations.push(json!({ "fullyQualifiedName": finding.pointer }));
    }
    let mut related = Vec::new();
    if let Some(source) = &finding.source {
        let path = report.sources.root().join(&source.file);
        let text = report.sources.text(&source.file);
        related
            .push((self::location(report.sources, &path.to_string_lossy(), source.span, text), "The code."));
    }
    if let Some(elsewhere) = &finding.elsewhere {
        let text = report.files.iter().find(|about| about.path == elsewhere.file).map(|about| about.text);
        let place = self::location(report.sources, &elsewhere.file, elsewhere.span, text);
        related.push((place, "The same place before the change."));
    }
    let related = related.into_iter().enumerate().map(|(id, (location, message))| Location {
        id: Some(id),
        message: Some(Message { text: message.to_owned() }),
        ..location
    });
    let justification =
        |reason: &String| json!({ "kind": "external", "status": "accepted", "justification": reason });
    let sentences: Vec<_> = std::iter::once(finding.message.as_str()).chain(finding.advice()).collect();
    let fingerprint = fingerprints.of(&location.physical_location.artifact_location.uri, finding);
    // Text of the document must not become a link (section 3.11.6).
    let text = sentences.join(" ").replace("](", "] (");
    SarifResult {
        rule_id: finding.rule.clone(),
        rule_index,
        level: level(finding.severity),
        message: Message { text: text.trim_end().to_owned() },
        // The only name by which GitHub recognises an alert again.
        partial_fingerprints: json!({ "primaryLocationLineHash": fingerprint }),
        locations: vec![location],
        related_locations: related.collect(),
        suppressions: finding.accepted.iter().map(justification).collect(),
    }
}

fn location(sources: &Sources, path: &str, span: Span, text: Option<&str>) -> Location {
    let end = text.map(|text| end(span, text));
    let region = Region {
        start_line: span.line.max(1),
        start_column: span.column.max(1),
        end_line: end.map(|(line, _)| line.max(1)),
        end_column: end.map(|(_, column)| column.max(1)),
    };
    let artifact_location = artifact(sources, path);
    Location {
        id: None,
        physical_location: PhysicalLocation { artifact_location, region },
        logical_locations: Vec::new(),
        message: None,
    }
}

/// Returns the URI of a file: relative to the root of the repository if the file is in it, else absolute.
fn artifact(sources: &Sources, path: &str) -> ArtifactLocation {
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
    let inside = from_root(sources.root(), path);
    let whole = super::absolute(path);
    match whole.starts_with(super::normal(sources.root())) {
        true => ArtifactLocation { uri: encoded(&inside), uri_base_id: Some(ROOT) },
        false => ArtifactLocation {
            uri: format!("file://{}", encoded(&whole.to_string_lossy())),
            uri_base_id: None,
        },
    }
}
