//! The fix of a change: what to restore or remove, or the version that allows the change.

use jiff::ToSpan as _;
use jiff::civil::Date;

use super::change::Change;
use super::place::At;
use super::rules::{Bump, ChangeRule, Chapter};
use super::version::{Versions, bump};
use crate::finding::Severity;

/// The days until a suggested waiver expires.
const DAYS: i64 = 90;

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

/// Returns the fix of a change as a sentence, given how to undo it; for a break, the lines of a waiver follow.
/// Empty if nothing needs to be fixed.
pub(crate) fn sentence(change: &Change, versions: Option<&Versions>, today: Date) -> String {
    let Change { fix, severity, .. } = change;
    match (severity, &change.waived) {
        (_, Some(reason)) => format!("Waived: {reason}"),
        (Severity::Info, None) => String::new(),
        // The message says what to do.
        (Severity::Unreadable, None) => String::new(),
        _ if bump(change) == Bump::Major => match versions {
            Some(versions) if change.released => format!("Released as {}.", versions.revision),
            _ => {
                let version = versions.map(|versions| versions.enough(Bump::Major).to_string());
                let version = version.as_deref().unwrap_or("a new major version");
                format!(
                    "{fix}, release {version}, or add a waiver to `contract.toml`.\n{}",
                    waiver(change, versions, today)
                )
            }
        },
        (Severity::Warning, None) if change.rule.fix.is_empty() => format!("{fix} if clients rely on it."),
        _ => format!("{fix}."),
    }
}

/// Returns a waiver for this change alone. A waived change still needs a new minor version.
fn waiver(change: &Change, versions: Option<&Versions>, today: Date) -> String {
    // The place of a removed item is that of its owner.
    let place =
        change.base.as_ref().filter(|_| change.rule.chapter == Chapter::Removed).unwrap_or(&change.place);
    let term = match versions.filter(|versions| versions.allow(Bump::Minor)) {
        Some(versions) => format!("release = \"{}\"", versions.revision),
        None => format!("until = {}", today.saturating_add(DAYS.days())),
    };
    let at = toml::Value::from(place.pointer.as_str());
    format!("[[waiver]]\nrule = \"{}\"\nat = {at}\nreason = \"WHY\"\n{term}", change.rule.name)
}
