//! Whether the document is well made, taken by itself: no code is looked at.
//!
//! First its structure is checked strictly against OpenAPI 3.0.3, which yields an model: every node that
//! is an object of the specification, and where each reference leads. The rules work on the model, each
//! in one pass over the objects that it is about, so the cost grows with the document and no faster.
//!
//! A rule is a name, a severity and a demand, beside the function that looks for what breaks it. The names
//! are those of Spectral or Redocly where they demand the same, so that people can look them up. Each rule
//! has a fixture that breaks it and one that nearly does, under `tests/lint`.
//!
//! Whatever is read may be broken in any way. Nothing here relies on a value being of the type it should
//! be, and what could cost more than it is worth (patterns, schemas that multiply) is bounded, with a
//! finding that says so.

pub mod examples;
mod progenitor;
mod prose;
mod rules;

use jiff::civil::Date;

use crate::document::Document;
use crate::finding::Finding;
use crate::openapi::{self, Model};
use crate::rule::{Findings, Rule};

type Check = fn(&Model<'_>, &mut Findings);

/// What is checked once there is an model.
const CHECKS: &[(&[&Rule], Check)] = &[
    (rules::conditions::RULES, rules::conditions::check),
    (rules::info::RULES, rules::info::check),
    (rules::servers::RULES, rules::servers::check),
    (rules::tags::RULES, rules::tags::check),
    (rules::paths::RULES, rules::paths::check),
    (rules::operations::RULES, rules::operations::check),
    (rules::parameters::RULES, rules::parameters::check),
    (rules::responses::RULES, rules::responses::check),
    (rules::security::RULES, rules::security::check),
    (rules::components::RULES, rules::components::check),
    (rules::schemas::RULES, rules::schemas::check),
    (rules::bounds::RULES, rules::bounds::check),
    (rules::patterns::RULES, rules::patterns::check),
    (rules::names::RULES, rules::names::check),
    (rules::words::RULES, rules::words::check),
    (examples::RULES, examples::check),
    (progenitor::RULES, progenitor::check),
    (prose::RULES, prose::check),
];

/// Everything that is wrong with a document, in the order of the file. `today` is the day that sunset dates
/// are judged by.
pub fn lint(document: &Document, today: Date) -> Vec<Finding> {
    let mut findings = Findings::default();
    let model = Model::of(document, &mut findings);
    for (_, check) in CHECKS {
        if !findings.is_full() {
            check(&model, &mut findings);
        }
    }
    rules::deprecation::check(&model, today, &mut findings);
    findings.sorted()
}

/// All rules, in the order in which they are checked.
pub fn rules() -> impl Iterator<Item = &'static Rule> {
    let structure = openapi::RULES.iter().copied();
    let others = CHECKS.iter().map(|(rules, _)| *rules);
    let last: [&[&Rule]; 1] = [rules::deprecation::RULES];
    structure.chain(others).chain(last).flatten().copied()
}
