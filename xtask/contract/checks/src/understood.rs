//! The parts of a document that a comparison cannot use.

use std::collections::HashSet;

use document::openapi::{Invalid, Model};
use document::place::Spot;

use crate::finding::Severity;
use crate::lint::describe;
use crate::rule::Rule;

/// The rule for parts of a document that a comparison left out.
pub const NOT_UNDERSTOOD: Rule = Rule::comparison(
    "not-understood",
    Severity::Unreadable,
    "this project",
    "A part that is not understood was not compared, so its changes are unknown.",
);

/// The places that a comparison leaves out.
#[derive(Clone, Debug)]
pub(crate) struct LeftOut {
    /// The JSON pointers of the places.
    pub(crate) pointers: HashSet<String>,
    /// The place that most likely explains the others.
    pub(crate) first: Spot,
    /// What is wrong there, and the number of other places.
    pub(crate) message: String,
}

impl LeftOut {
    /// Returns the places that a comparison cannot use, without those that `is_harmless`. `None` if there are none.
    pub(crate) fn of(model: &Model<'_>, is_harmless: impl Fn(&Invalid<'_>) -> bool) -> Option<Self> {
        let unusable =
            model.invalid().iter().filter(|invalid| invalid.reason.is_some() && !is_harmless(invalid));
        let places: Vec<&Invalid<'_>> = unusable.collect();
        let others = match places.len().saturating_sub(1) {
            0 => String::new(),
            1 => ". 1 other place was not compared either".to_owned(),
            others => format!(". {others} other places were not compared either"),
        };
        let pointers = places.iter().map(|place| place.spot(model).pointer).collect();
        // Another place may be the reason why a reference has no target.
        let first = places.into_iter().min_by_key(|place| (place.reason, place.span.start))?;
        let (_, message, fix) = describe(model, first);
        let message = format!("{}, so it was not compared{others}. {fix}", message.trim_end_matches('.'));
        Some(Self { pointers, first: first.spot(model), message })
    }
}
