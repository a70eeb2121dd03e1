//! Changes that authors make to named alternatives: each is reported at its place, also where another alternative allows
//! the same values by the letter.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use checks::finding::Severity;
use serde_json::{Map, Value, json};

use super::case::{Case, DIRECTIONS, Dice, Direction, changes_in, generated, names, yaml};

/// The number of documents in short runs.
const DOCUMENTS: usize = 50;

const NAMES: [&str; 4] = ["Cat", "Dog", "Fish", "Bird"];

/// What an author does to an alternative.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Edit {
    /// Removes it from the union.
    Remove,
    /// Adds it to the union.
    Add,
    /// Gives one of its properties another type.
    Retype,
    /// Requires one of its properties.
    Require,
    /// Makes one of its properties optional.
    Release,
}

/// An object with some of few properties, so that alternatives often overlap or are the same.
fn alternative(dice: &mut Dice) -> Value {
    let mut properties = Map::new();
    for name in ["a", "b", "c"] {
        if dice.chance(60) {
            properties.insert(name.to_owned(), json!({"type": "string"}));
        }
    }
    // An object that must have a property that it must not have accepts nothing, and has no edits.
    let is_closed = dice.chance(20);
    let names = ["a", "b", "c"].into_iter().filter(|name| !is_closed || properties.contains_key(*name));
    let required: Vec<&str> = names.filter(|_| dice.chance(30)).collect();
    let mut object = json!({"type": "object", "properties": properties});
    if !required.is_empty() {
        object["required"] = json!(required);
    }
    if is_closed {
        object["additionalProperties"] = json!(false);
    }
    object
}

/// A union of all named alternatives.
fn union(dice: &mut Dice) -> Case {
    let keyword = if dice.chance(50) { "oneOf" } else { "anyOf" };
    let number = 2 + dice.below(NAMES.len() - 1);
    let mut components = Map::new();
    for name in &NAMES[..number] {
        let object = match components.values().next() {
            Some(same) if dice.chance(15) => Value::clone(same),
            _ => alternative(dice),
        };
        components.insert((*name).to_owned(), object);
    }
    let reference = |name: &&str| json!({"$ref": format!("#/components/schemas/{name}")});
    let references: Vec<Value> = NAMES[..number].iter().map(reference).collect();
    Case { schema: json!({keyword: references}), components }
}

fn keyword(case: &Case) -> &'static str {
    if case.schema["oneOf"].is_array() { "oneOf" } else { "anyOf" }
}

/// Returns the document after the edit, and the beginning of the pointer of its place. `None` if the edit changes nothing.
fn edited(dice: &mut Dice, case: &Case, edit: Edit) -> Option<(Case, String)> {
    let mut other = case.clone();
    let keyword = keyword(case);
    let number = dice.below(case.components.len());
    let name = NAMES[number];
    let object = other.components.get_mut(name)?;
    let union = |direction: &str| format!("/paths/~1a/post/{direction}");
    if matches!(edit, Edit::Remove | Edit::Add) {
        other.schema[keyword].as_array_mut()?.remove(number);
        return Some((other, union("")));
    }
    let listed: Vec<String> = object["properties"].as_object()?.keys().cloned().collect();
    let property = listed.get(dice.below(listed.len()))?;
    let required = object["required"].as_array().cloned().unwrap_or_default();
    let is_required = required.contains(&json!(property));
    match edit {
        Edit::Retype => object["properties"][property] = json!({"type": "integer"}),
        Edit::Require if !is_required => {
            object["required"] = required.into_iter().chain([json!(property)]).collect();
        }
        Edit::Release if is_required => {
            object["required"] = required.into_iter().filter(|name| name != &json!(property)).collect();
        }
        _ => return None,
    }
    Some((other, format!("/components/schemas/{name}")))
}

/// The severity that the change has at least, as for a schema of its own, or less where another alternative covers it.
fn least(edit: Edit, direction: Direction) -> Severity {
    match (edit, direction) {
        (Edit::Remove, Direction::Request) | (Edit::Add, Direction::Response) => Severity::Warning,
        (Edit::Retype, _) => Severity::Error,
        (Edit::Require, Direction::Request) | (Edit::Release, Direction::Response) => Severity::Error,
        _ => Severity::Info,
    }
}

#[test]
fn each_edit_of_a_named_alternative_is_reported_at_its_place() {
    let edits = [Edit::Remove, Edit::Add, Edit::Retype, Edit::Require, Edit::Release];
    let mut counts: BTreeMap<Edit, [usize; 2]> = BTreeMap::new();
    let mut failures = String::new();
    let make = move |dice: &mut Dice| {
        let base = union(dice);
        edits.map(|edit| edited(dice, &base, edit).map(|(other, place)| (edit, base.clone(), other, place)))
    };
    for (edit, base, other, place) in generated(DOCUMENTS, make).flatten().flatten() {
        let (base, revision) = if edit == Edit::Add { (other, base) } else { (base, other) };
        for direction in DIRECTIONS {
            let least = least(edit, direction);
            let found = changes_in(direction, &base, &revision);
            let is_here = found
                .iter()
                .any(|change| change.place.pointer.starts_with(&place) && change.severity >= least);
            let count = counts.entry(edit).or_default();
            count[0] += 1;
            if !is_here {
                count[1] += 1;
                let found = names(&found);
                let _ =
                    writeln!(failures, "## {edit:?} in a {direction:?}: {found}\n{}", yaml(&base, &revision));
            }
        }
    }
    for (edit, [compared, missed]) in &counts {
        println!("{edit:?}: {compared} compared, {missed} missed");
    }
    assert_eq!(counts.len(), edits.len());
    assert!(failures.is_empty(), "{failures}");
}
