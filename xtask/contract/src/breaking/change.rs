//! One difference between two documents, and whom it concerns.

use std::fmt;

use crate::document::Span;

use super::rules::Rule;
use crate::finding::{Finding, Severity, Subject};

/// A place in a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Location {
    /// How the file is called.
    pub file: String,
    /// JSON pointer (RFC 6901) of the place.
    pub pointer: String,
    /// The place in the text.
    pub span: Span,
}

impl fmt::Display for Location {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}:{}:{}", self.file, self.span.line, self.span.column)
    }
}

/// A difference between the base and the revision.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Change {
    /// The rule that knows it.
    pub rule: Rule,
    /// What it is about.
    pub subject: Subject,
    /// What changed, beginning with a small letter and without the subject.
    pub what: String,
    /// The place in the revision. What was removed has the nearest place that survived.
    pub place: Location,
    /// The place in the base, unless there was nothing.
    pub base: Option<Location>,
    /// The operations it was found in, by operationId or else by method and path; empty for the whole
    /// document. A change that very many operations share lists only some of them.
    pub operations: Vec<String>,
    /// Why it is allowed, if somebody decided that.
    pub waived: Option<String>,
}

impl Change {
    /// Whether it breaks a client, and nobody allowed that.
    pub fn breaks(&self) -> bool {
        self.rule.severity >= Severity::Error && self.waived.is_none()
    }

    /// How bad it is; what was waived is no more than worth knowing.
    pub fn severity(&self) -> Severity {
        if self.waived.is_some() { Severity::Info } else { self.rule.severity }
    }

    /// What changed where, as a sentence.
    pub fn sentence(&self) -> String {
        let mut sentence = format!("{}: {}", self.subject, self.what);
        if let Some(first) = sentence.get(..1).map(str::to_uppercase) {
            sentence.replace_range(..1, &first);
        }
        sentence
    }

    /// For the reports.
    pub fn finding(&self) -> Finding {
        let Location { pointer, span, .. } = &self.place;
        let mut finding = Finding::new(self.severity(), self.rule.name.clone(), pointer, *span);
        finding.subject = self.subject.clone();
        finding.message = self.sentence();
        finding.operations.clone_from(&self.operations);
        finding.elsewhere = self.base.as_ref().map(Location::to_string).unwrap_or_default();
        finding.fix = match &self.waived {
            Some(reason) => format!("{} Waived: {reason}", self.rule.whom),
            None => self.rule.whom.to_owned(),
        };
        finding
    }
}
