//! Checks one document by itself: whether it is valid, and whether it follows the rules of a profile.
//!
//! [`Model::of`] checks the structure against OpenAPI 3.0.3. All other rules work on the model. Each module checks
//! its kinds of objects in one pass, so that the cost grows linearly with the document.
//!
//! Rules that Spectral or Redocly also have use the same names. Each rule has a file in `fixtures/lint` with edits
//! that trigger it and edits that do not.
//!
//! No rule assumes that a value has the expected type. Work that can grow faster than the document (patterns,
//! composed schemas) is bounded, and a finding reports where the bound was reached.

pub mod examples;
mod progenitor;
mod prose;
mod rules;

use jiff::civil::Date;

use document::finding::{self, Finding, Spot, shortened};
use document::openapi::{self, Model, Object, Parameter, Step, head};
use document::rule::{Findings, Rule};
use document::{Document, Node};

type Check = fn(&Model<'_>, &mut Findings);

/// The rules of each module with the function that checks them.
const CHECKS: &[(&[&Rule], Check)] = &[
    (rules::combinations::RULES, rules::combinations::check),
    (rules::documentation::RULES, rules::documentation::check),
    (rules::servers::RULES, rules::servers::check),
    (rules::paths::RULES, rules::paths::check),
    (rules::operations::RULES, rules::operations::check),
    (rules::parameters::RULES, rules::parameters::check),
    (rules::responses::RULES, rules::responses::check),
    (rules::security::RULES, rules::security::check),
    (rules::components::RULES, rules::components::check),
    (rules::schemas::RULES, rules::schemas::check),
    (rules::contradictions::RULES, rules::contradictions::check),
    (rules::bounds::RULES, rules::bounds::check),
    (rules::patterns::RULES, rules::patterns::check),
    (rules::named::RULES, rules::named::check),
    (rules::names::RULES, rules::names::check),
    (examples::RULES, examples::check),
    (progenitor::responses::RULES, progenitor::responses::check),
    (progenitor::requests::RULES, progenitor::requests::check),
    (progenitor::RULES, progenitor::check),
    (progenitor::schemas::RULES, progenitor::schemas::check),
    (prose::RULES, prose::check),
];

/// Lints a document. Returns findings about validity first, and the others in the order of the file. `today` is
/// compared with sunset dates.
pub fn lint(document: &Document, today: Date) -> Vec<Finding> {
    let mut findings = Findings::default();
    let model = Model::of(document, &mut findings);
    check(&model, today, findings)
}

/// Lints a document by its model and the findings of its structure.
pub fn check(model: &Model<'_>, today: Date, mut findings: Findings) -> Vec<Finding> {
    if !model.is_complete() {
        return findings.sorted();
    }
    for (_, check) in CHECKS {
        if !findings.is_full() {
            check(model, &mut findings);
        }
    }
    rules::deprecation::check(model, today, &mut findings);
    findings.sorted()
}

/// All rules of [`lint`].
pub fn rules() -> impl Iterator<Item = &'static Rule> {
    let checks = CHECKS.iter().map(|(rules, _)| *rules).chain([rules::deprecation::RULES]);
    openapi::rules().chain(checks.flatten().copied())
}

/// Suggestions for misspelt names. Their number is limited, because a document can have very many.
#[derive(Default)]
struct Suggestions {
    searched: usize,
}

impl Suggestions {
    /// Returns the known name that a wrong one probably means.
    fn nearest<'n>(&mut self, wrong: &str, known: impl Iterator<Item = &'n str>) -> Option<&'n str> {
        const MOST: usize = 50;
        self.searched += 1;
        let distance = 2.min(wrong.len() / 3);
        if self.searched > MOST { None } else { finding::nearest(wrong, known, distance) }
    }
}

/// Returns a fix that names what was probably meant, before the other fix.
fn meant_or(meant: Option<&str>, otherwise: &str) -> String {
    match meant {
        Some(meant) => format!(
            "Did you mean `{}`? Else {}{}",
            shortened(meant),
            otherwise[..1].to_lowercase(),
            &otherwise[1..]
        ),
        None => otherwise.to_owned(),
    }
}

/// The items of a list under a keyword; none if the value is not a list.
fn items<'a>(object: Object<'a>, keyword: &str) -> &'a [Node] {
    object.get(keyword).map(Node::items).unwrap_or_default()
}

/// The place of an item of a list under a keyword.
fn item_spot(object: Object<'_>, keyword: &str, number: usize) -> Spot {
    let span = items(object, keyword).get(number).map_or(object.node().span, head);
    object.spot_at(&[Step::Key(keyword), Step::Item(number)], span)
}

/// The examples of a parameter, header or media type: the object and the keyword of each value.
fn examples_of<'a>(object: Object<'a>) -> impl Iterator<Item = (Object<'a>, &'static str, &'a Node)> {
    let own = object.get("example").map(|value| (object, "example", value));
    let named = object.resolved_children("examples");
    own.into_iter().chain(named.filter_map(|example| Some((example, "value", example.get("value")?))))
}

/// The parameters that an operation and its path item declare.
fn parameters_of<'a>(operation: Object<'a>) -> impl Iterator<Item = Parameter<'a>> {
    let owners = operation.parent().into_iter().chain([operation]);
    owners.flat_map(|owner| owner.children("parameters")).filter_map(Parameter::new)
}
