//! The parts of a document that a comparison cannot use.

use std::collections::HashSet;

use crate::finding::{Finding, Severity};
use crate::rule::Rule;

/// The rule for parts of a document that a comparison left out.
pub const NOT_UNDERSTOOD: Rule = Rule::comparison(
    "not-understood",
    Severity::Unreadable,
    "this project",
    "A part that is not understood was not compared, so its changes are unknown.",
);

/// A place that a comparison cannot use.
#[derive(Clone, Debug)]
pub struct Invalid {
    /// The finding about it.
    pub finding: Finding,
    /// What is invalid.
    pub reason: Reason,
}

/// What a comparison cannot use.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Reason {
    /// A key or a value, or that a keyword is missing.
    Content,
    /// A reference that leads nowhere.
    Reference,
    /// References to other files.
    OtherFile,
}

/// The places that a comparison leaves out.
#[derive(Clone, Debug)]
pub struct LeftOut {
    /// The JSON pointers of the places.
    pub pointers: HashSet<String>,
    /// The finding at the place that most likely explains the others.
    pub first: Finding,
    /// The message for a comparison: the first finding, and the number of other places.
    pub message: String,
}

impl LeftOut {
    /// Returns these places together. `None` if there are none.
    pub fn of<'f>(places: impl IntoIterator<Item = &'f Invalid>) -> Option<Self> {
        let places: Vec<&Invalid> = places.into_iter().collect();
        let others = match places.len().saturating_sub(1) {
            0 => String::new(),
            1 => ". 1 other place was not compared either; `lint` reports it".to_owned(),
            others => format!(". {others} other places were not compared either; `lint` reports them"),
        };
        let pointers = places.iter().map(|place| place.finding.pointer.clone()).collect();
        // Another place may be the reason why a reference has no target.
        let explains = |place: &&Invalid| (place.reason, place.finding.span.start);
        let first = places.into_iter().min_by_key(explains)?.finding.clone();
        let what = first.message.trim_end_matches('.');
        let message = format!("{what}, so it was not compared{others}. {}", first.fix);
        Some(Self { pointers, first, message })
    }
}
