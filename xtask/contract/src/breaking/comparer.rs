//! What all parts of the comparison share: the two documents, the changes found so far, and the pairs of
//! schemas still to be compared.
//!
//! A schema is compared once for each pair of places and [`Role`], however many operations use it, and
//! never by recursion: each pair waits in a queue and names the pairs below it. So neither circles of
//! references nor long chains of them cost more than their length. Which operations a change concerns is
//! found afterwards, from the operations down to the pairs that have changes.

use std::collections::{HashMap, HashSet, VecDeque};

use crate::document::Node;
use jiff::civil::Date;

use super::role::Role;
use super::rules::{self, Rule};
use super::schema::Schema;
use crate::document::Document;

/// How many operations are listed for a change in a schema.
const MAX_OPERATIONS: usize = 50;
/// How many schemas may take part for each node of the two documents. A real document needs less than one;
/// only `allOf` woven on purpose needs more.
const WORK_PER_NODE: usize = 8;

/// One of the two documents.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Side {
    Base,
    Revision,
}

/// Who is being looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Owner {
    Document,
    Operation(u32),
    Pair(u32),
}

/// A change whose place is still a node.
#[derive(Debug)]
pub(super) struct Raw<'a> {
    pub(super) rule: Rule,
    pub(super) base: Option<&'a Node>,
    pub(super) revision: Option<&'a Node>,
    pub(super) what: String,
    pub(super) operations: Vec<u32>,
    pairs: Vec<u32>,
}

type Key = (String, Option<*const Node>, Option<*const Node>, String);

/// Two schemas in one role.
#[derive(Clone, Copy, Debug)]
pub(super) struct Pair {
    pub(super) base: u32,
    pub(super) revision: u32,
    pub(super) role: Role,
}

pub(super) struct Comparer<'a> {
    pub(super) base: &'a Document,
    pub(super) revision: &'a Document,
    pub(super) today: Date,
    pub(super) owner: Owner,
    /// The names of the operations.
    pub(super) operations: Vec<String>,
    raws: Vec<Raw<'a>>,
    known: HashMap<Key, usize>,
    targets: [HashMap<&'a str, Option<&'a Node>>; 2],
    schemas: [Vec<Schema<'a>>; 2],
    schema_of: [HashMap<Vec<*const Node>, u32>; 2],
    pairs: Vec<Pair>,
    pair_of: HashMap<(u32, u32, Role), u32>,
    below: Vec<Vec<u32>>,
    used_by: Vec<Vec<u32>>,
    waiting: VecDeque<u32>,
    work: usize,
    exhausted: bool,
}

impl<'a> Comparer<'a> {
    pub(super) fn new(base: &'a Document, revision: &'a Document, today: Date) -> Self {
        let nodes = count(&base.root) + count(&revision.root);
        Self {
            base,
            revision,
            today,
            owner: Owner::Document,
            operations: Vec::new(),
            raws: Vec::new(),
            known: HashMap::new(),
            targets: Default::default(),
            schemas: Default::default(),
            schema_of: Default::default(),
            pairs: Vec::new(),
            pair_of: HashMap::new(),
            below: Vec::new(),
            used_by: Vec::new(),
            waiting: VecDeque::new(),
            work: nodes.saturating_mul(WORK_PER_NODE).saturating_add(10_000),
            exhausted: false,
        }
    }

    pub(super) fn document(&self, side: Side) -> &'a Document {
        match side {
            Side::Base => self.base,
            Side::Revision => self.revision,
        }
    }

    /// Notes a change. The same one, found by another way, is noted once.
    pub(super) fn report(
        &mut self,
        rule: &Rule,
        base: Option<&'a Node>,
        revision: Option<&'a Node>,
        what: impl Into<String>,
    ) {
        let what = what.into();
        let address = |node: Option<&'a Node>| node.map(std::ptr::from_ref);
        let key = (rule.name.to_string(), address(base), address(revision), what.clone());
        let next = self.raws.len();
        let position = *self.known.entry(key).or_insert(next);
        if position == next {
            let (operations, pairs) = (Vec::new(), Vec::new());
            self.raws.push(Raw { rule: rule.clone(), base, revision, what, operations, pairs });
        }
        let Some(raw) = self.raws.get_mut(position) else { return };
        match self.owner {
            Owner::Document => {}
            Owner::Operation(operation) if raw.operations.last() != Some(&operation) => {
                raw.operations.push(operation);
            }
            Owner::Pair(pair) if raw.pairs.last() != Some(&pair) => raw.pairs.push(pair),
            Owner::Operation(_) | Owner::Pair(_) => {}
        }
    }

    /// Notes a place that is not what it has to be.
    pub(super) fn not_understood(&mut self, side: Side, node: &'a Node, what: impl Into<String>) {
        match side {
            Side::Base => self.report(&rules::NOT_UNDERSTOOD, Some(node), None, what),
            Side::Revision => self.report(&rules::NOT_UNDERSTOOD, None, Some(node), what),
        }
    }

    /// Follows `$ref` until there is none. `None` if it leads nowhere, which is noted.
    pub(super) fn resolve(&mut self, side: Side, node: &'a Node) -> Option<&'a Node> {
        let mut current = node;
        let mut seen = Vec::new();
        while let Some(reference) = current.get("$ref") {
            let Some(text) = reference.as_str() else {
                self.not_understood(side, reference, "a `$ref` must be text");
                return None;
            };
            let document = self.document(side);
            let targets = &mut self.targets[side as usize];
            let find = || document.find(text).map(|place| place.node);
            let target = *targets.entry(text).or_insert_with(find);
            match target {
                Some(_) if seen.contains(&text) => {
                    self.not_understood(side, reference, format!("the reference `{text}` leads in a circle"));
                    return None;
                }
                Some(_) if seen.len() == 100 => {
                    self.not_understood(side, reference, "more than 100 references follow each other");
                    return None;
                }
                Some(target) => {
                    seen.push(text);
                    current = target;
                }
                None => {
                    self.not_understood(side, reference, format!("the reference `{text}` leads nowhere"));
                    return None;
                }
            }
        }
        Some(current)
    }

    /// The value under a key, if it is a mapping. Anything else that is there is noted.
    pub(super) fn mapping(&mut self, side: Side, owner: &'a Node, key: &str) -> Option<&'a Node> {
        let node = owner.get(key)?;
        if matches!(node.value, crate::document::Value::Mapping(_)) {
            return Some(node);
        }
        self.not_understood(side, node, format!("`{key}` must be a mapping"));
        None
    }

    /// The items under a key; none if it is no list, which is noted.
    pub(super) fn list(&mut self, side: Side, owner: &'a Node, key: &str) -> &'a [Node] {
        let Some(node) = owner.get(key) else { return &[] };
        if !matches!(node.value, crate::document::Value::Sequence(_)) {
            self.not_understood(side, node, format!("`{key}` must be a list"));
        }
        node.items()
    }

    /// Counts one step of work, and says whether there is any left.
    pub(super) fn may_go_on(&mut self) -> bool {
        self.work = self.work.saturating_sub(1);
        if self.work == 0 && !self.exhausted {
            self.exhausted = true;
            let root = &self.revision.root;
            self.not_understood(
                Side::Revision,
                root,
                "`allOf` is woven so closely that not all of it was compared",
            );
        }
        self.work > 0
    }

    pub(super) fn schema(&self, side: Side, id: u32) -> Option<Schema<'a>> {
        self.schemas[side as usize].get(id as usize).cloned()
    }

    /// The nodes that some compared schema consists of.
    pub(super) fn parts(&self, side: Side) -> HashSet<*const Node> {
        let schemas = self.schemas[side as usize].iter();
        schemas.flat_map(|schema| schema.parts.iter().map(|part| std::ptr::from_ref(*part))).collect()
    }

    /// The number of a schema, the same for the same parts.
    pub(super) fn intern(&mut self, side: Side, schema: Schema<'a>) -> u32 {
        let key: Vec<*const Node> = schema.parts.iter().map(|part| std::ptr::from_ref(*part)).collect();
        let schemas = &mut self.schemas[side as usize];
        *self.schema_of[side as usize].entry(key).or_insert_with(|| {
            schemas.push(schema);
            u32::try_from(schemas.len() - 1).unwrap_or(u32::MAX)
        })
    }

    /// Has two schemas compared, later.
    pub(super) fn compare_later(&mut self, base: u32, revision: u32, role: Role) {
        let next = u32::try_from(self.pairs.len()).unwrap_or(u32::MAX);
        let pair = *self.pair_of.entry((base, revision, role)).or_insert(next);
        if pair == next {
            self.pairs.push(Pair { base, revision, role });
            self.below.push(Vec::new());
            self.used_by.push(Vec::new());
            self.waiting.push_back(pair);
        }
        match self.owner {
            Owner::Document => {}
            Owner::Operation(operation) => {
                if let Some(users) =
                    self.used_by.get_mut(pair as usize).filter(|u| u.last() != Some(&operation))
                {
                    users.push(operation);
                }
            }
            Owner::Pair(above) => {
                if let Some(below) = self.below.get_mut(above as usize) {
                    below.push(pair);
                }
            }
        }
    }

    /// The next pair of schemas to compare.
    pub(super) fn next_pair(&mut self) -> Option<Pair> {
        let pair = self.waiting.pop_front()?;
        self.owner = Owner::Pair(pair);
        self.pairs.get(pair as usize).copied()
    }

    /// The changes, each with its operations, and the names of the operations.
    pub(super) fn finish(mut self) -> (Vec<Raw<'a>>, Vec<String>) {
        let changed: HashSet<u32> = self.raws.iter().flat_map(|raw| raw.pairs.iter().copied()).collect();
        let mut above = vec![Vec::new(); self.pairs.len()];
        for (pair, below) in (0_u32..).zip(&self.below) {
            for below in below {
                above[*below as usize].push(pair);
            }
        }
        let mut leads_to_change = vec![false; self.pairs.len()];
        let mut open: Vec<u32> = changed.into_iter().collect();
        while let Some(pair) = open.pop() {
            if !std::mem::replace(&mut leads_to_change[pair as usize], true) {
                open.extend(&above[pair as usize]);
            }
        }
        let mut operations: Vec<HashSet<u32>> = vec![HashSet::new(); self.pairs.len()];
        let mut open: Vec<(u32, u32)> = Vec::new();
        for (pair, users) in (0_u32..).zip(&self.used_by) {
            open.extend(users.iter().map(|user| (pair, *user)));
        }
        while let Some((pair, operation)) = open.pop() {
            let users = &mut operations[pair as usize];
            if !leads_to_change[pair as usize] || users.len() == MAX_OPERATIONS || !users.insert(operation) {
                continue;
            }
            open.extend(self.below[pair as usize].iter().map(|below| (*below, operation)));
        }
        for raw in &mut self.raws {
            for pair in &raw.pairs {
                raw.operations.extend(&operations[*pair as usize]);
            }
            raw.operations.sort_unstable();
            raw.operations.dedup();
            raw.operations.truncate(MAX_OPERATIONS);
        }
        (self.raws, self.operations)
    }
}

fn count(root: &Node) -> usize {
    let mut open = vec![root];
    let mut count = 0;
    while let Some(node) = open.pop() {
        count += 1;
        open.extend(node.items());
        open.extend(node.entries().iter().map(|entry| &entry.value));
    }
    count
}
