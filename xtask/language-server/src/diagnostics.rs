//! Findings as diagnostics, in all files.

use std::collections::BTreeMap;
use std::path::Path;

use document::finding::{Finding, Severity};
use lsp_types::{
    Diagnostic, DiagnosticRelatedInformation, DiagnosticSeverity, Location, NumberOrString, Range, Uri,
};

use crate::uris;
use crate::world::{World, position};

/// The name of this tool in an editor.
pub(crate) const SOURCE: &str = "contract";

/// Returns the diagnostics of the open documents, of their configurations and of the code, by the normal form of the URI.
pub(crate) fn by_file(world: &World) -> BTreeMap<Uri, Vec<Diagnostic>> {
    let mut by_file: BTreeMap<Uri, Vec<Diagnostic>> = BTreeMap::new();
    for (key, document) in &world.documents {
        let own = document.problem.iter().chain(&document.findings);
        let own = own.map(|finding| {
            let base = finding.elsewhere.as_ref().and_then(|place| world.location(place));
            diagnostic(finding, document.marked(finding), base.map(|it| (it, "the released document")))
        });
        by_file.entry(key.clone()).or_default().extend(own);
        for (finding, code) in &document.drift {
            let range = document.marked(finding);
            let shown = diagnostic(finding, range, code.clone().map(|it| (it, "the code")));
            by_file.entry(key.clone()).or_default().push(shown);
            if let Some(code) = code {
                let here = Location { uri: document.uri.clone(), range };
                let shown = diagnostic(finding, code.range, Some((here, "the document")));
                by_file.entry(uris::normal(&code.uri)).or_default().push(shown);
            }
        }
        let Some((file, findings)) = &document.configuration else { continue };
        let Some(uri) = uris::of_path(Path::new(file)) else { continue };
        by_file.entry(uri).or_default().extend(findings.iter().map(in_configuration));
    }
    by_file
}

fn in_configuration(finding: &Finding) -> Diagnostic {
    let start = position(finding.span.line, finding.span.column);
    diagnostic(finding, Range { start, end: start }, None)
}

/// Returns the diagnostic for a finding at a range, with a related place in another file.
pub(crate) fn diagnostic(finding: &Finding, range: Range, related: Option<(Location, &str)>) -> Diagnostic {
    let sentences: Vec<_> = std::iter::once(finding.message.as_str()).chain(finding.advice()).collect();
    let related = related.map(|(location, message)| {
        vec![DiagnosticRelatedInformation { location, message: message.to_owned() }]
    });
    Diagnostic {
        range,
        severity: Some(severity(finding.severity)),
        code: Some(NumberOrString::String(finding.rule.clone())),
        source: Some(SOURCE.to_owned()),
        message: sentences.join("\n"),
        related_information: related,
        ..Diagnostic::default()
    }
}

fn severity(severity: Severity) -> DiagnosticSeverity {
    match severity {
        Severity::Info => DiagnosticSeverity::INFORMATION,
        Severity::Warning => DiagnosticSeverity::WARNING,
        Severity::Error | Severity::Unreadable => DiagnosticSeverity::ERROR,
    }
}
