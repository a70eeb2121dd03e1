//! Waivers allow intended breaking changes, each for a reason, and for one release or until a date.

use document::Document;
use document::place::Subject;
use document::shortened;
use jiff::civil::Date;

use super::change::Change;
use super::rules::{self, Bump, change_rules};
use super::version::version;
use crate::exception::{Exceptions, Term};
use crate::finding::Severity;

/// Whether the changes of a rule can be waived.
pub(crate) fn can_be_waived(rule: &str) -> bool {
    // The rules about the version need no increment, and no other such rule has this prefix.
    let can = |it: &super::ChangeRule| it.bump != Bump::None || it.name.starts_with("api-");
    change_rules().any(|it| it.name == rule && can(it))
}

/// Marks the changes that are waived, and returns the problems with the waivers.
pub(crate) fn apply(
    waivers: &Exceptions<'_>,
    (base, revision): (&Document, &Document),
    changes: &mut [Change],
    today: Date,
) -> Vec<Change> {
    let (base, revision) = (version(base).ok(), version(revision).ok());
    let has_effect = |term: &Term| match term {
        Term::Until(day) => *day >= today,
        Term::Release(release) => revision.as_ref() == Some(release) && base.as_ref() != Some(release),
    };
    let mut used = vec![false; waivers.all.len()];
    for change in changes {
        let places = [Some(&change.place), change.base.as_ref(), change.end.as_ref()];
        let places: Vec<_> = places.into_iter().flatten().map(|place| place.pointer.as_str()).collect();
        for at in waivers.covering(change.rule.name, &places, &change.operations) {
            used[at] = true;
            if change.severity > Severity::Info && waivers.all[at].term.as_ref().is_none_or(has_effect) {
                change.severity = Severity::Info;
                change.waived = Some(waivers.all[at].reason.clone());
            }
        }
    }
    let problems = waivers.all.iter().zip(used).filter_map(|(waiver, used)| {
        let (rule, what) = match waiver.term.as_ref()? {
            Term::Until(day) if *day < today => (&rules::WAIVER_EXPIRED, format!("it expired after {day}")),
            term if !used && has_effect(term) => {
                let rule = shortened(&waiver.rule);
                (&rules::WAIVER_UNUSED, format!("no change by the rule `{rule}` matches it"))
            }
            _ => return None,
        };
        Some(Change::new(rule, Subject::document().with("waiver", ""), what, waiver.place.clone()))
    });
    problems.collect()
}
