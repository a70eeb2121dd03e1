//! The credentials that an operation requires.
//!
//! `security` is a list of alternatives, each a set of schemes with scopes. A client keeps working if the
//! credentials that it sends still satisfy one alternative. [`schemes`](super::schemes) decides which schemes are the same.

use std::collections::{BTreeMap, BTreeSet};

use document::openapi::{Object, Operation, Requirement, Security};
use document::shortened;

use super::comparer::Comparer;
use super::place::At;
use super::rules;
use super::schemes::{self, Identity, Origin, content, flows};
use super::unknown;

/// Each alternative is compared with each other one.
const MAX_ALTERNATIVES: usize = 100;

/// One alternative, and its place.
struct Alternative<'a> {
    /// The scopes by their scheme.
    schemes: BTreeMap<Identity<'a>, BTreeSet<&'a str>>,
    written: Requirement<'a>,
    place: At<'a>,
}

impl<'a> Alternative<'a> {
    fn new(cx: &Comparer<'a>, origin: Origin, object: Object<'a>, written: Requirement<'a>) -> Self {
        let mut schemes: BTreeMap<_, BTreeSet<_>> = BTreeMap::new();
        for (name, scopes) in &written {
            schemes.entry(cx.schemes.identity(origin, name)).or_default().extend(scopes);
        }
        Self { schemes, written, place: At::of(&object) }
    }

    /// Whether credentials for the other one are sufficient for this one.
    fn is_satisfied_by(&self, other: &Self) -> bool {
        let mut schemes = self.schemes.iter();
        schemes
            .all(|(scheme, scopes)| other.schemes.get(scheme).is_some_and(|others| scopes.is_subset(others)))
    }

    /// Whether this one requires all schemes of the other one.
    fn extends(&self, other: &Self) -> bool {
        other.schemes.keys().all(|scheme| self.schemes.contains_key(scheme))
    }

    fn has_schemes_of(&self, other: &Self) -> bool {
        self.schemes.len() == other.schemes.len() && self.extends(other)
    }

    fn display(&self) -> String {
        let schemes = self.written.iter().map(|(scheme, scopes)| match scopes.is_empty() {
            true => format!("`{scheme}`"),
            false => format!("`{scheme}` with {}", Vec::from_iter(scopes.iter().copied()).join(", ")),
        });
        Vec::from_iter(schemes).join(" and ")
    }
}

/// Returns the alternatives of an operation that require credentials, and whether it accepts requests without.
fn alternatives<'a>(
    cx: &mut Comparer<'a>,
    origin: Origin,
    security: &Security<'a>,
) -> (Vec<Alternative<'a>>, bool) {
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
    (closed.map(|(object, written)| Alternative::new(cx, origin, object, written)).collect(), is_open)
}

pub(super) fn compare<'a>(cx: &mut Comparer<'a>, old: &Operation<'a>, new: &Operation<'a>) {
    let (base, revision) = (old.security(), new.security());
    let (before, was_open) = alternatives(cx, Origin::Base, &base);
    let (after, is_open) = alternatives(cx, Origin::Revision, &revision);
    // A scheme that is no longer accepted is not compared.
    let accepted: BTreeSet<_> = after.iter().flat_map(|new| new.schemes.keys().copied()).collect();
    for name in before.iter().flat_map(|old| old.written.keys().copied()) {
        if let Some((old, new)) = cx.schemes.pair(name)
            && accepted.contains(&cx.schemes.identity(Origin::Base, name))
        {
            cx.once(("scheme", old.id, new.id), |cx| scheme(cx, (old, new)));
        }
    }
    let written = |security: &Security<'a>| At::value(&security.owner()?, "security");
    let old_place = written(&base);
    // The `security` of the document applies to many operations, but is reported once.
    let inherits = !old.has("security") && !new.has("security");
    let owner = if inherits { cx.revision.root() } else { **new };
    let place = written(&revision).unwrap_or_else(|| At::of(&owner));
    if is_open && !was_open {
        let what = "credentials are no longer required";
        cx.report(&rules::SECURITY_LIFTED, old_place, Some(place), what);
    }
    if was_open && !is_open {
        let names: Vec<_> = after.iter().map(Alternative::display).collect();
        let what = format!("credentials are now required: {}", names.join(" or "));
        cx.report(&rules::SECURITY_REQUIRED, old_place, Some(place), what);
    }
    let is_refused = |old: &&Alternative| !is_open && !after.iter().any(|new| new.is_satisfied_by(old));
    for old in before.iter().filter(is_refused) {
        let extended = after.iter().filter(|new| new.extends(old)).min_by_key(|new| new.schemes.len());
        let rule = match extended {
            Some(new) if new.has_schemes_of(old) => &rules::SCOPE_ADDED,
            _ => &rules::SECURITY_REMOVED,
        };
        let what = match extended {
            Some(new) => format!("{} is no longer sufficient; required: {}", old.display(), new.display()),
            None => format!("credentials for {} are no longer accepted", old.display()),
        };
        cx.report(rule, Some(old.place), Some(place), what);
    }
    let is_new = |new: &&Alternative| !was_open && !before.iter().any(|old| old.is_satisfied_by(new));
    for new in after.iter().filter(is_new) {
        let (rule, what) = match before.iter().find(|old| old.has_schemes_of(new)) {
            Some(old) if !new.is_satisfied_by(old) => continue,
            Some(old) => (
                &rules::SCOPE_REMOVED,
                format!("{} is now sufficient; it was {}", new.display(), old.display()),
            ),
            None => {
                (&rules::SECURITY_ADDED, format!("credentials for {} are now accepted too", new.display()))
            }
        };
        cx.report(rule, old_place, Some(new.place), what);
    }
}

/// Compares a scheme of the base with the same scheme of the revision.
fn scheme<'a>(cx: &mut Comparer<'a>, (old, new): schemes::Pair<'a>) {
    if old.name() != new.name() {
        let what = format!("it was renamed from `{}`", shortened(old.name()));
        cx.report(&rules::SCHEME_RENAMED, Some(At::of(&old)), Some(At::of(&new)), what);
    }
    let (Some(old), Some(new)) = (old.resolved(), new.resolved()) else { return };
    let (old, new) = (&old, &new);
    unknown::compare(cx, old, new, &[]);
    cx.compare_keyword(&rules::SCHEME_BEARER_FORMAT, (old, new), "bearerFormat");
    if content(old) != content(new) {
        // A scheme of another type has other keywords.
        if old.text("type") != new.text("type") {
            return cx.compare_keyword(&rules::SCHEME_TYPE, (old, new), "type");
        }
        for keyword in ["in", "name", "scheme"] {
            cx.compare_keyword(&rules::SCHEME_PLACE, (old, new), keyword);
        }
        cx.compare_keyword(&rules::SCHEME_AUTHORIZATION_URL, (old, new), "openIdConnectUrl");
    }
    let rules = (&rules::SCHEME_FLOW_ADDED, &rules::SCHEME_FLOW_REMOVED);
    let remaining = At::value_or_object(new, "flows");
    for (old, new) in cx.in_both("flow", rules, (flows(old), flows(new)), remaining) {
        flow(cx, &old, &new);
    }
}

fn flow<'a>(cx: &mut Comparer<'a>, old: &Object<'a>, new: &Object<'a>) {
    unknown::compare(cx, old, new, &[]);
    cx.compare_keyword(&rules::SCHEME_AUTHORIZATION_URL, (old, new), "authorizationUrl");
    for keyword in ["tokenUrl", "refreshUrl"] {
        cx.compare_keyword(&rules::SCHEME_TOKEN_URL, (old, new), keyword);
    }
    let scopes = |flow: &Object<'a>| At::value(flow, "scopes").into_iter().flat_map(At::entries);
    let rules = (&rules::SCHEME_SCOPE_ADDED, &rules::SCHEME_SCOPE_REMOVED);
    cx.in_both("scope", rules, (scopes(old), scopes(new)), At::value_or_object(new, "scopes"));
}
