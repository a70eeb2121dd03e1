//! Errors about constructs of the document that cannot be generated.

use document::finding::{Finding, Severity, Spot};
use document::openapi::Object;

/// A construct of the document for which no Rust code can be generated.
pub(super) struct Unsupported {
    at: Box<Spot>,
    reason: String,
}

impl Unsupported {
    /// Returns the finding about `what`, which cannot be generated for this reason.
    pub(super) fn finding(&self, what: &str) -> Finding {
        Finding::new(Severity::Error, "scaffold", &self.at.pointer, self.at.span)
            .message(&self.at.subject, format!("{what} cannot be generated: {}.", self.reason))
    }
}

/// Creates errors with the position of an object.
pub(super) trait UnsupportedAt {
    /// Returns an error about this object. The reason is the end of a sentence, without the full stop.
    fn unsupported(&self, reason: impl Into<String>) -> Unsupported;

    /// Returns an error about one of its keywords.
    fn unsupported_at(&self, keyword: &str, reason: impl Into<String>) -> Unsupported;

    /// Fails with an error about one of its keywords if the condition holds.
    fn unsupported_if(
        &self,
        condition: bool,
        keyword: &str,
        reason: impl Into<String>,
    ) -> Result<(), Unsupported> {
        if condition { Err(self.unsupported_at(keyword, reason)) } else { Ok(()) }
    }
}

impl UnsupportedAt for Object<'_> {
    fn unsupported(&self, reason: impl Into<String>) -> Unsupported {
        Unsupported { at: Box::new(self.spot()), reason: reason.into() }
    }

    fn unsupported_at(&self, keyword: &str, reason: impl Into<String>) -> Unsupported {
        Unsupported { at: Box::new(self.key_spot(keyword)), reason: reason.into() }
    }
}
