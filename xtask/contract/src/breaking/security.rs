//! The credentials that an operation asks for.
//!
//! `security` is a list of alternatives, each a set of schemes with scopes. A client is safe if the credentials
//! that it sends still satisfy one alternative.

use std::collections::BTreeSet;

use super::comparer::Comparer;
use super::place::At;
use super::rules::{self, ChangeRule};
use crate::openapi::{Operation, Requirement, Security};

/// Each alternative is compared with each other one.
const MAX_ALTERNATIVES: usize = 100;

/// One alternative, and its place.
struct Alternative<'a> {
    schemes: Requirement<'a>,
    place: At<'a>,
}

impl Alternative<'_> {
    /// Whether credentials for the other one are sufficient for this one.
    fn is_satisfied_by(&self, other: &Self) -> bool {
        let mut schemes = self.schemes.iter();
        schemes.all(|(scheme, scopes)| {
            other.schemes.get(scheme).is_some_and(|others: &BTreeSet<_>| scopes.is_subset(others))
        })
    }

    fn has_schemes_of(&self, other: &Self) -> bool {
        self.schemes.keys().eq(other.schemes.keys())
    }

    fn shown(&self) -> String {
        let schemes = self.schemes.iter().map(|(scheme, scopes)| match scopes.is_empty() {
            true => format!("`{scheme}`"),
            false => {
                let scopes: Vec<_> = scopes.iter().copied().collect();
                format!("`{scheme}` with {}", scopes.join(", "))
            }
        });
        schemes.collect::<Vec<_>>().join(" and ")
    }
}

/// The alternatives of an operation that need credentials, and whether none are needed.
fn alternatives<'a>(cx: &mut Comparer<'a>, security: &Security<'a>) -> (Vec<Alternative<'a>>, bool) {
    let all: Vec<_> = security.alternatives().collect();
    let is_open = all.is_empty() || all.iter().any(|(_, schemes)| schemes.is_empty());
    if all.len() > MAX_ALTERNATIVES {
        let what = format!(
            "`security` has more than {MAX_ALTERNATIVES} alternatives, and the rest was not compared"
        );
        let place = security.owner().and_then(|owner| At::value(&owner, "security"));
        cx.report(&rules::NOT_UNDERSTOOD, None, place, what);
    }
    let closed = all.into_iter().take(MAX_ALTERNATIVES).filter(|(_, schemes)| !schemes.is_empty());
    (closed.map(|(object, schemes)| Alternative { schemes, place: At::of(&object) }).collect(), is_open)
}

pub(super) fn compare<'a>(cx: &mut Comparer<'a>, old: &Operation<'a>, new: &Operation<'a>) {
    let (base, revision) = (old.security(), new.security());
    let ((before, was_open), (after, is_open)) = (alternatives(cx, &base), alternatives(cx, &revision));
    let old_place = base.owner().and_then(|owner| At::value(&owner, "security"));
    // A change of the security of the document has its place there, and is reported once.
    let global = !old.has("security") && !new.has("security");
    let owner = if global { cx.revision.root() } else { **new };
    let inherited = revision.owner().and_then(|owner| At::value(&owner, "security"));
    let place = inherited.unwrap_or_else(|| At::of(&owner));
    let choose = |own: &'static ChangeRule, whole: &'static ChangeRule| if global { whole } else { own };
    if is_open && !was_open {
        let rule = choose(&rules::SECURITY_LIFTED, &rules::GLOBAL_SECURITY_LIFTED);
        cx.report(rule, old_place, Some(place), "credentials are no longer required");
    }
    if was_open && !is_open {
        let rule = choose(&rules::SECURITY_REQUIRED, &rules::GLOBAL_SECURITY_REQUIRED);
        let names: Vec<_> = after.iter().map(Alternative::shown).collect();
        let what = format!("credentials are now required: {}", names.join(" or "));
        cx.report(rule, old_place, Some(place), what);
    }
    let is_refused = |old: &&Alternative| !is_open && !after.iter().any(|new| new.is_satisfied_by(old));
    for old in before.iter().filter(is_refused) {
        let (rule, what) = match after.iter().find(|new| new.has_schemes_of(old)) {
            Some(new) => {
                let rule = choose(&rules::SCOPE_ADDED, &rules::GLOBAL_SCOPE_ADDED);
                (rule, format!("{} is no longer sufficient; {} is required", old.shown(), new.shown()))
            }
            None => {
                let rule = choose(&rules::SECURITY_REMOVED, &rules::GLOBAL_SECURITY_REMOVED);
                (rule, format!("credentials for {} are no longer accepted", old.shown()))
            }
        };
        cx.report(rule, Some(old.place), Some(place), what);
    }
    let is_new = |new: &&Alternative| !was_open && !before.iter().any(|old| old.is_satisfied_by(new));
    for new in after.iter().filter(is_new) {
        let (rule, what) = match before.iter().find(|old| old.has_schemes_of(new)) {
            Some(old) if !new.is_satisfied_by(old) => continue,
            Some(old) => {
                let rule = choose(&rules::SCOPE_REMOVED, &rules::GLOBAL_SCOPE_REMOVED);
                (rule, format!("{} is now sufficient; it was {}", new.shown(), old.shown()))
            }
            None => {
                let rule = choose(&rules::SECURITY_ADDED, &rules::GLOBAL_SECURITY_ADDED);
                (rule, format!("credentials for {} are now accepted too", new.shown()))
            }
        };
        cx.report(rule, old_place, Some(new.place), what);
    }
}
