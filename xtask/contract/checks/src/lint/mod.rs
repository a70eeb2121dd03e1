//! Checks one document by itself: whether it is valid, and whether it follows the rules of a profile.
//!
//! [`Model::of`] checks the structure against OpenAPI 3.0.3, and all rules work on the model. Each module checks
//! its kinds of objects in one pass, so that the cost grows linearly with the document.
//!
//! Rules that Spectral or Redocly also have use the same names. Each rule has a file in `fixtures/lint` with edits
//! that trigger it and edits that do not.
//!
//! No rule assumes that a value has the expected type. Work that can grow faster than the document (patterns,
//! composed schemas) is bounded, and a finding reports where the bound was reached.

pub mod examples;
mod rules;
mod structure;

use std::collections::HashSet;
use std::sync::OnceLock;

use document::openapi::{Kind, Model, Object, Parameter, Step, head};
use document::place::Spot;
use document::{Document, Node};
use jiff::civil::Date;

use crate::finding::Finding;
use crate::rule::{Findings, Rule};

pub use rules::operations::SUNSET_DAYS;
pub(crate) use structure::describe;
pub use structure::form;

/// Checks a document, and adds the findings of its rules.
pub type Check = fn(&Model<'_>, &mut Findings);

/// The rules of a project, which [`add_project`] adds to those of this library.
#[derive(Debug)]
pub struct Project {
    /// The rules of each check. Their names must differ from those of [`rules`].
    pub checks: &'static [(&'static [&'static Rule], Check)],
    /// Returns the fixture of a rule, in the format of the files in `fixtures/lint`: `--explain` shows its first edits.
    pub fixture: fn(rule: &str) -> Option<&'static str>,
}

static PROJECT: OnceLock<&Project> = OnceLock::new();

/// Adds the rules of a project to every later [`lint`] and [`rules`] of this process, so that the configuration, the
/// reports and the language server know them too. Call it at the start of the program; only the first call has an effect.
///
/// ```
/// use checks::lint::{Project, add_project};
/// use checks::finding::Severity;
/// use document::openapi::{Kind, Model};
/// use checks::rule::{Findings, Fix, Profile, Rule};
///
/// static TITLE: Rule = Rule {
///     name: "title-length",
///     severity: Severity::Warning,
///     profile: Profile::Strict,
///     explanation: "The title has at most 40 characters.",
///     origin: "our guidelines",
///     fix: Fix::Manual,
/// };
///
/// fn title(model: &Model<'_>, findings: &mut Findings) {
///     for info in model.all(Kind::Info) {
///         if info.text("title").is_some_and(|title| title.chars().count() > 40) {
///             findings.add(&TITLE, info.value_spot("title"), "The title is long.", "Write a shorter one.");
///         }
///     }
/// }
///
/// static OURS: Project = Project { checks: &[(&[&TITLE], title)], fixture: |_| None };
/// add_project(&OURS);
/// let text = format!("openapi: 3.0.3\ninfo: {{title: {}, version: 1.0.0}}\npaths: {{}}\n", "long ".repeat(20));
/// let document = document::Document::parse("api.yaml", &text).map_err(|it| it.problem).expect("it can be read");
/// let findings = checks::lint::lint(&document, jiff::civil::date(2026, 1, 1));
/// assert!(findings.iter().any(|finding| finding.rule == "title-length"));
/// ```
pub fn add_project(project: &'static Project) {
    // A second call, such as that of another test, has no effect.
    let _ = PROJECT.set(project);
}

/// Returns the fixture of a rule of the project.
pub fn project_fixture(rule: &str) -> Option<&'static str> {
    (PROJECT.get()?.fixture)(rule)
}

/// The rules of modules, each with the function that checks them.
macro_rules! checks {
    ($($module:ident)*) => {
        &[$((rules::$module::RULES, rules::$module::check),)* (examples::RULES, examples::check)]
    };
}

const CHECKS: &[(&[&Rule], Check)] = checks! {
    combinations documentation paths operations parameters security components schemas named
    merge_keys
};

/// All rules but those about the structure, with their checks.
fn checks() -> impl Iterator<Item = &'static (&'static [&'static Rule], Check)> {
    CHECKS.iter().chain(PROJECT.get().into_iter().flat_map(|project| project.checks))
}

/// What a check depends on, beside the document.
#[derive(Clone, Debug)]
pub struct Settings {
    /// The date with which those of the document are compared.
    pub today: Date,
    /// The number of days before a sunset on which warnings begin.
    pub sunset_days: u16,
    /// The names of the rules that are not checked.
    pub off: HashSet<&'static str>,
}

impl From<Date> for Settings {
    /// All rules, with their defaults.
    fn from(today: Date) -> Self {
        Self { today, sunset_days: SUNSET_DAYS, off: HashSet::new() }
    }
}

/// Lints a document. Returns findings about validity first, and the others in the order of the file.
pub fn lint(document: &Document, settings: impl Into<Settings>) -> Vec<Finding> {
    check(&Model::of(document), settings)
}

/// Lints a document by its model.
pub fn check(model: &Model<'_>, settings: impl Into<Settings>) -> Vec<Finding> {
    let settings = settings.into();
    let mut findings = Findings::without(settings.off.clone());
    structure::check(model, &mut findings);
    if !model.is_complete() {
        return findings.sorted();
    }
    for (rules, check) in checks() {
        if findings.wants(rules) {
            check(model, &mut findings);
        }
    }
    rules::operations::sunsets(model, &settings, &mut findings);
    findings.sorted()
}

/// All rules of [`lint`].
pub fn rules() -> impl Iterator<Item = &'static Rule> {
    [structure::RULES].into_iter().chain(checks().map(|(rules, _)| *rules)).flatten().copied()
}

/// Reports the objects that lack something. If several objects all lack it, that has one cause and is one finding.
pub(crate) fn lacking<'a>(
    rule: &Rule,
    objects: impl Iterator<Item = Object<'a>>,
    (what, fix): (&str, &str),
    has: impl Fn(&Object<'a>) -> bool,
    findings: &mut Findings,
) {
    let objects: Vec<_> = objects.collect();
    let lack: Vec<_> = objects.iter().filter(|object| !has(object)).collect();
    if let [first, _, ..] = &*lack
        && lack.len() == objects.len()
    {
        let (root, number) = (first.model().root(), lack.len());
        let (place, noun) = match first.kind() {
            Kind::Operation | Kind::Responses => ("paths", Kind::Operation.word()),
            Kind::Tag => ("tags", Kind::Tag.word()),
            kind => ("components", kind.word()),
        };
        let message = format!("All {number} {noun}s have no {what}.");
        findings.add(rule, root.key_spot(place), message, fix);
        return;
    }
    for object in lack {
        findings.add(rule, object.spot(), format!("{} has no {what}.", object.subject()), fix);
    }
}

/// The items of a list under a keyword; none if the value is not a list.
pub fn items<'a>(object: Object<'a>, keyword: &str) -> &'a [Node] {
    object.get(keyword).map(Node::items).unwrap_or_default()
}

/// The place of an item of a list under a keyword.
pub(crate) fn item_spot(object: Object<'_>, keyword: &str, number: usize) -> Spot {
    let span = items(object, keyword).get(number).map_or(object.node().span, head);
    object.spot_at(&[Step::Key(keyword), Step::Item(number)], span)
}

/// The examples of a parameter, header or media type: the object and the keyword of each value.
pub fn examples_of<'a>(object: Object<'a>) -> impl Iterator<Item = (Object<'a>, &'static str, &'a Node)> {
    let own = object.get("example").map(|value| (object, "example", value));
    let named = object.resolved_children("examples");
    own.into_iter().chain(named.filter_map(|example| Some((example, "value", example.get("value")?))))
}

/// The parameters that an operation and its path item declare.
pub(crate) fn parameters_of<'a>(operation: Object<'a>) -> impl Iterator<Item = Parameter<'a>> {
    let owners = operation.parent().into_iter().chain([operation]);
    owners.flat_map(|owner| owner.children("parameters")).filter_map(Parameter::new)
}
