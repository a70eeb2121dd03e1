//! One difference between two documents.

use document::place::Subject;
use document::repair::Repair;

use super::rules::ChangeRule;
use crate::finding::{Finding, Location, Severity, capitalised};

/// A difference between the base and the revision.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Change {
    /// The rule that found it.
    pub rule: &'static ChangeRule,
    /// The severity: that of the rule, unless the configuration or a waiver sets another.
    pub severity: Severity,
    /// The object that changed.
    pub subject: Subject,
    /// What changed, beginning with a small letter and without the subject.
    pub what: String,
    /// The place in the revision. For a removed item, the nearest place that remains.
    pub place: Location,
    /// The place in the base. `None` for an added item.
    pub base: Option<Location>,
    /// The place to which a changed reference at `place` leads.
    pub end: Option<Location>,
    /// The operations that use the place, by operationId or else by method and path. Empty for the whole
    /// document. A change in very many operations lists only some of them.
    pub operations: Vec<String>,
    /// The first sentence of the description of an object that was added, if it has one.
    pub description: Option<String>,
    /// How to undo it; in an [`Outcome`](super::Outcome) the fix, as a sentence or empty.
    pub fix: String,
    /// The change of the revision that fixes it.
    pub repair: Option<Repair>,
    /// The reason of the waiver that allows it.
    pub waived: Option<String>,
    /// Whether the version of the revision allows it, although it breaks clients.
    pub released: bool,
}

impl Change {
    /// A change of the rule's severity, of the whole document.
    pub(super) fn new(rule: &'static ChangeRule, subject: Subject, what: String, place: Location) -> Self {
        let severity = rule.severity;
        let (base, end, operations) = (None, None, Vec::new());
        Self {
            rule,
            severity,
            subject,
            what,
            place,
            base,
            end,
            operations,
            description: None,
            fix: rule.fix.to_owned(),
            waived: None,
            released: false,
            repair: None,
        }
    }

    /// Whether it breaks a client and is not waived.
    pub fn breaks(&self) -> bool {
        self.severity >= Severity::Error
    }

    /// Whether both are the same change, of trees that may differ elsewhere.
    pub(crate) fn is(&self, other: &Self) -> bool {
        let was = |change: &Self| change.base.as_ref().map(|base| base.span);
        self.rule == other.rule
            && self.what == other.what
            && self.place.span == other.place.span
            && was(self) == was(other)
    }

    /// What changed and where, as a sentence without its full stop.
    pub fn sentence(&self) -> String {
        match self.subject.parts() {
            // It begins with the name of the field.
            [("version", _)] => self.what.clone(),
            _ => capitalised(&format!("{}: {}", self.subject, self.what)),
        }
    }

    /// The change as a finding of the reports.
    pub fn finding(&self) -> Finding {
        let Location { pointer, span, .. } = &self.place;
        // A break that the version allows is not an error any more.
        let severity = if self.released { Severity::Warning } else { self.severity };
        let mut finding = Finding::new(severity, self.rule.name, pointer, *span);
        finding.subject = self.subject.clone();
        finding.message = format!("{}.", self.sentence());
        finding.operations.clone_from(&self.operations);
        finding.elsewhere.clone_from(&self.base);
        finding.also.extend(self.end.as_ref().map(|end| format!("leads to line {}", end.span.line)));
        finding.repairs.extend(self.repair.clone());
        finding.accepted = self.waived.clone().or(self.released.then(|| self.fix.clone()));
        finding.impact = self.rule.explanation.to_owned();
        finding.fix.clone_from(&self.fix);
        finding
    }
}
