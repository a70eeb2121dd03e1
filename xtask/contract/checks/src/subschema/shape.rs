//! One alternative of a schema: a JSON type, and the conditions on its values.

use std::collections::{BTreeMap, BTreeSet};

use document::Node;
use num_rational::BigRational;
use serde_json::Value;

use super::number::{Range, exact};
use super::{ANY, Conjunction, NEVER, Schemas};

/// The values of one JSON type that meet some conditions.
#[derive(Clone, Debug)]
pub(super) struct Case {
    pub(super) shape: Shape,
    /// Schemas whose values are excluded: `not`, and the other alternatives of `oneOf`.
    pub(super) except: BTreeSet<Conjunction>,
}

/// A list of values, or the type of the values and their conditions.
#[derive(Clone, Debug)]
pub(super) enum Shape {
    /// A list of values of any type, by their [`canonical`] text.
    Values(BTreeMap<String, Value>),
    Number(Range, Formats),
    Text(Text),
    Array(Array),
    Object(Box<Members>),
}

/// Names of formats. Which values have a format is undecided.
pub(super) type Formats = BTreeSet<String>;

/// Bounds of a length or count.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Count {
    pub(super) min: u64,
    pub(super) max: Option<u64>,
}

#[derive(Clone, Debug, Default)]
pub(super) struct Text {
    pub(super) length: Count,
    pub(super) patterns: BTreeSet<String>,
    pub(super) formats: Formats,
}

#[derive(Clone, Debug)]
pub(super) struct Array {
    pub(super) count: Count,
    pub(super) unique: bool,
    pub(super) items: Conjunction,
}

#[derive(Clone, Debug)]
pub(super) struct Members {
    pub(super) count: Count,
    pub(super) required: BTreeSet<String>,
    pub(super) properties: BTreeMap<String, Conjunction>,
    /// Whether the schema has `properties`, possibly empty.
    pub(super) lists: bool,
    /// The schema of properties that are not listed. `None` if `additionalProperties` is missing or allows any
    /// value: then the document does not determine which of them are sent.
    pub(super) others: Option<Conjunction>,
}

impl Count {
    pub(super) fn and(self, other: Self) -> Self {
        let max = match (self.max, other.max) {
            (Some(one), Some(other)) => Some(one.min(other)),
            (one, other) => one.or(other),
        };
        Self { min: self.min.max(other.min), max }
    }

    pub(super) fn is_empty(self) -> bool {
        self.max.is_some_and(|max| max < self.min)
    }

    fn contains(self, count: usize) -> bool {
        let count = count as u64;
        self.min <= count && self.max.is_none_or(|max| count <= max)
    }

    /// Whether all counts of the other are counts of this.
    pub(super) fn includes(self, other: Self) -> bool {
        self.min <= other.min && self.max.is_none_or(|max| other.max.is_some_and(|other| other <= max))
    }
}

impl Members {
    /// Returns the schema of a property. `None` if nothing restricts it.
    pub(super) fn property(&self, name: &str) -> Option<Conjunction> {
        self.properties.get(name).copied().or(self.others)
    }
}

impl Case {
    /// Returns the number of values and conditions that a combination with another case copies.
    pub(super) fn size(&self) -> usize {
        let shape = match &self.shape {
            Shape::Values(values) => values.len(),
            Shape::Number(range, _) => range.size(),
            Shape::Text(text) => text.patterns.len() + text.formats.len(),
            Shape::Array(_) => 0,
            Shape::Object(members) => members.properties.len() + members.required.len(),
        };
        1 + shape + self.except.len()
    }
}

impl From<Shape> for Case {
    fn from(shape: Shape) -> Self {
        Self { shape, except: BTreeSet::new() }
    }
}

impl Shape {
    pub(super) fn values(values: impl IntoIterator<Item = Value>) -> Self {
        Self::Values(values.into_iter().map(|value| (canonical(&value), value)).collect())
    }

    /// Every value, type by type.
    pub(super) fn every() -> [Self; 5] {
        [
            Self::values([Value::Null, Value::Bool(false), Value::Bool(true)]),
            Self::Number(Range::default(), Formats::new()),
            Self::Text(Text::default()),
            Self::Array(Array { count: Count::default(), unique: false, items: ANY }),
            Self::Object(Box::new(Members {
                count: Count::default(),
                required: BTreeSet::new(),
                properties: BTreeMap::new(),
                lists: false,
                others: None,
            })),
        ]
    }
}

impl Schemas<'_> {
    /// The values in both alternatives. `None` if there are none, or no step is left.
    pub(super) fn both(&mut self, one: &Case, other: &Case) -> Option<Case> {
        if !self.budget.spend(one.size() + other.size()) {
            return None;
        }
        let except: BTreeSet<_> = one.except.union(&other.except).copied().collect();
        let shape = match (&one.shape, &other.shape) {
            (Shape::Values(values), _) => self.listed(values, other, &except)?,
            (_, Shape::Values(values)) => self.listed(values, one, &except)?,
            (Shape::Number(one, formats), Shape::Number(other, more)) => {
                let range = one.and(other);
                if range.is_empty() {
                    return None;
                }
                Shape::Number(range, formats | more)
            }
            (Shape::Text(one), Shape::Text(other)) => {
                let length = one.length.and(other.length);
                if length.is_empty() {
                    return None;
                }
                let patterns = &one.patterns | &other.patterns;
                Shape::Text(Text { length, patterns, formats: &one.formats | &other.formats })
            }
            (Shape::Array(one), Shape::Array(other)) => {
                let mut count = one.count.and(other.count);
                let items = self.and(one.items, other.items);
                if items == NEVER {
                    count.max = Some(0);
                }
                if count.is_empty() {
                    return None;
                }
                Shape::Array(Array { count, unique: one.unique || other.unique, items })
            }
            (Shape::Object(one), Shape::Object(other)) => Shape::Object(Box::new(self.members(one, other)?)),
            _ => return None,
        };
        Some(Case { shape, except })
    }

    /// Returns the listed values that are in a case and not known to be in an excluded schema.
    fn listed(
        &mut self,
        values: &BTreeMap<String, Value>,
        case: &Case,
        except: &BTreeSet<Conjunction>,
    ) -> Option<Shape> {
        let mut kept = values.clone();
        kept.retain(|key, value| {
            self.holds_listed(case, key, value) != Some(false)
                && except.iter().all(|except| self.accepts(*except, value) != Some(true))
        });
        (!kept.is_empty()).then_some(Shape::Values(kept))
    }

    fn members(&mut self, one: &Members, other: &Members) -> Option<Members> {
        let mut properties = BTreeMap::new();
        for name in one.properties.keys().chain(other.properties.keys()) {
            let schema = |members: &Members| members.property(name).unwrap_or(ANY);
            properties.insert(name.clone(), self.and(schema(one), schema(other)));
        }
        let others = match (one.others, other.others) {
            (Some(one), Some(other)) => Some(self.and(one, other)),
            (one, other) => one.or(other),
        };
        let (count, required) = (one.count.and(other.count), &one.required | &other.required);
        self.possible(Members { count, required, properties, lists: one.lists || other.lists, others })
    }

    /// Returns the members if an object can have them.
    pub(super) fn possible(&mut self, members: Members) -> Option<Members> {
        let Members { count, required, properties, .. } = &members;
        let mut sent = required.len() as u64;
        for name in required {
            let Some(schema) = properties.get(name) else { continue };
            if self.is_hidden(*schema) {
                sent -= 1;
            } else if self.is_empty(*schema) {
                return None;
            }
        }
        let is_refused = |name: &String| members.property(name) == Some(NEVER);
        let is_possible =
            !count.is_empty() && !required.iter().any(is_refused) && count.max.is_none_or(|max| max >= sent);
        is_possible.then_some(members)
    }

    /// Whether a conjunction certainly has no value.
    pub(super) fn is_empty(&mut self, of: Conjunction) -> bool {
        self.normal(of).is_ok_and(|cases| cases.is_empty())
    }

    /// Whether the value is valid against a conjunction; `None` if that is undecided.
    pub(crate) fn accepts(&mut self, schema: Conjunction, value: &Value) -> Option<bool> {
        let cases = self.normal(schema).ok()?;
        any(cases.iter().map(|case| self.holds(case, value)))
    }

    /// Whether a listed value is valid against a conjunction; `None` if that is undecided.
    pub(crate) fn accepts_listed(&mut self, schema: Conjunction, key: &str, value: &Value) -> Option<bool> {
        let cases = self.normal(schema).ok()?;
        any(cases.iter().map(|case| self.holds_listed(case, key, value)))
    }

    /// Whether a listed value is in an alternative. Numbers are told apart by their keys, also where JSON readers round them.
    pub(super) fn holds_listed(&mut self, case: &Case, key: &str, value: &Value) -> Option<bool> {
        match &case.shape {
            Shape::Values(values) if !values.contains_key(key) => Some(false),
            Shape::Values(_) => self.is_kept(case, value, Some(true)),
            _ => self.holds(case, value),
        }
    }

    /// Whether the value is in an alternative; `None` if that is undecided.
    pub(super) fn holds(&mut self, case: &Case, value: &Value) -> Option<bool> {
        if !self.budget.spend(size(value)) {
            return None;
        }
        let shape = match (&case.shape, value) {
            (Shape::Values(values), _) => Some(values.contains_key(&canonical(value))),
            (Shape::Number(range, _), Value::Number(number)) => Some(range.contains(&exact(number)?)),
            (Shape::Text(text), Value::String(string)) => {
                let matches = text.patterns.iter().map(|pattern| self.patterns.matches(pattern, value));
                let length = text.length.contains(string.chars().count());
                // Every string is binary data.
                let is_any = text.formats.iter().all(|format| format == "binary");
                all(matches.chain([Some(length), is_any.then_some(true)]))
            }
            (Shape::Array(array), Value::Array(items)) => {
                let distinct: BTreeSet<_> = items.iter().map(canonical).collect();
                let count =
                    array.count.contains(items.len()) && (!array.unique || distinct.len() == items.len());
                if count {
                    all(items.iter().map(|item| self.accepts(array.items, item)))
                } else {
                    Some(false)
                }
            }
            (Shape::Object(members), Value::Object(entries)) => {
                let has = |name: &String| entries.contains_key(name);
                if members.count.contains(entries.len()) && members.required.iter().all(has) {
                    let schema = |name: &str| members.property(name).unwrap_or(ANY);
                    all(entries.iter().map(|(name, value)| self.accepts(schema(name), value)))
                } else {
                    Some(false)
                }
            }
            _ => Some(false),
        };
        self.is_kept(case, value, shape)
    }

    /// Whether no excluded schema has a value of the shape.
    fn is_kept(&mut self, case: &Case, value: &Value, shape: Option<bool>) -> Option<bool> {
        match shape {
            Some(false) => Some(false),
            _ => all([shape].into_iter().chain(
                case.except.iter().map(|except| self.accepts(*except, value).map(|accepted| !accepted)),
            )),
        }
    }
}

/// The number of steps to look at a value.
fn size(value: &Value) -> usize {
    /// The number of bytes that a pattern reads in one step.
    const BYTES: usize = 20;
    1 + match value {
        Value::String(text) => text.len() / BYTES,
        Value::Array(items) => items.len(),
        Value::Object(entries) => entries.len(),
        _ => 0,
    }
}

fn all(results: impl IntoIterator<Item = Option<bool>>) -> Option<bool> {
    any(results.into_iter().map(|result| result.map(|result| !result))).map(|any| !any)
}

/// Whether one result is `true`; undecided where none is, but one might be.
fn any(results: impl IntoIterator<Item = Option<bool>>) -> Option<bool> {
    let mut known = Some(false);
    for result in results {
        match result {
            Some(true) => return Some(true),
            Some(false) => {}
            None => known = None,
        }
    }
    known
}

/// Returns the value as JSON, with all digits of numbers.
pub(crate) fn canonical_node(node: &Node) -> String {
    match &node.value {
        document::Value::Number(number) if number.is_rounded() => number.to_string(),
        document::Value::Sequence(items) => {
            format!("[{}]", items.iter().map(canonical_node).collect::<Vec<_>>().join(", "))
        }
        document::Value::Mapping(mapping) => {
            let sorted: BTreeMap<_, _> = mapping
                .entries()
                .iter()
                .map(|entry| (entry.key.as_str(), canonical_node(&entry.value)))
                .collect();
            let entries = sorted.iter().map(|(key, value)| format!("{}: {value}", Value::from(*key)));
            format!("{{{}}}", entries.collect::<Vec<_>>().join(", "))
        }
        _ => canonical(&node.to_json()),
    }
}

/// Returns the value as JSON. Equal values have equal text: 1 and 1.0 are one number.
pub(crate) fn canonical(value: &Value) -> String {
    match value {
        Value::Number(number) => {
            let whole = exact(number).filter(|_| number.is_f64()).filter(BigRational::is_integer);
            // Integers beyond 128 bits are written in one way only.
            let whole = whole.and_then(|whole| i128::try_from(whole.to_integer()).ok());
            whole.map_or_else(|| number.to_string(), |whole| whole.to_string())
        }
        Value::Array(items) => format!("[{}]", items.iter().map(canonical).collect::<Vec<_>>().join(", ")),
        Value::Object(entries) => {
            let sorted: BTreeMap<_, _> = entries.iter().collect();
            let entries = sorted
                .iter()
                .map(|(key, value)| format!("{}: {}", Value::from(key.as_str()), canonical(value)));
            format!("{{{}}}", entries.collect::<Vec<_>>().join(", "))
        }
        _ => value.to_string(),
    }
}
