//! The fix of a change: what to restore or remove, or the version that allows the change.

use semver::Version;

use super::change::Change;
use super::place::At;
use super::rules::{Bump, ChangeRule, Chapter};
use super::version::{Versions, bump};
use crate::finding::Severity;

/// Returns how to undo a change at these places, without a full stop.
pub(super) fn undo(rule: &ChangeRule, base: Option<At<'_>>, revision: Option<At<'_>>) -> String {
    if !rule.fix.is_empty() {
        return rule.fix.to_owned();
    }
    let Some(old) = base else {
        let new = revision.and_then(|new| new.written());
        return format!("Remove {}", new.as_deref().unwrap_or("it"));
    };
    match old.written() {
        Some(old) => format!("Restore {old}"),
        None if rule.chapter == Chapter::Removed => "Restore it".to_owned(),
        None => "Undo the change".to_owned(),
    }
}

/// Returns the fix of a change as a sentence, given how to undo it. Empty if nothing needs to be fixed.
pub(crate) fn sentence(change: &Change, versions: Option<&Versions>) -> String {
    let Change { fix, severity, .. } = change;
    let release = versions.map(|Versions { least, revision, .. }| least.max(revision));
    match (severity, &change.waived) {
        (_, Some(waived)) => format!("Waived: {}", waived.reason),
        (Severity::Info, None) => String::new(),
        _ if bump(change) == Bump::Major => format!("{fix}, or release {}.", named(release)),
        (Severity::Warning, None) if change.rule.fix.is_empty() => format!("{fix} if clients rely on it."),
        _ => format!("{fix}."),
    }
}

fn named(release: Option<&Version>) -> String {
    release.map_or_else(|| "a new major version".to_owned(), Version::to_string)
}
