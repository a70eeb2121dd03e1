//! The version check: `info.version` must increase by as much as the contract changed.
//!
//! A breaking change needs a new major version, any other change of requests or responses a new minor one, and
//! a change that affects only generated clients or other programs a new patch version. Descriptions and examples
//! may change within a version. Before 1.0.0 the minor version takes the place of the major one, and the patch
//! version that of the minor one (semver.org, items 4 and 8). A pre-release promises no compatibility, so after one any
//! later version is enough (item 9).

use document::place::Subject;
use document::repair::Repair;
use document::{Document, Node};
use semver::{BuildMetadata, Version};

use super::change::Change;
use super::rules::{self, Bump, ChangeRule};
use crate::finding::{Location, Severity};

/// The versions of two documents.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Versions {
    /// The version of the base.
    pub base: Version,
    /// The version of the revision.
    pub revision: Version,
}

impl Versions {
    /// Returns `None` if one of the documents has no version that can be read.
    pub(crate) fn of(base: &Document, revision: &Document) -> Option<Self> {
        Some(Self { base: version(base).ok()?, revision: version(revision).ok()? })
    }

    /// Whether the version of the revision is high enough for a change that needs this increment.
    pub(crate) fn allow(&self, needed: Bump) -> bool {
        let Self { base, revision } = self;
        let numbers = |version: &Version| (version.major, version.minor, version.patch);
        match needed {
            Bump::None => revision.cmp_precedence(base).is_ge(),
            _ if !base.pre.is_empty() => revision.cmp_precedence(base).is_gt(),
            _ => numbers(revision) >= numbers(&least(base, needed)),
        }
    }

    /// Returns the version to release a change under that needs this increment: that of the revision, if it is enough.
    pub(super) fn enough(&self, needed: Bump) -> Version {
        if self.allow(needed) { self.revision.clone() } else { least(&self.base, needed) }
    }
}

/// Returns the problem with the revision's version, given the changes. A waived change counts as a compatible
/// change.
pub fn judge(base: &Document, revision: &Document, changes: &[Change]) -> Option<Change> {
    let needed = changes.iter().map(bump).max().unwrap_or(Bump::None);
    let like = text(base);
    let Some(versions) = Versions::of(base, revision) else {
        if needed == Bump::None && like == text(revision) {
            return None;
        }
        let problem = match (version(base), version(revision)) {
            (_, Err(problem)) => format!("`info.version` is {problem}"),
            (Err(problem), _) => format!("`info.version` was {problem}"),
            (Ok(_), Ok(_)) => return None,
        };
        let next = version(base).ok().map(|old| least(&old, needed));
        let need = asking(changes, needed).map(|asking| match &next {
            Some(next) => format!(", but {asking} {} or later", spelt(next, like)),
            None if needed == Bump::Major => format!(", but {asking} a new major version"),
            None => format!(", but {asking} a new version"),
        });
        let what = problem + &need.unwrap_or_default();
        let repair = next.map(|next| written(&next, like));
        return Some(Change { repair, ..change(base, revision, &rules::VERSION_UNREADABLE, what) });
    };
    let least = least(&versions.base, needed);
    let [new, next] = [text(revision), &spelt(&least, like)];
    if !versions.allow(Bump::None) {
        let what = format!("`info.version` decreased from {like} to {new}; it must be {next} or later");
        return Some(set(change(base, revision, &rules::VERSION_DECREASED, what), &least, like));
    }
    if versions.allow(needed) {
        return None;
    }
    let rule = match needed {
        _ if versions.revision.cmp_precedence(&versions.base).is_eq() => &rules::VERSION_SAME,
        Bump::Major => &rules::VERSION_NOT_MAJOR,
        _ => &rules::VERSION_NOT_MINOR,
    };
    let what = format!("`info.version` is {new}, but {} {next} or later", asking(changes, needed)?);
    Some(set(change(base, revision, rule, what), &least, like))
}

/// Returns the number of changes that need this increment, with the verb. `None` if no increment is needed.
fn asking(changes: &[Change], needed: Bump) -> Option<String> {
    let kind = if needed == Bump::Major { "breaking change" } else { "change" };
    let asking = changes.iter().filter(|change| needed != Bump::None && bump(change) == needed);
    match asking.count() {
        0 => None,
        1 => Some(format!("one {kind} needs")),
        number => Some(format!("{number} {kind}s need")),
    }
}

/// Adds the fix of a version that is too low.
fn set(change: Change, least: &Version, like: &str) -> Change {
    let fix = format!(
        "Set `info.version` to {}, or `\"{}\" = \"off\"` below `[rules]` if versions do not follow the changes",
        spelt(least, like),
        change.rule.name
    );
    Change { fix, repair: Some(written(least, like)), ..change }
}

/// Returns the repair that sets the version.
fn written(version: &Version, like: &str) -> Repair {
    Repair::Write { at: "/info/version".to_owned(), value: spelt(version, like).into() }
}

/// Returns a version as it is written where an earlier one is `like`: with a `v`, or without a third number that is 0.
fn spelt(version: &Version, like: &str) -> String {
    let prefix = if like.starts_with('v') { "v" } else { "" };
    let is_short = like.matches('.').count() == 1 && version.patch == 0 && version.pre.is_empty();
    match is_short {
        true => format!("{prefix}{}.{}", version.major, version.minor),
        false => format!("{prefix}{version}"),
    }
}

/// Returns the lowest version that may follow `old` for the increment `needed`.
fn least(old: &Version, needed: Bump) -> Version {
    match (needed, old.major) {
        (Bump::None, _) => Version { build: BuildMetadata::EMPTY, ..old.clone() },
        _ if !old.pre.is_empty() => Version::new(old.major, old.minor, old.patch),
        (Bump::Patch, _) | (Bump::Minor, 0) => Version::new(old.major, old.minor, old.patch + 1),
        (Bump::Minor, _) => Version::new(old.major, old.minor + 1, 0),
        (Bump::Major, 0) => Version::new(0, old.minor + 1, 0),
        (Bump::Major, _) => Version::new(old.major + 1, 0, 0),
    }
}

/// Returns the version increment that a change requires: that of its rule, or of the severity that the configuration gives
/// the rule.
pub(crate) fn bump(change: &Change) -> Bump {
    match (change.rule.bump, change.severity) {
        (Bump::Major, _) if change.waived.is_some() => Bump::Minor,
        (bump, severity) if severity == change.rule.severity || bump == Bump::None => bump,
        (_, Severity::Error) => Bump::Major,
        (bump, Severity::Info) => bump.min(Bump::Minor),
        _ => Bump::Minor,
    }
}

/// `info.version` as it is written; empty where there is none.
pub fn text(document: &Document) -> &str {
    document.root.pointer("/info/version").and_then(Node::as_str).unwrap_or_default()
}

/// Reads `info.version`. A `v` before it and a missing third number do not matter. The error says what it is instead.
pub(super) fn version(document: &Document) -> Result<Version, String> {
    let text = text(document);
    if text.is_empty() {
        return Err("not a string".to_owned());
    }
    let numbers = text.strip_prefix('v').unwrap_or(text);
    let parsed = Version::parse(numbers).or_else(|_| Version::parse(&format!("{numbers}.0")));
    parsed.map_err(|_| format!("`{text}`, which is not a version"))
}

fn change(base: &Document, revision: &Document, rule: &'static ChangeRule, what: String) -> Change {
    let at = |document: &Document| {
        let node = |pointer: &'static str| Some((pointer.to_owned(), document.root.pointer(pointer)?.span));
        let (pointer, span) = node("/info/version").or(node("/info")).or(node("")).unwrap_or_default();
        Location { file: document.path.clone(), pointer, span }
    };
    let change = Change::new(rule, Subject::document().with("version", ""), what, at(revision));
    Change { base: Some(at(base)), ..change }
}
