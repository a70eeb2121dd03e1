//! Compares two schemas as data.

use std::collections::{BTreeMap, HashSet};

use document::Node;
use document::openapi::Object;

use super::shape::canonical;

/// The keywords without effect on validation.
pub(crate) const ANNOTATIONS: [&str; 6] =
    ["title", "description", "example", "externalDocs", "discriminator", "deprecated"];

/// Whether two schemas are the same data, with references followed and without the keywords that restrict
/// nothing. The schemas may be of different documents, or of the same.
pub(crate) fn are_identical<'a>(pairs: impl IntoIterator<Item = (Object<'a>, Object<'a>)>) -> bool {
    let same = |one: &Node, other: &Node| canonical(&one.to_json()) == canonical(&other.to_json());
    let mut seen = HashSet::new();
    let mut open: Vec<_> = pairs.into_iter().collect();
    while let Some((one, other)) = open.pop() {
        let (one, other) = match (one.resolved(), other.resolved()) {
            (Some(one), Some(other)) => (one, other),
            (None, None) if same(one.node(), other.node()) => continue,
            _ => return false,
        };
        if !seen.insert((one.id, other.id)) {
            continue;
        }
        let (left, right) = (Keywords::of(one), Keywords::of(other));
        let names = |keywords: &Keywords<'a>| -> Vec<_> {
            keywords.schemas.iter().map(|schema| (schema.keyword(), schema.name())).collect()
        };
        if left.values.len() != right.values.len() || names(&left) != names(&right) {
            return false;
        }
        let alike = |(key, one): (&&str, &&Node)| right.values.get(key).is_some_and(|other| same(one, other));
        if !left.values.iter().all(alike) {
            return false;
        }
        open.extend(left.schemas.into_iter().zip(right.schemas));
    }
    true
}

/// The keywords of a schema that restrict values.
struct Keywords<'a> {
    /// The keywords whose values are not schemas.
    values: BTreeMap<&'a str, &'a Node>,
    /// The schemas in the order of keyword and name, then of the file.
    schemas: Vec<Object<'a>>,
}

impl<'a> Keywords<'a> {
    fn of(schema: Object<'a>) -> Self {
        let mut schemas: Vec<Object<'a>> = schema.parts().collect();
        schemas.sort_by_key(|part| (part.keyword(), part.name()));
        let entries = schema.node().entries().iter().map(|entry| (entry.key.as_str(), &entry.value));
        let matters = |key: &str| !ANNOTATIONS.contains(&key) && schema.children(key).next().is_none();
        Self { values: entries.filter(|(key, _)| matters(key)).collect(), schemas }
    }
}
