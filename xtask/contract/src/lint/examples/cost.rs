//! Estimates the work of validating an example, without validating it.
//!
//! The unit is one test of one value against one schema. A validator repeats such a test wherever schemas are
//! composed; here each pair of schema and value is counted once and remembered, so that counting stays linear.

use std::collections::{HashMap, HashSet};

use crate::document::{Entry, Node, Value};
use petgraph::algo::kosaraju_scc;
use petgraph::graph::DiGraph;

use crate::openapi::{Id, Kind, Model, Object, in_place};

/// The most tests for one example.
const ONE: u64 = 200_000;
/// The most tests for all examples together.
const ALL: u64 = 2_000_000;
/// The deepest nesting of schemas and values.
const DEEPEST: usize = 1_000;
/// The longest chain of schemas that reference each other.
pub(crate) const LONGEST_CHAIN: usize = 2_000;

pub(crate) struct Walk<'a> {
    model: &'a Model<'a>,
    /// By schema and address of the value.
    known: HashMap<(Id, usize), u64>,
    /// The schemas that some example is tested against.
    needed: HashSet<Id>,
    spent: u64,
}

impl<'a> Walk<'a> {
    pub(crate) fn new(model: &'a Model<'a>) -> Self {
        Self { model, known: HashMap::new(), needed: HashSet::new(), spent: 0 }
    }

    /// Whether some example is tested against a schema.
    pub(crate) fn needs(&self, schema: Id) -> bool {
        self.needed.contains(&schema)
    }

    /// Whether a value can be validated against a schema within the limits.
    pub(crate) fn affords(&mut self, schema: Id, value: &'a Node) -> bool {
        let cost = self.cost(self.model.object(schema), value, 0);
        // Counting takes time too.
        self.spent = self.spent.saturating_add(if cost > ONE { ONE / 10 } else { cost });
        cost <= ONE && !self.is_exhausted()
    }

    /// Whether the limit for all examples together is reached.
    pub(crate) fn is_exhausted(&self) -> bool {
        self.spent > ALL || self.known.len() as u64 > ALL
    }

    fn cost(&mut self, schema: Object<'a>, value: &'a Node, depth: usize) -> u64 {
        let Some(schema) = schema.resolved() else { return 1 };
        if depth > DEEPEST {
            return u64::MAX;
        }
        let key = (schema.id, std::ptr::from_ref(value).addr());
        if let Some(cost) = self.known.get(&key) {
            return *cost;
        }
        if self.known.len() as u64 > ALL {
            return u64::MAX;
        }
        // A schema that leads back to itself for the same value has infinite cost.
        self.known.insert(key, u64::MAX);
        self.needed.insert(schema.id);
        let parts = schema.parts().count();
        let values = schema.get("enum").map(Node::items).unwrap_or_default().len();
        let required = schema.get("required").map(Node::items).unwrap_or_default().len();
        let mut cost = (1 + parts + values + required) as u64;
        if let (Value::String(text), Some(pattern)) = (&value.value, schema.text("pattern")) {
            cost = cost.saturating_add((text.len() / 100 * pattern.len()) as u64);
        }
        for (part, value) in applications(schema, value) {
            cost = cost.saturating_add(self.cost(part, value, depth + 1));
            if cost > ONE {
                break;
            }
        }
        self.known.insert(key, cost);
        cost
    }

    /// The first schema and the length of the longest chain of needed schemas that reference each other. All
    /// schemas of a cycle count.
    pub(crate) fn longest_chain(&self) -> Option<(Id, usize)> {
        let mut graph: DiGraph<Id, ()> = DiGraph::new();
        let mut needed: Vec<Id> = self.needed.iter().copied().collect();
        needed.sort_unstable();
        let nodes: HashMap<Id, _> = needed.iter().map(|id| (*id, graph.add_node(*id))).collect();
        for id in needed {
            let parts = self.model.object(id).parts().filter(|part| part.kind() == Kind::Schema);
            let targets = parts.filter_map(|part| part.resolved()).filter_map(|part| nodes.get(&part.id));
            for target in targets {
                graph.add_edge(nodes[&id], *target, ());
            }
        }
        let mut lengths = vec![0; graph.node_count()];
        let mut longest: Option<(Id, usize)> = None;
        // Referenced schemas come first.
        for circle in kosaraju_scc(&graph) {
            let below =
                circle.iter().flat_map(|node| graph.neighbors(*node)).map(|next| lengths[next.index()]);
            let length = circle.len() + below.max().unwrap_or_default();
            circle.iter().for_each(|node| lengths[node.index()] = length);
            if longest.is_none_or(|(_, longest)| longest < length) {
                longest = Some((graph[circle[0]], length));
            }
        }
        longest
    }
}

/// The schemas that a schema applies to a value and to the values in it, with those values.
fn applications<'a>(schema: Object<'a>, value: &'a Node) -> impl Iterator<Item = (Object<'a>, &'a Node)> {
    let properties = schema.children("properties");
    let properties = properties.filter_map(|property| Some((property, value.get(property.name())?)));
    let named = schema.get("properties");
    let is_other = move |entry: &&Entry| named.is_none_or(|named| named.get(&entry.key).is_none());
    let others = schema.child("additionalProperties").into_iter().flat_map(move |other| {
        value.entries().iter().filter(is_other).map(move |entry| (other, &entry.value))
    });
    let items = schema.child("items").into_iter();
    let items = items.flat_map(|each| value.items().iter().map(move |item| (each, item)));
    in_place(schema).map(move |part| (part, value)).chain(properties).chain(others).chain(items)
}
