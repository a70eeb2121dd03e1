//! The changes that a comparison has found so far.

use std::collections::{BTreeSet, HashMap};

use document::{Document, Node};

use super::change::Change;
use super::fix::undo;
use super::place::At;
use super::rules::{self, ChangeRule};
use super::users::{User, Users, push_new};
use crate::finding::Severity;

/// The limit of changes, so that two documents with nothing in common do not exhaust the memory.
const MAX_CHANGES: usize = 100_000;
/// The limit of changes that the sentence about one reference lists.
const MAX_LISTED: usize = 10;

/// A change whose operations are not known yet.
#[derive(Debug)]
pub(super) struct Raw<'a> {
    pub(super) rule: &'static ChangeRule,
    pub(super) base: Option<At<'a>>,
    pub(super) revision: Option<At<'a>>,
    /// The place to which a reference leads that changed, and that `revision` is.
    pub(super) end: Option<At<'a>>,
    pub(super) what: String,
    /// The users in which the change was found.
    pub(super) users: Vec<User>,
}

type Key = (&'static str, [Option<*const Node>; 3], String);

/// The changes so far, each once.
#[derive(Default)]
pub(super) struct Found<'a> {
    raws: Vec<Raw<'a>>,
    known: HashMap<Key, usize>,
    /// How many changes were found beyond the limit.
    not_listed: usize,
}

impl<'a> Found<'a> {
    /// Adds a change that was found in a user. If the same change was found before, adds the user to it.
    pub(super) fn add(&mut self, raw: Raw<'a>, user: User) {
        let places = [raw.base, raw.revision, raw.end].map(|at| at.map(|at| std::ptr::from_ref(at.node())));
        let key = (raw.rule.name, places, raw.what.clone());
        let next = self.raws.len();
        if next >= MAX_CHANGES && !self.known.contains_key(&key) {
            self.not_listed += 1;
            return;
        }
        let position = *self.known.entry(key).or_insert(next);
        if position == next {
            self.raws.push(raw);
        }
        push_new(&mut self.raws[position].users, user);
    }

    pub(super) fn all(&self) -> impl Iterator<Item = &Raw<'a>> {
        self.raws.iter()
    }

    /// Returns the changes with their places and operations.
    pub(super) fn into_changes(
        mut self,
        users: &Users,
        (base, revision): (&Document, &Document),
        root: At<'a>,
    ) -> Vec<Change> {
        if self.not_listed > 0 {
            let what = format!(
                "{} changes beyond the first {MAX_CHANGES} are not listed and not judged",
                self.not_listed
            );
            let (rule, users) = (&rules::NOT_UNDERSTOOD, Vec::new());
            self.raws.push(Raw { rule, base: None, revision: Some(root), end: None, what, users });
        }
        let operations = users.operations_of(self.raws.iter().flat_map(|raw| raw.users.iter().copied()));
        let changes = joined(self.raws).into_iter().filter_map(|raw| {
            let at = raw.revision.or(raw.base)?;
            let file = if raw.revision.is_some() { revision } else { base };
            let change = Change::new(raw.rule, at.subject(), raw.what, at.location(&file.path));
            let end = raw.end.map(|end| end.location(&revision.path));
            let old = raw.base.filter(|_| raw.revision.is_some()).map(|old| old.location(&base.path));
            let used: BTreeSet<User> =
                raw.users.iter().flat_map(|user| &operations[*user]).copied().collect();
            let description = raw.base.is_none().then(|| at.description()).flatten();
            let is_note = users.are_unstable(&used) && raw.rule.name != rules::STABILITY_DECREASED.name;
            let severity = if is_note { Severity::Info } else { change.severity };
            let (operations, fix) = (users.names(&used), undo(raw.rule, raw.base, raw.revision));
            Some(Change { severity, base: old, end, operations, description, fix, ..change })
        });
        changes.collect()
    }
}

/// Makes one change of all changes by one rule at a reference that leads to another object.
fn joined(raws: Vec<Raw<'_>>) -> Vec<Raw<'_>> {
    let (mut joined, mut whats, mut references) = (Vec::<Raw<'_>>::new(), Vec::new(), HashMap::new());
    for mut raw in raws {
        let (Some(end), Some(at)) = (raw.end, raw.revision) else {
            joined.push(raw);
            whats.push(Vec::new());
            continue;
        };
        let key = (raw.rule.name, std::ptr::from_ref(at.node()));
        let position = *references.entry(key).or_insert(joined.len());
        let what = format!("{} ({})", raw.what, end.subject());
        if position == joined.len() {
            raw.what = format!("it refers to {} now; compared with before, {}", end.subject(), raw.what);
            joined.push(raw);
            whats.push(vec![what]);
        } else {
            joined[position].users.append(&mut raw.users);
            whats[position].push(what);
        }
    }
    for (raw, mut whats) in joined.iter_mut().zip(whats).filter(|(_, whats)| whats.len() > 1) {
        let more = whats.len().saturating_sub(MAX_LISTED);
        whats.truncate(MAX_LISTED);
        let more = if more > 0 { format!(" and {more} more") } else { String::new() };
        raw.what =
            format!("it refers to another object now; compared with before, {}{more}", whats.join(", "));
    }
    joined
}
