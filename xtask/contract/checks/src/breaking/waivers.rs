//! Waivers allow intended breaking changes, each for a reason, and for one release or until a date.

use document::Document;
use document::place::Subject;
use document::shortened;
use jiff::civil::Date;

use super::change::{Change, Term, Waived};
use super::rules::{self, Bump, ChangeRule, change_rules};
use super::version::{is_version_rule, version};
use crate::finding::{Location, Severity};

/// A waiver for one breaking change.
#[derive(Clone, Debug)]
pub struct Waiver {
    /// The name of the rule.
    pub rule: String,
    /// The JSON pointer of the place, in either document.
    pub at: Option<String>,
    /// The operation. A change that also affects other operations is not covered.
    pub operation: Option<String>,
    /// Why the change is made.
    pub reason: String,
    /// When the waiver has effect.
    pub term: Term,
    /// Where the waiver is written.
    pub place: Location,
}

/// Marks the changes that are waived, and returns the problems with the waivers.
pub(crate) fn apply(
    waivers: &[Waiver],
    (base, revision): (&Document, &Document),
    changes: &mut [Change],
    today: Date,
) -> Vec<Change> {
    let (base, revision) = (version(base).ok(), version(revision).ok());
    let concerns = |waiver: &&Waiver| match &waiver.term {
        Term::Until(_) => true,
        Term::Release(release) => revision.as_ref() == Some(release) && base.as_ref() != Some(release),
    };
    let problems = waivers.iter().filter(concerns).filter_map(|waiver| {
        let (rule, what) = waiver.apply(changes, today).err()?;
        Some(Change::new(rule, Subject::document().with("waiver", ""), what, waiver.place.clone()))
    });
    problems.collect()
}

impl Waiver {
    fn apply(&self, changes: &mut [Change], today: Date) -> Result<(), (&'static ChangeRule, String)> {
        let name = shortened(&self.rule);
        let known = change_rules().find(|known| known.name == self.rule);
        if known.is_none_or(|known| known.bump == Bump::None && !is_version_rule(known.name)) {
            let what = format!("`{name}` is not the rule of a change that can be waived");
            return Err((&rules::WAIVER_INVALID, what));
        }
        if let Term::Until(day) = &self.term
            && *day < today
        {
            return Err((&rules::WAIVER_EXPIRED, format!("it expired after {day}")));
        }
        let mut covered = changes.iter_mut().filter(|change| self.covers(change)).peekable();
        if covered.peek().is_none() {
            return Err((&rules::WAIVER_UNUSED, format!("no change by the rule `{name}` matches it")));
        }
        covered.for_each(|change| {
            change.severity = Severity::Info;
            change.waived = Some(Waived { reason: self.reason.clone(), term: self.term.clone() });
        });
        Ok(())
    }

    fn covers(&self, change: &Change) -> bool {
        let mut places = std::iter::once(&change.place).chain(&change.base).chain(&change.end);
        change.rule.name == self.rule
            && self.at.as_deref().is_none_or(|at| places.any(|place| place.pointer == at))
            && self.operation.as_ref().is_none_or(|operation| {
                !change.operations.is_empty() && change.operations.iter().all(|name| name == operation)
            })
    }
}
