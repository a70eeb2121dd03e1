//! Findings as diagnostics, in all files.

use std::collections::BTreeMap;

use checks::finding::{Finding, Severity};
use lsp_types::{
    Diagnostic, DiagnosticRelatedInformation, DiagnosticSeverity, Location, NumberOrString, Range, Uri,
};

use crate::documents::World;

/// The name of this tool in an editor.
pub(crate) const SOURCE: &str = "contract";

/// Returns the diagnostics of the open documents and of the code, by the normal form of the URI.
pub(crate) fn by_file(world: &World) -> BTreeMap<Uri, Vec<Diagnostic>> {
    let mut by_file: BTreeMap<Uri, Vec<Diagnostic>> = BTreeMap::new();
    for (key, document) in &world.documents {
        by_file.entry(key.clone()).or_default();
        for (finding, span) in document.findings() {
            let range = document.text.range(span.start..span.end);
            let base = finding.elsewhere.as_ref().and_then(|place| world.location(place));
            let code = finding.source.as_ref().and_then(|place| world.location(place));
            if let Some(code) = &code {
                let here = Location { uri: document.uri.clone(), range };
                let shown = diagnostic(finding, code.range, Some((here, "the document")));
                by_file.entry(code.uri.clone()).or_default().push(shown);
            }
            let related = base.map(|it| (it, "the released document")).or(code.map(|it| (it, "the code")));
            by_file.entry(key.clone()).or_default().push(diagnostic(finding, range, related));
        }
    }
    by_file
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
