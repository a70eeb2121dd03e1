//! Random edits of schemas.

use serde_json::{Map, Value, json};

use super::case::{Case, Dice};
use super::generate::{self, NAMES, TYPES, Vocabulary};

/// The JSON pointers of all schemas in a schema, itself included.
pub(crate) fn places(schema: &Value) -> Vec<String> {
    let mut found = Vec::new();
    let mut open = vec![(String::new(), schema)];
    while let Some((at, schema)) = open.pop() {
        for (keyword, value) in schema.as_object().into_iter().flatten() {
            let at = format!("{at}/{keyword}");
            match (keyword.as_str(), value) {
                ("properties", Value::Object(map)) => {
                    open.extend(map.iter().map(|(name, value)| (format!("{at}/{name}"), value)));
                }
                ("allOf" | "oneOf" | "anyOf", Value::Array(list)) => {
                    open.extend(
                        list.iter().enumerate().map(|(index, value)| (format!("{at}/{index}"), value)),
                    );
                }
                ("items" | "additionalProperties" | "not", Value::Object(_)) => open.push((at, value)),
                _ => {}
            }
        }
        found.push(at);
    }
    found
}

/// One to three random edits.
pub(crate) fn edited(dice: &mut Dice, case: &Case, vocabulary: Vocabulary) -> Case {
    let mut edited = case.clone();
    for _ in 0..=dice.below(3) {
        let names: Vec<String> = edited.components.keys().cloned().collect();
        let schema = match names.is_empty() || dice.chance(60) {
            true => &mut edited.schema,
            false => &mut edited.components[dice.pick(&names).as_str()],
        };
        let place = dice.pick(&places(schema)).clone();
        edit(dice, schema.pointer_mut(&place).expect("it was listed"), vocabulary);
    }
    edited
}

fn edit(dice: &mut Dice, schema: &mut Value, vocabulary: Vocabulary) {
    let fresh = |dice: &mut Dice| generate::schema(dice, Vocabulary { references: false, ..vocabulary }, 1);
    if schema.get("$ref").is_some() {
        *schema = fresh(dice);
        return;
    }
    let kind = schema["type"].as_str().unwrap_or(*dice.pick(&TYPES)).to_owned();
    match dice.below(20) {
        0 => schema["nullable"] = json!(dice.chance(70)),
        1 => drop(remove_one(dice, schema.as_object_mut().unwrap())),
        2 => schema["type"] = json!(*dice.pick(&TYPES)),
        3 => *schema = fresh(dice),
        4 if vocabulary.unions => {
            let keyword = *dice.pick(&["oneOf", "anyOf"]);
            let list = if dice.chance(30) { json!([schema]) } else { json!([schema, fresh(dice)]) };
            *schema = json!({keyword: list});
        }
        5 => {
            let part = if dice.chance(50) { fresh(dice) } else { generate::scalar(dice) };
            *schema =
                if dice.chance(30) { json!({"allOf": [schema]}) } else { json!({"allOf": [schema, part]}) };
        }
        6 if vocabulary.unions => schema["not"] = generate::scalar(dice),
        7..=9 => bound(dice, schema, &kind),
        _ => match kind.as_str() {
            "object" => object(dice, schema, vocabulary),
            _ if schema.get("oneOf").or(schema.get("anyOf")).or(schema.get("allOf")).is_some() => {
                let other = fresh(dice);
                alternatives(dice, schema, other);
            }
            _ if dice.chance(30) => enumeration(dice, schema, &kind),
            _ => generate::keyword(dice, &kind, schema),
        },
    }
    if schema["type"] == "array" {
        let map = schema.as_object_mut().unwrap();
        map.entry("items").or_insert_with(|| json!({"type": "string"}));
    }
}

fn remove_one(dice: &mut Dice, map: &mut Map<String, Value>) -> Option<Value> {
    let keys: Vec<String> = map.keys().filter(|key| *key != "items").cloned().collect();
    if keys.is_empty() { None } else { map.remove(dice.pick(&keys)) }
}

/// Changes a bound, or sets one.
fn bound(dice: &mut Dice, schema: &mut Value, kind: &str) {
    let bounds: Vec<String> = schema
        .as_object()
        .into_iter()
        .flatten()
        .filter(|(_, value)| value.is_number())
        .map(|(keyword, _)| keyword.clone())
        .collect();
    if bounds.is_empty() {
        return generate::keyword(dice, kind, schema);
    }
    let keyword = dice.pick(&bounds).as_str();
    let value = schema[keyword].as_f64().unwrap();
    let moved = match keyword {
        "multipleOf" => value * dice.pick(&[0.5, 2.0, 3.0]),
        "minimum" | "maximum" => value + dice.pick(&[-1.0, -0.5, 0.5, 1.0]),
        _ => (value + dice.pick(&[-1.0, 1.0])).max(0.0),
    };
    schema[keyword] = super::judge::plain(&json!((moved * 1000.0).round() / 1000.0));
}

fn enumeration(dice: &mut Dice, schema: &mut Value, kind: &str) {
    let value = generate::constant(dice, kind);
    match schema["enum"].as_array_mut() {
        None => schema["enum"] = json!([value]),
        Some(list) if list.contains(&value) && list.len() > 1 => list.retain(|other| *other != value),
        Some(list) if !list.contains(&value) => list.push(value),
        Some(_) => drop(schema.as_object_mut().unwrap().remove("enum")),
    }
    if schema["enum"].is_null() {
        schema.as_object_mut().unwrap().remove("enum");
    }
}

fn alternatives(dice: &mut Dice, schema: &mut Value, fresh: Value) {
    for keyword in ["oneOf", "anyOf", "allOf"] {
        let Some(list) = schema[keyword].as_array_mut() else {
            schema.as_object_mut().unwrap().remove(keyword);
            continue;
        };
        match dice.below(3) {
            0 if list.len() > 1 => drop(list.remove(dice.below(list.len()))),
            1 => list.push(fresh.clone()),
            _ => {
                let list = schema.as_object_mut().unwrap().remove(keyword).unwrap();
                schema[*dice.pick(&["oneOf", "anyOf"])] = list;
            }
        }
        return;
    }
}

fn object(dice: &mut Dice, schema: &mut Value, vocabulary: Vocabulary) {
    let name = *dice.pick(&NAMES);
    let map = schema.as_object_mut().unwrap();
    match dice.below(8) {
        0 | 1 => {
            let properties = map.entry("properties").or_insert(json!({})).as_object_mut().unwrap();
            if properties.remove(name).is_none() {
                properties.insert(name.to_owned(), generate::scalar(dice));
            }
        }
        2 | 3 => {
            let required = map.entry("required").or_insert(json!([])).as_array_mut().unwrap();
            match required.iter().position(|other| other == name) {
                Some(index) => drop(required.remove(index)),
                None => required.push(json!(name)),
            }
            if required.is_empty() {
                map.remove("required");
            }
        }
        4 | 5 => {
            map.remove("additionalProperties");
            match dice.below(4) {
                0 => drop(map.insert("additionalProperties".to_owned(), json!(false))),
                1 => drop(map.insert("additionalProperties".to_owned(), json!(true))),
                2 => drop(map.insert("additionalProperties".to_owned(), generate::scalar(dice))),
                _ => {}
            }
        }
        6 if vocabulary.hiding => {
            let property = map.get_mut("properties").and_then(|properties| properties.get_mut(name));
            if let Some(property) = property.filter(|property| property.get("$ref").is_none()) {
                let keyword = *dice.pick(&["readOnly", "writeOnly"]);
                let is_set = property[keyword] == true;
                property[keyword] = json!(!is_set);
            }
        }
        _ => generate::keyword(dice, "object", schema),
    }
}
