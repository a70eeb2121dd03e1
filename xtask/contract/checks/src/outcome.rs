//! The result of a comparison: the changes, the version, the waivers, and the exit status.

use document::Document;
use jiff::civil::Date;

use crate::breaking::version::{self, Versions};
use crate::breaking::{Change, Side, compare, compare_sides, fix, undo, waivers};
use crate::config::Config;
use crate::finding::{Finding, Severity, summary};

/// The limit of comparisons to find changes that a waived change hides.
const MAX_UNDONE: usize = 5;

/// The kind of change that makes a comparison fail.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum FailOn {
    /// A breaking change, or a version that is too low.
    #[default]
    Error,
    /// A warning too.
    Warning,
    /// A version that is too low for what changed. A breaking change with a new major version passes.
    Version,
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
    /// Compares two documents, applies severities and waivers, then judges the version. An `ignore` entry can accept its
    /// version; any other change needs a waiver.
    pub fn of(base: &Document, revision: &Document, config: &Config, today: Date) -> Self {
        Self::of_changes(base, revision, compare(base, revision, today), config, today)
    }

    /// [`Outcome::of`] for documents whose models exist.
    pub fn of_sides(base: Side<'_>, revision: Side<'_>, config: &Config, today: Date) -> Self {
        let changes = compare_sides(base, revision, today);
        Self::of_changes(base.document, revision.document, changes, config, today)
    }

    fn of_changes(
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
        let waive =
            |changes: &mut [Change]| waivers::apply(&config.waivers, (base, revision), changes, today);
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
        judged.retain_mut(|it| configured(it) && !config.ignores(it.rule.name, &it.place.pointer));
        changes.append(&mut judged);
        let mut waivers = waive(&mut changes);
        let mut version = changes.split_off(compared).pop();
        let versions = Versions::of(base, revision, &changes);
        for change in changes.iter_mut().chain(&mut waivers).chain(&mut version) {
            change.fix = fix::sentence(change, versions.as_ref());
        }
        Self { versions, changes, version, waivers }
    }

    /// Returns the problem with the version, unless the configuration accepts it by the severity `info` or a waiver.
    pub fn low_version(&self) -> Option<&Change> {
        self.version.as_ref().filter(|change| change.severity > Severity::Info)
    }

    /// Returns the changes that forbid a release of the revision: a version that is too low or unreadable,
    /// invalid or expired waivers, and parts that were not understood.
    pub fn refusals(&self) -> impl Iterator<Item = &Change> {
        let not_understood = self.changes.iter().filter(|change| change.severity == Severity::Unreadable);
        let waivers = self.waivers.iter().filter(|change| change.breaks());
        self.low_version().into_iter().chain(waivers).chain(not_understood)
    }

    /// Everything to report: the waivers, the changes with the most severe first, then the version.
    pub fn all(&self) -> impl Iterator<Item = &Change> {
        self.waivers.iter().chain(&self.changes).chain(&self.version)
    }

    /// The findings in a file.
    pub fn in_file(&self, file: &str) -> Vec<Finding> {
        self.all().filter(|change| change.place.file == file).map(Change::finding).collect()
    }

    /// Returns 1 if something breaks or the version is too low, else 2 if a part of a document was not understood, else 0.
    pub fn exit_code(&self, fail_on: FailOn) -> u8 {
        let breaks = |change: &Change| change.severity == Severity::Error;
        let fails = match fail_on {
            FailOn::Error => self.all().any(breaks),
            FailOn::Warning => {
                self.all().any(|change| breaks(change) || change.severity == Severity::Warning)
            }
            FailOn::Version => self.version.iter().chain(&self.waivers).any(breaks),
        };
        let is_unreadable = |change: &Change| change.severity == Severity::Unreadable;
        match fails {
            true => 1,
            false if self.changes.iter().any(is_unreadable) => 2,
            false => u8::from(fail_on == FailOn::Version && self.low_version().is_some()),
        }
    }

    /// The number of changes of each severity, and how many are waived.
    pub fn summary(&self) -> String {
        let summary = summary(self.all().map(|change| change.severity));
        match self.all().filter(|change| change.waived.is_some()).count() {
            0 => summary,
            waived => format!("{summary} ({waived} waived)"),
        }
    }
}
