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

/// The versions of two documents, and the one that the changes need.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Versions {
    /// The version of the base.
    pub base: Version,
    /// The version of the revision.
    pub revision: Version,
    /// The lowest version that the revision may have.
    pub least: Version,
}

impl Versions {
    /// Returns `None` if one of the documents has no version that can be read.
    pub(crate) fn of(base: &Document, revision: &Document, changes: &[Change]) -> Option<Self> {
        let (base, revision) = (version(base).ok()?, version(revision).ok()?);
        Some(Self { least: least(&base, needed(changes)), base, revision })
    }
}

/// Whether a rule is about the version.
pub(crate) fn is_version_rule(rule: &str) -> bool {
    let rules = [
        &rules::VERSION_UNREADABLE,
        &rules::VERSION_DECREASED,
        &rules::VERSION_SAME,
        &rules::VERSION_NOT_MAJOR,
        &rules::VERSION_NOT_MINOR,
    ];
    rules.iter().any(|known| known.name == rule)
}

/// Returns the increment that changes require together.
fn needed(changes: &[Change]) -> Bump {
    changes.iter().map(bump).max().unwrap_or(Bump::None)
}

/// Returns the problem with the revision's version, given the changes. A waived change counts as a compatible
/// change.
pub fn judge(base: &Document, revision: &Document, changes: &[Change]) -> Option<Change> {
    let needed = needed(changes);
    let (old, new) = match (version(base), version(revision)) {
        (Ok(old), Ok(new)) => (old, new),
        _ if needed == Bump::None && text(base) == text(revision) => return None,
        (old, new) => {
            let repair = old.as_ref().ok().map(|old| written(&least(old, needed), text(base)));
            let problem = new.err().or(old.err()).unwrap_or_default();
            let why = why(changes, needed, "; ");
            let what = format!("{problem}, so whether it increased enough is unknown{why}");
            return Some(Change { repair, ..change(base, revision, &rules::VERSION_UNREADABLE, what) });
        }
    };
    let least = least(&old, needed);
    if new.cmp_precedence(&old).is_lt() {
        let [old, new, next] = [text(base), text(revision), &spelt(&least, text(base))];
        let what = format!("it decreased from {old} to {new}; it must be {next} or later");
        let change = change(base, revision, &rules::VERSION_DECREASED, what);
        return Some(set(change, &least, text(base)));
    }
    let is_same = new.cmp_precedence(&old).is_eq();
    let numbers = |version: &Version| (version.major, version.minor, version.patch);
    let is_enough = if old.pre.is_empty() { numbers(&new) >= numbers(&least) } else { !is_same };
    if is_enough || needed == Bump::None {
        return None;
    }
    let rule = match needed {
        _ if is_same => &rules::VERSION_SAME,
        Bump::Major => &rules::VERSION_NOT_MAJOR,
        _ => &rules::VERSION_NOT_MINOR,
    };
    let [new, next] = [text(revision), &spelt(&least, text(base))];
    let what = format!("it is {new} and must be {next} or later{}", why(changes, needed, ", since "));
    Some(set(change(base, revision, rule, what), &least, text(base)))
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

/// Returns the reason why the version must increase, after `joint`.
fn why(changes: &[Change], needed: Bump, joint: &str) -> String {
    let mut asking = changes.iter().filter(|change| bump(change) == needed && needed != Bump::None);
    let Some(first) = asking.next() else { return String::new() };
    let why = if needed == Bump::Major { "breaks clients" } else { "changes the contract" };
    let more = match asking.count() {
        0 => String::new(),
        more => format!(" (and {more} more)"),
    };
    format!("{joint}this {why}: {}{more}", first.sentence())
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
pub(super) fn bump(change: &Change) -> Bump {
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

/// Reads `info.version`. A `v` before it and a missing third number do not matter.
pub(super) fn version(document: &Document) -> Result<Version, String> {
    let text = text(document);
    if text.is_empty() {
        return Err("`info.version` is not a string".to_owned());
    }
    let numbers = text.strip_prefix('v').unwrap_or(text);
    let parsed = Version::parse(numbers).or_else(|_| Version::parse(&format!("{numbers}.0")));
    parsed.map_err(|_| format!("`info.version` is `{text}`, which is not a version"))
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
