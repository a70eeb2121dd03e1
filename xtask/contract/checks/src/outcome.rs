//! The result of a comparison: the changes, the version, the waivers, and the exit status.

use document::Document;
use jiff::civil::Date;

use crate::breaking::version::{self, Versions};
use crate::breaking::{Bump, Change, compare, fix, undo, waivers};
use crate::config::{Config, marks};
use crate::exception::Exceptions;
use crate::finding::{Finding, Severity, summary};

/// The limit of comparisons to find changes that a waived change hides.
const MAX_UNDONE: usize = 5;

/// What makes a comparison fail, besides problems with the version and with waivers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
pub enum FailOn {
    /// A breaking change without the version that it needs
    #[default]
    Error,
    /// A warning too
    Warning,
    /// Any breaking change, whatever the version
    Breaking,
}

/// The result of a comparison.
#[derive(Debug, Default)]
pub struct Outcome {
    /// The changes, waived or not.
    pub changes: Vec<Change>,
    /// The versions of the documents, if they can be compared.
    pub versions: Option<Versions>,
    /// The problem with the version, if any.
    pub version: Option<Change>,
    /// The problems with the waivers.
    pub waivers: Vec<Change>,
}

impl Outcome {
    /// Compares two documents, applies severities and waivers, then judges the version.
    pub fn of(base: &Document, revision: &Document, config: &Config, today: Date) -> Self {
        Self::of_changes(base, revision, compare(base, revision, today), config, today)
    }

    /// [`Outcome::of`] for the changes that [`compare`] returned.
    pub fn of_changes(
        base: &Document,
        revision: &Document,
        mut changes: Vec<Change>,
        config: &Config,
        today: Date,
    ) -> Self {
        let configured = |change: &mut Change| {
            if change.severity == Severity::Unreadable {
                // What was not compared is reported in any configuration.
                return true;
            }
            let severity = config.severity(change.rule.name, change.severity);
            change.severity = severity.unwrap_or(change.severity);
            severity.is_some()
        };
        changes.retain_mut(configured);
        // The base tells clients what they may not rely on.
        let marks = [base, revision].map(|document| marks::read(document).0);
        let waivers =
            Exceptions::new(config.waivers.iter().chain(marks.iter().flatten()).collect(), &[base, revision]);
        let waive = |changes: &mut [Change]| waivers::apply(&waivers, (base, revision), changes, today);
        waive(&mut changes);
        for _ in 0..MAX_UNDONE {
            let Some(undone) = undo::without_waived(base, revision, &changes) else { break };
            let mut hidden = compare(base, &undone, today);
            hidden.retain_mut(configured);
            hidden.retain(|change| {
                change.severity == Severity::Error && !changes.iter().any(|known| known.is(change))
            });
            if hidden.is_empty() {
                break;
            }
            changes.extend(hidden);
            waive(&mut changes);
        }
        // The waivers decide which version is needed, and can then allow a lower one.
        let compared = changes.len();
        let mut judged = Vec::from_iter(version::judge(base, revision, &changes));
        judged.retain_mut(configured);
        changes.append(&mut judged);
        let mut problems = waive(&mut changes);
        let mut version = changes.split_off(compared).pop();
        let versions = Versions::of(base, revision);
        for change in changes.iter_mut().chain(&mut problems).chain(&mut version) {
            change.released = change.breaks()
                && version::bump(change) == Bump::Major
                && versions.as_ref().is_some_and(|versions| versions.allow(Bump::Major));
            change.fix = fix::sentence(change, versions.as_ref(), today);
        }
        Self { versions, changes, version, waivers: problems }
    }

    /// Returns what makes the comparison fail: what has this severity, and parts that were not understood.
    pub fn failures(&self, fail_on: FailOn) -> impl Iterator<Item = &Change> {
        let least = if fail_on == FailOn::Warning { Severity::Warning } else { Severity::Error };
        self.all().filter(move |change| {
            change.severity >= least && (fail_on == FailOn::Breaking || !change.released)
        })
    }

    /// Everything to report: the waivers, the changes with the most severe first, then the version.
    pub fn all(&self) -> impl Iterator<Item = &Change> {
        self.waivers.iter().chain(&self.changes).chain(&self.version)
    }

    /// The findings in a file.
    pub fn in_file(&self, file: &str) -> Vec<Finding> {
        self.all().filter(|change| change.place.file == file).map(Change::finding).collect()
    }

    /// Returns 1 if something fails, 2 if it is only that a part of a document was not understood, else 0.
    pub fn exit_code(&self, fail_on: FailOn) -> u8 {
        let is_unreadable = |change: &Change| change.severity == Severity::Unreadable;
        match self.failures(fail_on).map(is_unreadable).min() {
            Some(false) => 1,
            Some(true) => 2,
            None => 0,
        }
    }

    /// The number of changes of each severity, of breaking changes that the version allows, and of waived ones.
    pub fn summary(&self) -> String {
        let (released, rest): (Vec<_>, Vec<_>) = self.all().partition(|change| change.released);
        let mut summed = summary(rest.iter().map(|change| change.severity));
        if let Some(versions) = self.versions.as_ref().filter(|_| !released.is_empty()) {
            let plural = if released.len() == 1 { "" } else { "s" };
            let allowed =
                format!("{} breaking change{plural}, released as {}", released.len(), versions.revision);
            summed = if rest.is_empty() { allowed } else { format!("{allowed}, {summed}") };
        }
        match self.all().filter(|change| change.waived.is_some()).count() {
            0 => summed,
            waived => format!("{summed} ({waived} waived)"),
        }
    }
}
