//! The state that all parts of the comparison share: the two documents, the changes found so far, and the pairs
//! of schemas that are still to be compared.
//!
//! A schema is compared once for each pair of places and [`Role`], however many operations use it, and without
//! recursion: a queue holds the pairs, and comparing one adds the pairs below it. So the cost of cycles and of
//! long chains of references is linear. The operations that a change affects are found afterwards, from the
//! operations down to the pairs that have changes.

use std::cmp::Reverse;
use std::collections::{HashMap, VecDeque};

use document::openapi::{Id, Kind, Model, Object};
use document::pointer;
use jiff::civil::Date;

use super::conjunction::{Schema, Verdict};
use super::data::difference;
use super::found::{Found, Raw};
use super::place::At;
use super::rules::{self, ChangeRule, Role};
use super::schemes::Schemes;
use super::subtypes::Subtypes;
use super::users::{DOCUMENT, User, Users};
use crate::finding::Severity;
use crate::subschema::{Budget, Inclusion};

/// Whether a schema is in the revision, its parts, and the unions of which one alternative is among them.
type SchemaKey = (bool, Vec<Id>, Vec<(Id, &'static str)>);

/// Two objects that operations share, and which part of them is compared.
type Shared = (&'static str, Id, Id);

/// Two schemas in one role and notation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Pair {
    pub(super) base: u32,
    pub(super) revision: u32,
    pub(super) role: Role,
    /// Whether the values are sent as XML.
    in_xml: bool,
    /// The reference that led to them, if it leads to another object than in the base.
    via: Option<Id>,
    /// How their values differ, where they are used.
    pub(super) verdict: Verdict,
    /// How their values differ by the letter. If one of them has no values, the keywords are compared all the same.
    pub(super) letter: Verdict,
}

pub(super) struct Comparer<'a> {
    pub(super) base: &'a Model<'a>,
    pub(super) revision: &'a Model<'a>,
    pub(super) today: Date,
    pub(super) inclusion: Inclusion<'a>,
    pub(super) subtypes: Subtypes<'a>,
    pub(super) schemes: Schemes<'a>,
    /// Whether a callback is being compared, which reverses the direction.
    pub(super) in_callback: bool,
    /// Whether the values being compared are sent as XML.
    pub(super) in_xml: bool,
    /// The reference that led here, if it leads to another object than in the base.
    via: Option<Object<'a>>,
    /// The schema of the base that is being compared.
    compared: Option<u32>,
    pub(super) users: Users,
    /// The greatest difference that pairs below the current user can have.
    most: Verdict,
    pub(super) found: Found<'a>,
    schemas: Vec<Schema<'a>>,
    schema_of: HashMap<SchemaKey, u32>,
    pairs: HashMap<Pair, User>,
    shared: HashMap<Shared, User>,
    waiting: VecDeque<(User, Pair)>,
    /// The users with schemas that were not compared, since a reference leads nowhere or to another file.
    unclear: Vec<User>,
    budget: Budget,
}

impl<'a> Comparer<'a> {
    pub(super) fn new(base: &'a Model<'a>, revision: &'a Model<'a>, today: Date) -> Self {
        let budget = Budget::of(base.len() + revision.len());
        Self {
            base,
            revision,
            today,
            inclusion: Inclusion::new(base, revision, budget.clone()),
            subtypes: Subtypes::of(base, revision),
            schemes: Schemes::of(base, revision),
            in_callback: false,
            in_xml: false,
            via: None,
            compared: None,
            users: Users::new(),
            most: Verdict::Breaking,
            found: Found::default(),
            schemas: Vec::new(),
            schema_of: HashMap::new(),
            pairs: HashMap::new(),
            shared: HashMap::new(),
            waiting: VecDeque::new(),
            unclear: Vec::new(),
            budget,
        }
    }

    /// Makes an operation the current user, in which changes are found.
    pub(super) fn begin(&mut self, name: String, is_unstable: bool) {
        (self.most, self.via, self.compared) = (Verdict::Breaking, None, None);
        self.users.current = self.users.add_operation(name, is_unstable);
    }

    /// Makes the document the current user, in which changes are found.
    pub(super) fn begin_document(&mut self) {
        (self.via, self.compared) = (None, None);
        self.users.current = DOCUMENT;
    }

    /// Compares two objects that operations share, once. Each operation that uses the objects is listed with the
    /// changes.
    pub(super) fn once(&mut self, pair: Shared, compare: impl FnOnce(&mut Self)) {
        let next = self.users.len();
        let shared = *self.shared.entry(pair).or_insert(next);
        self.users.uses(shared);
        if shared == next {
            self.users.add();
            let user = std::mem::replace(&mut self.users.current, shared);
            compare(self);
            self.users.current = user;
        }
    }

    /// Compares what two objects lead to. If they are references to different objects of the revision, the changes are
    /// reported at the reference. What both refer to by the same name has its changes itself.
    pub(super) fn through(&mut self, (old, new): (Object<'a>, Object<'a>), compare: impl FnOnce(&mut Self)) {
        let before = self.via;
        let target = |object: &Object<'a>| object.text("$ref").filter(|_| object.is_reference());
        let has = |model: &Model<'a>, target| {
            pointer::in_reference(target).is_some_and(|at| model.object_at(&at).is_some())
        };
        self.via = match (target(&old), target(&new)) {
            (Some(was), Some(is)) if was == is => None,
            _ if before.is_some() => before,
            // The component was not renamed.
            (Some(was), Some(_)) if has(self.revision, was) => Some(new),
            // The component is not new.
            (None, Some(is)) if has(self.base, is) => Some(new),
            _ => None,
        };
        compare(self);
        self.via = before;
    }

    /// Returns the reference at which to report a change at these places: the one that led there, if it leads to another
    /// object than in the base. `None` if the change is in an object that the base has too.
    fn reference(&self, base: Option<At<'a>>, revision: Option<At<'a>>) -> Option<At<'a>> {
        let via = At::value(&self.via?, "$ref")?;
        let object = revision?.object();
        let is_own = match base {
            Some(base) => component(base.object()) == component(object),
            None => {
                let parts = self.compared.map_or(&[][..], |base| &self.schemas[base as usize].parts);
                object.ancestors().any(|object| {
                    self.base.object_at(&object.pointer()).is_some_and(|object| parts.contains(&object))
                })
            }
        };
        (!is_own).then_some(via)
    }

    /// Returns the role of a schema, given its role outside of callbacks.
    pub(super) fn role(&self, role: Role) -> Role {
        match role {
            _ if !self.in_callback => role,
            Role::Parameter | Role::RequiredParameter => Role::Header,
            Role::Header => Role::Parameter,
            Role::RequestText => Role::ResponseText,
            Role::ResponseText => Role::RequestText,
            Role::Request | Role::Parts | Role::Part => Role::Response,
            Role::Response => Role::Request,
        }
    }

    /// Adds a change. If the same change was found before, adds the current user to it.
    pub(super) fn report(
        &mut self,
        rule: &'static ChangeRule,
        base: Option<At<'a>>,
        revision: Option<At<'a>>,
        what: impl Into<String>,
    ) {
        if self.budget.is_exhausted() && self.users.is_in_pair() {
            // The two schemas were not resolved to the same depth.
            return;
        }
        let rule = if self.in_callback { rules::reversed(rule) } else { rule };
        let what = what.into();
        let via = self.reference(base, revision);
        let (revision, end) = if via.is_some() { (via, revision) } else { (revision, None) };
        let raw = Raw { rule, base, revision, end, what, users: Vec::new() };
        self.found.add(raw, self.users.current);
    }

    /// Adds a change of a keyword, or of its absence.
    pub(super) fn report_keyword(
        &mut self,
        rule: &'static ChangeRule,
        (old, new): (&Object<'a>, &Object<'a>),
        keyword: &str,
        what: impl Into<String>,
    ) {
        self.report(rule, At::value(old, keyword), Some(At::value_or_object(new, keyword)), what);
    }

    /// Adds the change of a keyword that is `true` in one document only.
    pub(super) fn report_flag(
        &mut self,
        (set, unset): (&'static ChangeRule, &'static ChangeRule),
        (old, new): (&Object<'a>, &Object<'a>),
        keyword: &str,
        (was_set, was_unset): (&str, &str),
    ) {
        match (old.flag(keyword), new.flag(keyword)) {
            (false, true) => self.report_keyword(set, (old, new), keyword, was_set),
            (true, false) => self.report_keyword(unset, (old, new), keyword, was_unset),
            _ => {}
        }
    }

    /// Compares the value of a keyword as data.
    pub(super) fn compare_keyword(
        &mut self,
        rule: &'static ChangeRule,
        (old, new): (&Object<'a>, &Object<'a>),
        keyword: &str,
    ) {
        if let Some(what) = difference(&format!("`{keyword}`"), old.get(keyword), new.get(keyword)) {
            self.report_keyword(rule, (old, new), keyword, what);
        }
    }

    /// Counts one step, and returns whether the limit allows more.
    pub(super) fn may_go_on(&mut self) -> bool {
        self.budget.spend(1);
        !self.budget.is_exhausted()
    }

    /// Reports how many pairs of schemas were not compared, if the limit of steps was reached.
    pub(super) fn report_exhaustion(&mut self) {
        if self.budget.is_exhausted() {
            let first = self.waiting.front().map(|(_, pair)| self.schemas[pair.revision as usize].anchor);
            let what = match self.waiting.len() {
                0 | 1 => {
                    "it was not compared: the comparison stopped at its limit of steps, so compare them by hand"
                        .to_owned()
                }
                all => format!(
                    "it and {} others were not compared: the comparison stopped at its limit of steps, so compare them by hand",
                    all - 1
                ),
            };
            self.begin_document();
            let place = At::of(&first.unwrap_or(self.revision.root()));
            self.report(&rules::NOT_UNDERSTOOD, None, Some(place), what);
        }
    }

    pub(super) fn schema(&self, id: u32) -> Schema<'a> {
        self.schemas[id as usize].clone()
    }

    /// Returns the number of a schema. Schemas with the same parts have the same number.
    pub(super) fn intern(&mut self, schema: Schema<'a>) -> u32 {
        let mut key: Vec<Id> = schema.parts.iter().map(|part| part.id).collect();
        if key.is_empty() {
            // The owner identifies a missing schema.
            key.extend([Id::MAX, schema.anchor.id]);
        }
        let is_new = std::ptr::eq(schema.anchor.model(), self.revision);
        *self.schema_of.entry((is_new, key, schema.chosen.clone())).or_insert_with(|| {
            self.schemas.push(schema);
            // Schemas are fewer than the values of a document, of which there are at most a million.
            u32::try_from(self.schemas.len() - 1).unwrap_or(u32::MAX)
        })
    }

    /// Queues two schemas for comparison. They differ at most as much as the schemas that contain them.
    pub(super) fn compare_later(&mut self, base: u32, revision: u32, role: Role) {
        self.compare_within(base, revision, role, self.most);
    }

    /// Queues two schemas for comparison that differ at most by `most`.
    pub(super) fn compare_within(&mut self, base: u32, revision: u32, role: Role, most: Verdict) {
        let schemas = (&self.schemas[base as usize], &self.schemas[revision as usize]);
        if self.inclusion.schemas.are_unchanged(schemas.0.values, schemas.1.values) {
            return;
        }
        if schemas.0.is_partial != schemas.1.is_partial {
            return self.leave_out();
        }
        let letter = match most {
            Verdict::Equal => Verdict::Equal,
            _ => Verdict::of(&mut self.inclusion, schemas, role).min(most),
        };
        let is_contradictory = schemas.0.is_contradictory(schemas.1, &mut self.inclusion);
        let verdict = if is_contradictory { Verdict::Breaking } else { letter };
        let via = self.via.map(|via| via.id);
        let pair = Pair { base, revision, role, in_xml: self.in_xml, via, verdict, letter };
        let next = self.users.len();
        let user = *self.pairs.entry(pair).or_insert(next);
        if user == next {
            self.users.add();
            self.waiting.push_back((user, pair));
        }
        self.users.uses(user);
    }

    /// Notes that the current user has schemas that are reported as not understood. The values around them may differ.
    pub(super) fn leave_out(&mut self) {
        self.unclear.push(self.users.current);
    }

    /// Calls `report` for each pair whose values differ although no change was reported at or below it, the
    /// innermost first. Where `is_overlap`, it does not explain the pairs above, and is reported once.
    pub(super) fn report_unexplained(
        &mut self,
        is_overlap: impl Fn(&mut Self, Pair) -> bool,
        report: impl Fn(&mut Self, Pair, bool),
    ) {
        let above = self.users.above();
        let mut explained = vec![Verdict::Equal; self.users.len()];
        let mut overlaps = vec![false; self.users.len()];
        self.unclear.iter().for_each(|user| mark(&above, &mut explained, *user, Verdict::Breaking));
        for raw in self.found.all() {
            let breaks = raw.rule.severity == Severity::Error;
            let by = if breaks { Verdict::Breaking } else { Verdict::Compatible };
            raw.users.iter().for_each(|user| mark(&above, &mut explained, *user, by));
        }
        let mut pairs: Vec<(User, Pair)> = self.pairs.iter().map(|(pair, user)| (*user, *pair)).collect();
        pairs.sort_unstable_by_key(|(user, _)| Reverse(*user));
        for (user, pair) in pairs {
            if pair.letter > Verdict::Same && explained[user] < pair.letter {
                self.users.current = user;
                self.via = pair.via.map(|via| self.revision.object(via));
                let overlap = is_overlap(self, pair);
                if !(overlap && overlaps[user]) {
                    report(self, pair, overlap);
                }
                match overlap {
                    true => mark(&above, &mut overlaps, user, true),
                    false => mark(&above, &mut explained, user, pair.letter),
                }
            }
        }
    }

    /// The next pair of schemas to compare.
    pub(super) fn next_pair(&mut self) -> Option<Pair> {
        let (user, pair) = self.waiting.pop_front()?;
        self.budget.begin();
        self.users.current = user;
        self.most = pair.verdict;
        self.compared = Some(pair.base);
        self.in_xml = pair.in_xml;
        self.via = pair.via.map(|via| self.revision.object(via));
        Some(pair)
    }
}

/// Returns the keyword and the name of the component that an object is in.
fn component<'a>(object: Object<'a>) -> Option<(&'a str, &'a str)> {
    let is_component = |object: &Object<'a>| object.parent().is_some_and(|it| it.kind() == Kind::Components);
    object.ancestors().find(is_component).map(|object| (object.keyword(), object.name()))
}

/// Raises the mark of a user, and of all above it, to at least `to`.
fn mark<T: Copy + PartialOrd>(above: &[Vec<User>], marks: &mut [T], user: User, to: T) {
    let mut open = vec![user];
    while let Some(user) = open.pop() {
        if marks[user] < to {
            marks[user] = to;
            open.extend(&above[user]);
        }
    }
}
