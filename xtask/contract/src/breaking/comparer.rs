//! What all parts of the comparison share: the two documents, the changes found so far, and the pairs of
//! schemas that are still to be compared.
//!
//! A schema is compared once for each pair of places and [`Role`], however many operations use it, and without
//! recursion: each pair waits in a queue and adds the pairs below it. So neither circles of references nor long
//! chains of them cost more than their length. The operations that use a change are found afterwards, from the
//! operations down to the pairs that have changes.

use std::collections::{HashMap, HashSet, VecDeque};
use std::hash::Hash;

use jiff::civil::Date;

use super::change::Change;
use super::data::{difference, pairs};
use super::place::At;
use super::rules::{self, ChangeRule, Role};
use super::schema::{Schema, Verdict};
use crate::document::{Document, Node};
use crate::finding::Severity;
use crate::openapi::{Id, Model, Object};
use crate::subschema::{Inclusion, Side};

/// How many operations are listed for a change in a schema.
const MAX_OPERATIONS: usize = 50;
/// How many schemas may take part for each object of the two documents. Real documents need less than one.
const WORK_PER_OBJECT: usize = 16;

/// What is being compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Owner {
    Document,
    Operation(u32),
    Pair(u32),
}

/// A change whose operations are not known yet.
#[derive(Debug)]
struct Raw<'a> {
    rule: &'static ChangeRule,
    base: Option<At<'a>>,
    revision: Option<At<'a>>,
    what: String,
    operations: Vec<u32>,
    pairs: Vec<u32>,
}

type Key = (&'static str, Option<*const Node>, Option<*const Node>, String);

/// Two schemas in one role.
#[derive(Clone, Copy, Debug)]
pub(super) struct Pair {
    pub(super) base: u32,
    pub(super) revision: u32,
    pub(super) role: Role,
    pub(super) verdict: Verdict,
}

pub(super) struct Comparer<'a> {
    pub(super) base: &'a Model<'a>,
    pub(super) revision: &'a Model<'a>,
    pub(super) today: Date,
    pub(super) owner: Owner,
    pub(super) inclusion: Inclusion<'a>,
    /// The components whose `allOf` refers to a schema, for each document.
    heirs: [HashMap<Id, Vec<Object<'a>>>; 2],
    /// The names of the operations.
    operations: Vec<String>,
    raws: Vec<Raw<'a>>,
    known: HashMap<Key, usize>,
    schemas: [Vec<Schema<'a>>; 2],
    schema_of: [HashMap<Vec<Id>, u32>; 2],
    pairs: Vec<Pair>,
    pair_of: HashMap<(u32, u32, Role, Verdict), u32>,
    below: Vec<Vec<u32>>,
    used_by: Vec<Vec<u32>>,
    waiting: VecDeque<u32>,
    work: usize,
    exhausted: bool,
}

impl<'a> Comparer<'a> {
    pub(super) fn new(base: &'a Model<'a>, revision: &'a Model<'a>, today: Date) -> Self {
        let objects = base.everything().count() + revision.everything().count();
        let work = objects.saturating_mul(WORK_PER_OBJECT).saturating_add(10_000);
        Self {
            base,
            revision,
            today,
            owner: Owner::Document,
            inclusion: Inclusion::new(base, revision, work),
            heirs: [heirs(base), heirs(revision)],
            operations: Vec::new(),
            raws: Vec::new(),
            known: HashMap::new(),
            schemas: Default::default(),
            schema_of: Default::default(),
            pairs: Vec::new(),
            pair_of: HashMap::new(),
            below: Vec::new(),
            used_by: Vec::new(),
            waiting: VecDeque::new(),
            work,
            exhausted: false,
        }
    }

    /// Makes an operation the one that changes are found in.
    pub(super) fn begin(&mut self, name: String) {
        self.owner = Owner::Operation(number(self.operations.len()));
        self.operations.push(name);
    }

    /// Adds a change. One that was found before only gains the operation or schema that is being compared.
    pub(super) fn report(
        &mut self,
        rule: &'static ChangeRule,
        base: Option<At<'a>>,
        revision: Option<At<'a>>,
        what: impl Into<String>,
    ) {
        if self.exhausted && matches!(self.owner, Owner::Pair(_)) {
            // The two schemas were not looked up to the same depth.
            return;
        }
        let what = what.into();
        let address = |at: Option<At<'a>>| at.map(|at| std::ptr::from_ref(at.node()));
        let key = (rule.name, address(base), address(revision), what.clone());
        let next = self.raws.len();
        let position = *self.known.entry(key).or_insert(next);
        if position == next {
            self.raws.push(Raw { rule, base, revision, what, operations: Vec::new(), pairs: Vec::new() });
        }
        let raw = &mut self.raws[position];
        match self.owner {
            Owner::Document => {}
            Owner::Operation(operation) => push_new(&mut raw.operations, operation),
            Owner::Pair(pair) => push_new(&mut raw.pairs, pair),
        }
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

    /// Reports what only one of two lists has, and returns what both have. `survivor` stands for what was
    /// removed, `noun` is what the items are called.
    pub(super) fn in_both<K: Hash + Eq, T: Copy + Into<At<'a>>>(
        &mut self,
        noun: &str,
        (added, removed): (&'static ChangeRule, &'static ChangeRule),
        (old, new): (impl IntoIterator<Item = (K, T)>, impl IntoIterator<Item = (K, T)>),
        survivor: At<'a>,
    ) -> Vec<(T, T)> {
        let paired = pairs(old, new);
        for old in paired.removed.into_iter().map(Into::into) {
            self.report(removed, Some(old), Some(survivor), format!("the {noun} {} was removed", old.name()));
        }
        for new in paired.added.into_iter().map(Into::into) {
            let what = match new.is_object() {
                true => "it was added".to_owned(),
                false => format!("the {noun} {} was added", new.name()),
            };
            self.report(added, None, Some(new), what);
        }
        paired.both
    }

    /// Counts one step of work, and returns whether there is any left.
    pub(super) fn may_go_on(&mut self) -> bool {
        self.work = self.work.saturating_sub(1);
        if self.work == 0 && !self.exhausted {
            let what = "the combinations of schemas in `allOf` are too many, and were not all compared";
            self.report(&rules::NOT_UNDERSTOOD, None, Some(At::of(&self.revision.root())), what);
            self.exhausted = true;
        }
        self.work > 0
    }

    pub(super) fn schema(&self, side: Side, id: u32) -> Schema<'a> {
        self.schemas[side as usize][id as usize].clone()
    }

    /// The components whose `allOf` leads to a schema.
    pub(super) fn heirs(&self, side: Side, of: Object<'a>) -> Vec<Object<'a>> {
        let mut found: Vec<Object<'a>> = Vec::new();
        let mut open = vec![of.id];
        while let Some(of) = open.pop() {
            for heir in self.heirs[side as usize].get(&of).into_iter().flatten() {
                if !found.contains(heir) {
                    found.push(*heir);
                    open.push(heir.id);
                }
            }
        }
        found
    }

    /// The objects that the compared schemas of the base consist of.
    pub(super) fn parts(&self) -> HashSet<Id> {
        self.schemas[0].iter().flat_map(|schema| schema.parts.iter().map(|part| part.id)).collect()
    }

    /// The number of a schema, the same for the same parts.
    pub(super) fn intern(&mut self, side: Side, schema: Schema<'a>) -> u32 {
        let mut key: Vec<Id> = schema.parts.iter().map(|part| part.id).collect();
        if key.is_empty() {
            // A missing schema, of which only the owner tells where it is missing.
            key.extend([Id::MAX, schema.anchor.id]);
        }
        let schemas = &mut self.schemas[side as usize];
        *self.schema_of[side as usize].entry(key).or_insert_with(|| {
            schemas.push(schema);
            number(schemas.len() - 1)
        })
    }

    /// Queues two schemas for comparison. Parts of schemas whose values do not differ, or differ in a way that
    /// breaks no client, do not differ more than these.
    pub(super) fn compare_later(&mut self, base: u32, revision: u32, role: Role) {
        let above = match self.owner {
            Owner::Pair(above) => self.pairs[above as usize].verdict,
            _ => Verdict::Breaking,
        };
        self.compare_within(base, revision, role, above);
    }

    /// Queues two schemas for comparison, which differ at most as far as this.
    pub(super) fn compare_within(&mut self, base: u32, revision: u32, role: Role, most: Verdict) {
        let schemas = (&self.schemas[0][base as usize], &self.schemas[1][revision as usize]);
        let verdict = match most {
            Verdict::Same => Verdict::Same,
            _ => Verdict::of(&mut self.inclusion, schemas, role).min(most),
        };
        let next = number(self.pairs.len());
        let pair = *self.pair_of.entry((base, revision, role, verdict)).or_insert(next);
        if pair == next {
            self.pairs.push(Pair { base, revision, role, verdict });
            self.below.push(Vec::new());
            self.used_by.push(Vec::new());
            self.waiting.push_back(pair);
        }
        match self.owner {
            Owner::Document => {}
            Owner::Operation(operation) => push_new(&mut self.used_by[pair as usize], operation),
            Owner::Pair(above) => self.below[above as usize].push(pair),
        }
    }

    /// The pairs whose values differ, although no change at them or below says so, the lowest first. Each is
    /// reported by `report`.
    pub(super) fn report_unexplained(&mut self, report: impl Fn(&mut Self, Pair)) {
        let mut above = vec![Vec::new(); self.pairs.len()];
        for (pair, below) in self.below.iter().enumerate() {
            below.iter().for_each(|below| above[*below as usize].push(pair));
        }
        let mut explained = vec![Verdict::Same; self.pairs.len()];
        let explain = |explained: &mut Vec<Verdict>, pair: u32, by: Verdict| {
            let mut open = vec![pair as usize];
            while let Some(pair) = open.pop() {
                if explained[pair] < by {
                    explained[pair] = by;
                    open.extend(&above[pair]);
                }
            }
        };
        for raw in &self.raws {
            let by =
                if raw.rule.severity == Severity::Error { Verdict::Breaking } else { Verdict::Compatible };
            raw.pairs.iter().for_each(|pair| explain(&mut explained, *pair, by));
        }
        for position in (0..self.pairs.len()).rev() {
            let pair = self.pairs[position];
            if explained[position] < pair.verdict {
                self.owner = Owner::Pair(number(position));
                report(self, pair);
                explain(&mut explained, number(position), pair.verdict);
            }
        }
    }

    /// The next pair of schemas to compare.
    pub(super) fn next_pair(&mut self) -> Option<Pair> {
        let pair = self.waiting.pop_front()?;
        self.owner = Owner::Pair(pair);
        Some(self.pairs[pair as usize])
    }

    /// The changes with their places and operations.
    pub(super) fn finish(mut self, base: &Document, revision: &Document) -> Vec<Change> {
        let users = self.users();
        let mut changes = Vec::with_capacity(self.raws.len());
        for mut raw in std::mem::take(&mut self.raws) {
            raw.operations.extend(raw.pairs.iter().flat_map(|pair| &users[*pair as usize]));
            raw.operations.sort_unstable();
            raw.operations.dedup();
            let old = raw.base.map(|at| at.location(&base.path));
            let new = raw.revision.map(|at| at.location(&revision.path));
            let (Some(at), (Some(place), base)) =
                (raw.revision.or(raw.base), if new.is_some() { (new, old) } else { (old, None) })
            else {
                continue;
            };
            let operations = raw.operations.iter().take(MAX_OPERATIONS);
            let operations = operations.map(|operation| self.operations[*operation as usize].clone());
            let change = Change::new(raw.rule, at.subject(), raw.what, place);
            changes.push(Change { base, operations: operations.collect(), ..change });
        }
        changes
    }

    /// The operations that use each pair of schemas, as far as it or a pair below it has changes.
    fn users(&self) -> Vec<HashSet<u32>> {
        let mut above = vec![Vec::new(); self.pairs.len()];
        for (pair, below) in self.below.iter().enumerate() {
            for below in below {
                above[*below as usize].push(number(pair));
            }
        }
        let mut leads_to_change = vec![false; self.pairs.len()];
        let mut open: Vec<u32> = self.raws.iter().flat_map(|raw| raw.pairs.iter().copied()).collect();
        while let Some(pair) = open.pop() {
            if !std::mem::replace(&mut leads_to_change[pair as usize], true) {
                open.extend(&above[pair as usize]);
            }
        }
        let mut users: Vec<HashSet<u32>> = vec![HashSet::new(); self.pairs.len()];
        let mut open: Vec<(u32, u32)> = Vec::new();
        for (pair, operations) in self.used_by.iter().enumerate() {
            open.extend(operations.iter().map(|operation| (number(pair), *operation)));
        }
        while let Some((pair, operation)) = open.pop() {
            let known = &mut users[pair as usize];
            if leads_to_change[pair as usize] && known.len() < MAX_OPERATIONS && known.insert(operation) {
                open.extend(self.below[pair as usize].iter().map(|below| (*below, operation)));
            }
        }
        users
    }
}

/// The components whose `allOf` refers to a schema, by that schema.
fn heirs<'a>(model: &'a Model<'a>) -> HashMap<Id, Vec<Object<'a>>> {
    let mut heirs: HashMap<Id, Vec<Object<'a>>> = HashMap::new();
    for (_, component) in model.schemas() {
        for parent in component.children("allOf").filter_map(|part| part.resolved()) {
            heirs.entry(parent.id).or_default().push(*component);
        }
    }
    heirs
}

/// Operations and pairs are fewer than the values of a document, of which there are at most a million.
fn number(position: usize) -> u32 {
    u32::try_from(position).unwrap_or(u32::MAX)
}

fn push_new(list: &mut Vec<u32>, number: u32) {
    if list.last() != Some(&number) {
        list.push(number);
    }
}
