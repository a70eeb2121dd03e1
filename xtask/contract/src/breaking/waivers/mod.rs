//! Waivers: breaking changes that somebody decided to allow, for a reason and for a time.

mod file;

use jiff::civil::Date;

use super::change::{Change, Location};
use super::rules::{self, Bump, ChangeRule, change_rules};
use crate::finding::{Subject, shortened};

pub use file::Unreadable;

/// One decision to allow a change.
#[derive(Clone, Debug)]
pub struct Waiver {
    /// The name of the rule.
    pub rule: String,
    /// The JSON pointer of the place, in either document.
    pub at: Option<String>,
    /// The operation. A change that concerns others too is not covered.
    pub operation: Option<String>,
    /// Why the change is allowed.
    pub reason: String,
    /// The last day on which the waiver has effect.
    pub until: Date,
    /// Where the waiver is written.
    pub place: Location,
}

/// All waivers.
#[derive(Clone, Debug, Default)]
pub struct Waivers(pub Vec<Waiver>);

impl Waivers {
    /// Marks the changes that are waived, and returns what is wrong with the waivers.
    pub fn apply(&self, changes: &mut [Change], today: Date) -> Vec<Change> {
        let problems = self.0.iter().filter_map(|waiver| {
            let (rule, what) = waiver.apply(changes, today).err()?;
            let subject = Subject::document().with("waiver", "");
            let (place, operations) = (waiver.place.clone(), Vec::new());
            Some(Change { rule, subject, what, place, base: None, operations, waived: None })
        });
        problems.collect()
    }
}

impl Waiver {
    fn apply(&self, changes: &mut [Change], today: Date) -> Result<(), (&'static ChangeRule, String)> {
        let invalid = |what: String| Err((&rules::WAIVER_INVALID, what));
        let name = shortened(&self.rule);
        match change_rules().find(|known| known.name == self.rule) {
            None => return invalid(format!("the rule `{name}` does not exist")),
            Some(known) if known.bump == Bump::None => {
                return invalid(format!("`{name}` cannot be waived"));
            }
            Some(_) => {}
        }
        if self.at.is_none() && self.operation.is_none() {
            return invalid("a place (`at`) or an `operation` is missing".to_owned());
        }
        if self.reason.trim().is_empty() {
            return invalid("its `reason` is empty".to_owned());
        }
        if self.until < today {
            return Err((&rules::WAIVER_EXPIRED, format!("it expired after {}", self.until)));
        }
        let mut covered = changes.iter_mut().filter(|change| self.covers(change)).peekable();
        if covered.peek().is_none() {
            return Err((&rules::WAIVER_UNUSED, format!("no change by the rule `{name}` matches it")));
        }
        covered.for_each(|change| change.waived = Some(self.reason.clone()));
        Ok(())
    }

    fn covers(&self, change: &Change) -> bool {
        let mut places = std::iter::once(&change.place).chain(&change.base);
        change.rule.name == self.rule
            && self.at.as_deref().is_none_or(|at| places.any(|place| place.pointer == at))
            && self.operation.as_ref().is_none_or(|operation| {
                !change.operations.is_empty() && change.operations.iter().all(|name| name == operation)
            })
    }
}
