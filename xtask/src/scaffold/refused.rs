//! Why something cannot be written, and the place in the document that is the reason.

use contract::finding::{Finding, Severity, Spot};
use contract::openapi::Object;

/// A construct of the document for which no Rust can be written.
pub(super) struct Refused {
    at: Box<Spot>,
    reason: String,
}

impl Refused {
    /// The finding that says what cannot be written for this reason.
    pub(super) fn finding(&self, what: &str) -> Finding {
        Finding::new(Severity::Error, "scaffold", &self.at.pointer, self.at.span)
            .message(&self.at.subject, format!("{what} cannot be written: {}.", self.reason))
    }
}

/// Objects of the document, as places of a refusal.
pub(super) trait Refuse {
    /// A refusal at this object. The reason is the end of a sentence, without its full stop.
    fn refused(&self, reason: impl Into<String>) -> Refused;

    /// A refusal at one of its keywords.
    fn refused_at(&self, keyword: &str, reason: impl Into<String>) -> Refused;

    /// Refuses one of its keywords if the condition holds.
    fn refuse_if(&self, condition: bool, keyword: &str, reason: impl Into<String>) -> Result<(), Refused> {
        if condition { Err(self.refused_at(keyword, reason)) } else { Ok(()) }
    }
}

impl Refuse for Object<'_> {
    fn refused(&self, reason: impl Into<String>) -> Refused {
        Refused { at: Box::new(self.spot()), reason: reason.into() }
    }

    fn refused_at(&self, keyword: &str, reason: impl Into<String>) -> Refused {
        Refused { at: Box::new(self.key_spot(keyword)), reason: reason.into() }
    }
}
