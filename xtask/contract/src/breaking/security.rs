//! Which credentials an operation asks for.
//!
//! `security` is a list of alternatives, each a set of schemes with scopes. An operation without one has
//! that of the whole document; an empty list, an empty alternative, or none at all means that no
//! credentials are needed (OpenAPI 3.0.3, sections 4.7.10 and 4.7.30). A client is safe if what it sends
//! today still satisfies one alternative.

use std::collections::{BTreeMap, BTreeSet};

use crate::document::Node;

use super::comparer::{Comparer, Side};
use super::rules::{self, Rule};

/// Each alternative is held against each other one.
const MAX_ALTERNATIVES: usize = 100;

/// One alternative: scopes by scheme, and its place.
struct Alternative<'a> {
    schemes: BTreeMap<&'a str, BTreeSet<&'a str>>,
    place: Option<&'a Node>,
}

impl Alternative<'_> {
    /// Whether credentials for the other one are good for this one too.
    fn is_satisfied_by(&self, other: &Self) -> bool {
        self.schemes
            .iter()
            .all(|(scheme, scopes)| other.schemes.get(scheme).is_some_and(|others| scopes.is_subset(others)))
    }

    fn has_schemes_of(&self, other: &Self) -> bool {
        self.schemes.keys().eq(other.schemes.keys())
    }

    fn is_open(&self) -> bool {
        self.schemes.is_empty()
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

/// The requirement that holds for an operation.
struct Requirement<'a> {
    alternatives: Vec<Alternative<'a>>,
    /// Where it is written.
    place: Option<&'a Node>,
    /// Whether it is that of the whole document.
    global: bool,
}

pub(super) fn compare<'a>(cx: &mut Comparer<'a>, old: &'a Node, new: &'a Node) {
    let base = requirement(cx, Side::Base, old);
    let revision = requirement(cx, Side::Revision, new);
    // A change of the whole document's has its place there, and is noted once.
    let place = if revision.global {
        revision.place.or(base.global.then_some(&cx.revision.root)).unwrap_or(new)
    } else {
        revision.place.unwrap_or(new)
    };
    let global = revision.global && base.global;
    let choose = |own: &'static Rule, whole: &'static Rule| if global { whole } else { own };
    let opened = revision.alternatives.iter().any(Alternative::is_open);
    let was_open = base.alternatives.iter().any(Alternative::is_open);
    if opened && !was_open {
        let rule = choose(&rules::SECURITY_LIFTED, &rules::GLOBAL_SECURITY_LIFTED);
        cx.report(rule, base.place, Some(place), "no credentials are needed any more");
    }
    if was_open && !opened {
        let rule = choose(&rules::SECURITY_REQUIRED, &rules::GLOBAL_SECURITY_REQUIRED);
        let names: Vec<_> = revision.alternatives.iter().map(Alternative::shown).collect();
        let what = format!("credentials are needed now: {}", names.join(" or "));
        cx.report(rule, base.place, Some(place), what);
    }
    for before in base.alternatives.iter().filter(|alternative| !alternative.is_open() && !opened) {
        if revision.alternatives.iter().any(|after| after.is_satisfied_by(before)) {
            continue;
        }
        let (rule, what) = match revision.alternatives.iter().find(|after| after.has_schemes_of(before)) {
            Some(after) => {
                let rule = choose(&rules::SCOPE_ADDED, &rules::GLOBAL_SCOPE_ADDED);
                (rule, format!("{} is not enough any more; needed is {}", before.shown(), after.shown()))
            }
            None => {
                let rule = choose(&rules::SECURITY_REMOVED, &rules::GLOBAL_SECURITY_REMOVED);
                (rule, format!("credentials for {} are not accepted any more", before.shown()))
            }
        };
        cx.report(rule, before.place.or(base.place), Some(place), what);
    }
    for after in revision.alternatives.iter().filter(|alternative| !alternative.is_open() && !was_open) {
        if base.alternatives.iter().any(|before| before.is_satisfied_by(after)) {
            continue;
        }
        let (rule, what) = match base.alternatives.iter().find(|before| before.has_schemes_of(after)) {
            Some(before) if before.is_satisfied_by(after) || !after.is_satisfied_by(before) => continue,
            Some(before) => {
                let rule = choose(&rules::SCOPE_REMOVED, &rules::GLOBAL_SCOPE_REMOVED);
                (rule, format!("{} is enough now; it was {}", after.shown(), before.shown()))
            }
            None => {
                let rule = choose(&rules::SECURITY_ADDED, &rules::GLOBAL_SECURITY_ADDED);
                (rule, format!("credentials for {} are accepted too", after.shown()))
            }
        };
        cx.report(rule, base.place, after.place.or(Some(place)), what);
    }
}

fn requirement<'a>(cx: &mut Comparer<'a>, side: Side, operation: &'a Node) -> Requirement<'a> {
    let root = &cx.document(side).root;
    let global = operation.get("security").is_none();
    let owner = if global { root } else { operation };
    let list = cx.list(side, owner, "security");
    if let Some(surplus) = list.get(MAX_ALTERNATIVES) {
        cx.not_understood(
            side,
            surplus,
            format!("more than {MAX_ALTERNATIVES} alternatives are not compared"),
        );
    }
    let list = list.iter().take(MAX_ALTERNATIVES);
    let mut alternatives: Vec<_> = list.map(|place| alternative(cx, side, place)).collect();
    if alternatives.is_empty() {
        alternatives.push(Alternative { schemes: BTreeMap::new(), place: None });
    }
    Requirement { alternatives, place: owner.get("security"), global }
}

fn alternative<'a>(cx: &mut Comparer<'a>, side: Side, place: &'a Node) -> Alternative<'a> {
    if !matches!(place.value, crate::document::Value::Mapping(_)) {
        cx.not_understood(side, place, "a security requirement must be a mapping");
    }
    let scopes = |node: &'a Node| node.items().iter().filter_map(Node::as_str).collect();
    let schemes = place.entries().iter().map(|entry| (entry.key.as_str(), scopes(&entry.value))).collect();
    Alternative { schemes, place: Some(place) }
}
