//! Edits that can only allow more values: a widened request breaks no client, and neither does the opposite edit of a
//! response.

use std::collections::BTreeMap;

use checks::breaking::Change;
use serde_json::{Value, json};

use super::alarms::admits_nothing;
use super::case::{Case, Dice, Direction, breaks, breaks_by_values, changes_in, generated, names, yaml};
use super::edit::places;
use super::generate::{self, NAMES, Vocabulary};
use super::judge::plain;
use super::shrink;

/// The number of pairs in short runs.
const PAIRS: usize = 120;

/// Returns the case with one to three wider schemas in it, the same for the same seed.
fn widened(base: &Case, seed: u64) -> Case {
    let dice = &mut Dice::new(seed);
    let mut revision = base.clone();
    for _ in 0..=dice.below(3) {
        widen_somewhere(dice, &mut revision);
    }
    revision
}

/// Widens a schema, but none inside `not` or `oneOf`, where a wider schema may allow fewer values.
fn widen_somewhere(dice: &mut Dice, case: &mut Case) {
    let text = json!([case.schema, case.components]).to_string();
    let is_open = text.contains("additionalProperties");
    let names: Vec<String> = match text.contains("\"oneOf\"") || text.contains("\"not\"") {
        true => Vec::new(),
        false => case.components.keys().cloned().collect(),
    };
    let schema = match names.is_empty() || dice.chance(70) {
        true => &mut case.schema,
        false => &mut case.components[dice.pick(&names).as_str()],
    };
    let mut all = places(schema);
    all.retain(|place| !place.split('/').any(|key| key == "oneOf" || key == "not"));
    let place = dice.pick(&all).clone();
    let here = schema.pointer_mut(&place).expect("it was listed");
    if here.get("$ref").is_none() {
        widen(dice, here, is_open);
    }
}

fn widen(dice: &mut Dice, schema: &mut Value, is_open: bool) {
    let keys: Vec<String> = schema.as_object().expect("a schema is an object").keys().cloned().collect();
    if keys.is_empty() {
        return;
    }
    let key = dice.pick(&keys).as_str();
    let map = schema.as_object_mut().expect("a schema is an object");
    match key {
        "minimum" | "maximum" | "minLength" | "maxLength" | "minItems" | "maxItems" | "minProperties"
        | "maxProperties" => {
            let bound = map[key].as_f64().expect("a bound is a number");
            let steps: &[f64] = if key.ends_with("imum") { &[0.5, 1.0, 3.0] } else { &[1.0, 2.0] };
            let outwards = if key.starts_with("min") { -1.0 } else { 1.0 };
            let moved = bound + outwards * dice.pick(steps);
            map[key] = plain(&json!(if key.ends_with("imum") { moved } else { moved.max(0.0) }));
        }
        "exclusiveMinimum" | "exclusiveMaximum" | "pattern" | "uniqueItems" | "multipleOf" | "format"
        | "not" | "oneOf" | "required" => {
            map.remove(key);
        }
        "enum" => map[key].as_array_mut().expect("a list").push(json!("more")),
        "type" => match map[key].as_str() {
            // The meaning of a format with another type, or without a type, is not defined.
            Some("integer") if map.contains_key("format") => drop(map.remove("format")),
            Some(_) if dice.chance(30) => drop(map.remove(key)),
            Some("integer") => map[key] = json!("number"),
            Some(_) => drop(map.insert("nullable".to_owned(), json!(true))),
            None => {}
        },
        "allOf" => {
            let list = map[key].as_array_mut().expect("a list");
            if list.len() > 1 {
                list.remove(dice.below(list.len()));
            }
        }
        "anyOf" => {
            let other = generate::scalar(dice);
            map[key].as_array_mut().expect("a list").push(other);
        }
        "properties" if !is_open => {
            let properties = map[key].as_object_mut().expect("properties are an object");
            // An object without `properties` may have any properties.
            if properties.remove(*dice.pick(&NAMES)).is_none() && !properties.is_empty() {
                // No part of the base lists or requires it, so no side sends it.
                properties.insert("new".to_owned(), generate::scalar(dice));
            }
        }
        "additionalProperties" => map[key] = json!(true),
        _ => {
            let other = generate::scalar(dice);
            *schema = json!({"anyOf": [schema, other]});
        }
    }
}

/// Returns the changes that are reported as breaking although values were only added. The keywords of a schema that
/// accepts nothing by the letter are compared in any case.
fn alarm(base: &Case, revision: &Case) -> Option<(Direction, Vec<Change>)> {
    let is_alarm = |direction, changes: &[Change]| {
        breaks_by_values(changes) && ![base, revision].into_iter().any(|case| admits_nothing(case, direction))
    };
    let request = changes_in(Direction::Request, base, revision);
    if is_alarm(Direction::Request, &request) {
        return Some((Direction::Request, request));
    }
    let response = changes_in(Direction::Response, revision, base);
    is_alarm(Direction::Response, &response).then_some((Direction::Response, response))
}

#[test]
fn a_wider_request_and_a_narrower_response_break_no_client() {
    let (mut pairs, mut wider) = (0, 0);
    let mut failures: BTreeMap<String, (usize, String)> = BTreeMap::new();
    let make = |dice: &mut Dice| {
        // Removing a property that is hidden in one direction makes it visible there.
        let vocabulary = Vocabulary { hiding: false, ..Vocabulary::random(dice) };
        (generate::case(dice, vocabulary), dice.below(usize::MAX) as u64)
    };
    for (base, seed) in generated(PAIRS, make) {
        let revision = widened(&base, seed);
        // `nullable` alone is read as null in an alternative, and as any value elsewhere.
        let is_ambiguous = |case: &Case| {
            case.schema.to_string().contains(r#"{"nullable":true}"#)
                || case.components.values().any(|one| one.to_string().contains(r#"{"nullable":true}"#))
        };
        if !shrink::is_sound(&base) || base == revision || is_ambiguous(&base) || is_ambiguous(&revision) {
            continue;
        }
        pairs += 1;
        wider += usize::from(breaks(&changes_in(Direction::Request, &revision, &base)));
        if alarm(&base, &revision).is_some() {
            let fails = |base: &Case| {
                let revision = widened(base, seed);
                !is_ambiguous(base) && !is_ambiguous(&revision) && alarm(base, &revision).is_some()
            };
            let base = shrink::one(base, fails);
            let revision = widened(&base, seed);
            let (direction, said) = alarm(&base, &revision).expect("it is a failure");
            let text = format!("# {direction:?}: {}\n{}", names(&said), yaml(&base, &revision));
            failures.entry(names(&said)).or_insert((0, text)).0 += 1;
        }
    }
    let wrong: usize = failures.values().map(|(count, _)| count).sum();
    println!(
        "widening: {pairs} pairs, {wider} of them wider by the comparison, {wrong} reported as breaking"
    );
    let text: String =
        failures.iter().map(|(said, (count, text))| format!("## {count} times, {said}\n{text}\n")).collect();
    assert!(wider > pairs / 3, "only {wider} of {pairs} are wider");
    assert!(failures.is_empty(), "{text}");
}
