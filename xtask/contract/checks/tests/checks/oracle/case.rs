//! Pairs of schemas, the documents that contain them, and the changes that the comparison reports.

use std::fmt::Write as _;

use checks::breaking::{Change, compare};
use checks::finding::Severity;
use document::Document;
use jiff::civil::date;
use proptest::prelude::{Just, RngExt as _, Strategy as _};
use proptest::strategy::ValueTree as _;
use proptest::test_runner::{RngAlgorithm, TestRng, TestRunner};
use serde_json::{Map, Value, json};

/// A schema and the components it may refer to.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Case {
    pub(crate) schema: Value,
    pub(crate) components: Map<String, Value>,
}

/// The place of the schema of a case in its document.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Direction {
    /// Clients send the value.
    Request,
    /// Clients receive the value.
    Response,
}

pub(crate) const DIRECTIONS: [Direction; 2] = [Direction::Request, Direction::Response];

impl Case {
    /// Returns a document whose only operation has the schema in its request or response.
    pub(crate) fn document(&self, direction: Direction) -> Value {
        self.document_with(&[direction])
    }

    /// Returns a document whose only operation has the schema in these directions.
    pub(crate) fn document_with(&self, directions: &[Direction]) -> Value {
        let content = json!({"application/json": {"schema": self.schema}});
        let mut operation = json!({"responses": {"200": {"description": "Done."}}});
        if directions.contains(&Direction::Request) {
            operation["requestBody"] = json!({"required": true, "content": content});
        }
        if directions.contains(&Direction::Response) {
            operation["responses"]["200"]["content"] = content;
        }
        let mut document = json!({
            "openapi": "3.0.3",
            "info": {"title": "t", "version": "1.0.0"},
            "paths": {"/a": {"post": operation}},
        });
        if !self.components.is_empty() {
            document["components"] = json!({"schemas": self.components});
        }
        document
    }
}

/// The changes from one document to another.
pub(crate) fn changes(base: &Value, revision: &Value) -> Vec<Change> {
    changes_of_texts(&base.to_string(), &revision.to_string())
}

/// The changes from one text to another.
pub(crate) fn changes_of_texts(base: &str, revision: &str) -> Vec<Change> {
    changes_of(&read(base), &read(revision))
}

/// Reads a document, for several comparisons.
pub(crate) fn read(text: &str) -> Document {
    Document::parse("document.yaml", text).unwrap_or_else(|error| panic!("{error:?}\n{text}"))
}

/// The changes from one document to another.
pub(crate) fn changes_of(base: &Document, revision: &Document) -> Vec<Change> {
    compare(base, revision, date(2026, 11, 22))
}

/// The changes of the schemas in one direction.
pub(crate) fn changes_in(direction: Direction, base: &Case, revision: &Case) -> Vec<Change> {
    changes(&base.document(direction), &revision.document(direction))
}

/// Whether clients break.
pub(crate) fn breaks(changes: &[Change]) -> bool {
    changes.iter().any(|change| change.severity >= Severity::Error)
}

/// Whether the change is that a property is no longer listed, although `required` still names it. It is an error
/// by policy, since the property was probably renamed. No refused value shows it.
pub(crate) fn is_required_but_not_listed(change: &Change) -> bool {
    ["request-required-property-removed", "response-required-property-removed"].contains(&change.rule.name)
}

/// Whether clients break because a value that is sent is not accepted.
pub(crate) fn breaks_by_values(changes: &[Change]) -> bool {
    changes.iter().any(|change| change.severity >= Severity::Error && !is_required_but_not_listed(change))
}

/// The severities and rules of changes.
pub(crate) fn names(changes: &[Change]) -> String {
    let mut names: Vec<_> =
        changes.iter().map(|change| format!("{} {}", change.severity, change.rule.name)).collect();
    names.dedup();
    if names.is_empty() { "no change".to_owned() } else { names.join(", ") }
}

/// A pair as YAML.
pub(crate) fn yaml(base: &Case, revision: &Case) -> String {
    let mut text = String::new();
    for (side, case) in [("base", base), ("revision", revision)] {
        let _ = writeln!(text, "{side}:\n  schema: {}", flow(&case.schema));
        if !case.components.is_empty() {
            text.push_str("  components:\n");
        }
        for (name, schema) in &case.components {
            let _ = writeln!(text, "    {name}: {}", flow(schema));
        }
    }
    text
}

/// A value as a flow collection of YAML.
pub(crate) fn flow(value: &Value) -> String {
    let list = |items: Vec<String>| items.join(", ");
    match value {
        Value::Array(items) => format!("[{}]", list(items.iter().map(flow).collect())),
        Value::Object(map) => {
            format!(
                "{{{}}}",
                list(map.iter().map(|(key, value)| format!("{key}: {}", flow(value))).collect())
            )
        }
        Value::String(text) if !text.is_empty() && text.chars().all(|c| c.is_ascii_alphabetic()) => {
            text.clone()
        }
        Value::String(text) => format!("'{text}'"),
        other => other.to_string(),
    }
}

/// Random choices.
pub(crate) struct Dice(TestRng);

impl Dice {
    /// Choices that are the same for the same seed.
    pub(crate) fn new(seed: u64) -> Self {
        let mut bytes = [0; 32];
        bytes[..8].copy_from_slice(&seed.to_le_bytes());
        Self(TestRng::from_seed(RngAlgorithm::ChaCha, &bytes))
    }

    /// A number below `limit`, or 0.
    pub(crate) fn below(&mut self, limit: usize) -> usize {
        if limit == 0 { 0 } else { self.0.random_range(0..limit) }
    }

    /// True in this percentage of cases.
    pub(crate) fn chance(&mut self, percent: usize) -> bool {
        self.below(100) < percent
    }

    /// One of the items.
    pub(crate) fn pick<'i, T>(&mut self, items: &'i [T]) -> &'i T {
        &items[self.below(items.len())]
    }
}

/// Generates `number` cases, and five times as many in long runs. They are the same in each run.
pub(crate) fn generated<T: std::fmt::Debug>(
    number: usize,
    make: impl Fn(&mut Dice) -> T + Clone,
) -> impl Iterator<Item = T> {
    let factor = if kit::is_long() { 5 } else { 1 };
    let mut runner = TestRunner::deterministic();
    let strategy = Just(()).prop_perturb(move |(), rng| make(&mut Dice(rng)));
    (0..number * factor).map(move |_| strategy.new_tree(&mut runner).expect("nothing is rejected").current())
}
