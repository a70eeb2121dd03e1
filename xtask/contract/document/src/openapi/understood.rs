//! The parts of a document that a comparison cannot use.

use std::collections::HashSet;

use super::{Model, references, structure};
use crate::finding::{Finding, Severity};
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
pub struct LeftOut {
    /// The JSON pointers of the places.
    pub pointers: HashSet<String>,
    /// The finding at the place that most likely explains the others.
    pub first: Finding,
    /// The message for a comparison: the first finding, and the number of other places.
    pub message: String,
}

/// Returns the places that a comparison leaves out, from the findings of [`Model::of`]. `None` if there
/// are none. Invalid values without influence on the comparison are not among them.
pub fn not_compared(model: &Model<'_>, findings: Vec<Finding>) -> Option<LeftOut> {
    let unresolved: HashSet<String> = model
        .everything()
        .filter(|object| object.is_reference() && object.resolved().is_none())
        .map(|object| object.value_spot("$ref").pointer)
        .collect();
    let left_out = |finding: &Finding| match finding.rule.as_str() {
        rule if rule == structure::TYPE.name => !model.harmless.contains(&finding.pointer),
        rule if rule == structure::KEY.name || rule == references::INVALID.name => true,
        // Schemas that reach themselves through `allOf` and `oneOf` are compared.
        rule if rule == references::CYCLE.name => unresolved.contains(&finding.pointer),
        // A parameter without a name or a location is left out of its operation.
        rule if rule == structure::MISSING.name => finding.pointer.contains("/parameters/"),
        // A reference where the specification allows none replaces everything that surrounds it.
        rule if rule == structure::KEYWORD.name => finding.pointer.ends_with("/$ref"),
        _ => false,
    };
    let mut left_out = together(findings.into_iter().filter(left_out).collect())?;
    left_out.message = format!("{} {}", left_out.message, left_out.first.fix);
    Some(left_out)
}

/// Returns the places together. The first is the one that most likely explains the others.
fn together(places: Vec<Finding>) -> Option<LeftOut> {
    let pointers = places.iter().map(|place| place.pointer.clone()).collect();
    let others = match places.len().saturating_sub(1) {
        0 => String::new(),
        1 => ". 1 other place was not compared either".to_owned(),
        others => format!(". {others} other places were not compared either"),
    };
    // Another place may be the reason why a reference has no target.
    let explains = |place: &Finding| (place.rule == references::INVALID.name, place.span.start);
    let first = places.into_iter().min_by_key(explains)?;
    let message = format!("{}, so it was not compared{others}.", first.message.trim_end_matches('.'));
    Some(LeftOut { pointers, first, message })
}
