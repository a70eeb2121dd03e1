//! Pairs of schemas and values: a value that one side sends and the other refuses must make the change breaking.

use std::collections::{BTreeMap, BTreeSet};

use checks::breaking::Change;
use serde_json::{Map, Value, json};

use super::case::{Case, DIRECTIONS, Dice, Direction, breaks, changes_in, flow, generated, names, yaml};
use super::edit::edited;
use super::generate::{TYPES, Vocabulary, case, dense, family};
use super::judge::{Judge, Part};
use super::shrink;
use super::values::{FEW, values};

/// The number of pairs in short runs.
const PAIRS: usize = 120;

/// Returns a schema and an edit of it, two unrelated schemas, or two schemas of the same type with many keywords.
pub(crate) fn pair(dice: &mut Dice) -> (Case, Case) {
    match dice.below(100) {
        0..10 => {
            let vocabulary = Vocabulary { depth: 1, unions: false, hiding: false, references: true };
            let base = family(dice);
            let revision = edited(dice, &base, vocabulary);
            (base, revision)
        }
        10..60 => {
            let vocabulary = Vocabulary::random(dice);
            let base = case(dice, vocabulary);
            let revision = edited(dice, &base, vocabulary);
            (base, revision)
        }
        60..80 => {
            let vocabulary =
                Vocabulary { depth: 1, unions: dice.chance(50), hiding: false, references: false };
            (case(dice, vocabulary), case(dice, vocabulary))
        }
        _ => {
            let kind = *dice.pick(&TYPES);
            let mut side = || Case { schema: dense(dice, kind), components: Map::new() };
            (side(), side())
        }
    }
}

/// Returns the schema of the sender in a direction, then that of the receiver.
pub(crate) fn sides<'c>(direction: Direction, base: &'c Case, revision: &'c Case) -> (&'c Case, &'c Case) {
    match direction {
        Direction::Request => (base, revision),
        Direction::Response => (revision, base),
    }
}

/// Returns the number of values that were tried in a direction, and one that is sent but refused.
pub(crate) fn refused(
    direction: Direction,
    base: &Case,
    revision: &Case,
    most: usize,
) -> (usize, Option<Value>) {
    refused_from(Part::Sender, direction, base, revision, most)
}

/// Same as [`refused`] with the values that the sender sends, or those that it would accept as a receiver.
pub(crate) fn refused_from(
    part: Part,
    direction: Direction,
    base: &Case,
    revision: &Case,
    most: usize,
) -> (usize, Option<Value>) {
    let (sender, receiver) = sides(direction, base, revision);
    let senders = Judge::new(sender, direction, part);
    let receivers = Judge::new(receiver, direction, Part::Receiver);
    let values = values(direction, &[base, revision], most);
    let number = values.len();
    (number, values.into_iter().find(|value| senders.accepts(value) && !receivers.accepts(value)))
}

/// Whether the value is refused only because the base has `additionalProperties: false` and responses may have
/// more properties now. That is a warning by policy: clients rarely validate responses so strictly.
fn is_opened(direction: Direction, base: &Case, value: &Value, changes: &[Change]) -> bool {
    let rules = ["response-additional-properties-allowed", "response-property-added-to-closed-object"];
    let mut open = base.clone();
    opened(&mut open.schema);
    open.components.values_mut().for_each(opened);
    direction == Direction::Response
        && changes.iter().any(|change| rules.contains(&change.rule.name))
        && Judge::new(&open, direction, Part::Receiver).accepts(value)
}

/// Removes `additionalProperties: false`.
fn opened(schema: &mut Value) {
    match schema {
        Value::Object(map) => {
            if map.get("additionalProperties") == Some(&Value::Bool(false)) {
                map.remove("additionalProperties");
            }
            map.values_mut().for_each(opened);
        }
        Value::Array(list) => list.iter_mut().for_each(opened),
        _ => {}
    }
}

/// Whether the value is refused only because it matches several alternatives of `oneOf`. That is a note by policy: authors
/// rarely mean that a value must not match another alternative too.
pub(crate) fn is_overlap(
    direction: Direction,
    (base, revision): (&Case, &Case),
    value: &Value,
    changes: &[Change],
) -> bool {
    let rules = ["request-alternatives-overlap", "response-alternatives-overlap"];
    let mut receiver = sides(direction, base, revision).1.clone();
    overlapping(&mut receiver.schema);
    receiver.components.values_mut().for_each(overlapping);
    changes.iter().any(|change| rules.contains(&change.rule.name))
        && Judge::new(&receiver, direction, Part::Receiver).accepts(value)
}

/// Lets a value match several alternatives of `oneOf`: each `oneOf` becomes an `anyOf`, in an `allOf` with others.
fn overlapping(schema: &mut Value) {
    match schema {
        Value::Object(map) => {
            map.values_mut().for_each(overlapping);
            if let Some(alternatives) = map.remove("oneOf") {
                match map.remove("anyOf") {
                    None => drop(map.insert("anyOf".to_owned(), alternatives)),
                    Some(others) => {
                        let parts = map.entry("allOf").or_insert_with(|| json!([]));
                        let both = [json!({"anyOf": alternatives}), json!({"anyOf": others})];
                        parts.as_array_mut().expect("a list").extend(both);
                    }
                }
            }
        }
        Value::Array(list) => list.iter_mut().for_each(overlapping),
        _ => {}
    }
}

/// Whether the change is not reported as breaking, although this value is sent and refused.
fn is_missed(direction: Direction, base: &Case, revision: &Case, value: &Value) -> bool {
    let changes = changes_in(direction, base, revision);
    !(breaks(&changes)
        || is_opened(direction, base, value, &changes)
        || is_overlap(direction, (base, revision), value, &changes))
}

#[test]
fn a_value_that_is_sent_and_refused_makes_a_change_breaking() {
    let (mut pairs, mut tried, mut breaking) = (0, 0, 0);
    let mut failures = Failures::default();
    for (base, revision) in generated(PAIRS, pair) {
        if ![&base, &revision].into_iter().all(shrink::is_sound) {
            continue;
        }
        pairs += 1;
        for direction in DIRECTIONS {
            let (number, value) = refused(direction, &base, &revision, FEW);
            tried += number;
            let Some(value) = value else { continue };
            breaking += 1;
            if is_missed(direction, &base, &revision, &value) {
                let missed = |base: &Case, revision: &Case| {
                    let value = refused(direction, base, revision, FEW).1?;
                    is_missed(direction, base, revision, &value).then_some(value)
                };
                let fails = |base: &Case, revision: &Case| missed(base, revision).is_some();
                let (base, revision) = shrink::pair(base.clone(), revision.clone(), fails);
                let value = missed(&base, &revision);
                failures.add(direction, &base, &revision, value);
            }
        }
    }
    println!("instances: {pairs} pairs, {tried} values, {breaking} directions with a refused value");
    println!("  {} of them missed", failures.number());
    assert!(breaking > pairs / 2, "only {breaking} directions of {pairs} pairs break");
    assert!(failures.number() == 0, "{}", failures.text());
}

/// Failures by their keywords and verdicts, each with its number and an example.
#[derive(Default)]
pub(crate) struct Failures(BTreeMap<String, (usize, String)>);

impl Failures {
    pub(crate) fn add(&mut self, direction: Direction, base: &Case, revision: &Case, value: Option<Value>) {
        let said = names(&changes_in(direction, base, revision));
        let value =
            value.map_or("no value differs\n".to_owned(), |value| format!("value: {}\n", flow(&value)));
        let text = format!("# {direction:?}: {said}\n{}{value}", yaml(base, revision));
        let kind = format!("{direction:?}: {} / {said}", keywords(base, revision));
        self.0.entry(kind).or_insert((0, text)).0 += 1;
    }

    pub(crate) fn number(&self) -> usize {
        self.0.values().map(|(count, _)| count).sum()
    }

    pub(crate) fn text(&self) -> String {
        let each = self.0.iter();
        each.map(|(kind, (count, text))| format!("## {count} times, {kind}\n{text}\n")).collect()
    }
}

/// Returns the keywords of a pair, to distinguish kinds of failures.
fn keywords(base: &Case, revision: &Case) -> String {
    let mut found = BTreeSet::new();
    for case in [base, revision] {
        for root in std::iter::once(&case.schema).chain(case.components.values()) {
            for place in super::edit::places(root) {
                let schema = root.pointer(&place).expect("it was listed");
                found.extend(schema.as_object().into_iter().flatten().map(|(key, _)| key.clone()));
            }
        }
    }
    found.into_iter().collect::<Vec<_>>().join(" ")
}
