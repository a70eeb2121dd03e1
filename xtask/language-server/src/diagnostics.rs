//! Findings as diagnostics, and the diagnostics that each file has.

use std::collections::{BTreeMap, HashMap};

use document::finding::{Finding, Severity};
use lsp_types::{Diagnostic, DiagnosticRelatedInformation, DiagnosticSeverity, NumberOrString, Range, Uri};

use crate::world::World;

/// The name of this tool in an editor.
pub(crate) const SOURCE: &str = "contract";

/// Which check produced diagnostics. Each replaces its own.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Check {
    /// The checks of a document by itself and against its base, by the URI of the document.
    Document(String),
    /// The comparison of a document with the code.
    Drift,
}

/// The diagnostics of all files.
#[derive(Debug, Default)]
pub(crate) struct Board(HashMap<Uri, BTreeMap<Check, Vec<Diagnostic>>>);

impl Board {
    /// Replaces the diagnostics of a check. Returns the files whose diagnostics changed.
    pub(crate) fn set(&mut self, check: &Check, mut by_file: HashMap<Uri, Vec<Diagnostic>>) -> Vec<Uri> {
        let mut changed = Vec::new();
        for (uri, checks) in &mut self.0 {
            let new = by_file.remove(uri).unwrap_or_default();
            let old = checks.get(check);
            if old.map(Vec::as_slice).unwrap_or_default() != new {
                changed.push(uri.clone());
            }
            match new.is_empty() {
                true => drop(checks.remove(check)),
                false => drop(checks.insert(check.clone(), new)),
            }
        }
        for (uri, new) in by_file.into_iter().filter(|(_, new)| !new.is_empty()) {
            self.0.insert(uri.clone(), BTreeMap::from([(check.clone(), new)]));
            changed.push(uri);
        }
        changed
    }

    /// Returns the diagnostics of a file.
    pub(crate) fn of(&self, uri: &Uri) -> Vec<Diagnostic> {
        self.0.get(uri).into_iter().flat_map(|checks| checks.values().flatten()).cloned().collect()
    }
}

/// Returns the diagnostic for a finding at a range.
pub(crate) fn diagnostic(
    finding: &Finding,
    range: Range,
    related: Vec<DiagnosticRelatedInformation>,
) -> Diagnostic {
    let sentences: Vec<_> = std::iter::once(finding.message.as_str()).chain(finding.advice()).collect();
    Diagnostic {
        range,
        severity: Some(severity(finding.severity)),
        code: Some(NumberOrString::String(finding.rule.clone())),
        source: Some(SOURCE.to_owned()),
        message: sentences.join("\n"),
        related_information: (!related.is_empty()).then_some(related),
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

/// Returns the places of a finding in other files.
pub(crate) fn related(world: &World, finding: &Finding) -> Vec<DiagnosticRelatedInformation> {
    let elsewhere = finding.elsewhere.iter().map(|place| (place, "the released document".to_owned()));
    let source = finding.source.iter().map(|place| (place, "the code".to_owned()));
    let places = elsewhere.chain(source);
    let information =
        |(place, message)| Some(DiagnosticRelatedInformation { location: world.location(place)?, message });
    places.filter_map(information).collect()
}
