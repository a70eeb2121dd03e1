//! Random schemas with the keywords of OpenAPI 3.0.3.

use std::collections::BTreeSet;

use serde_json::{Map, Value, json};

use super::case::{Case, Dice};

/// Some patterns include others: `^a$` < `^a+$` < `^[a-z]+$` < `^[a-z0-9]*$`.
pub(crate) const PATTERNS: [&str; 7] = ["^a$", "^a+$", "^[a-z]+$", "^[a-z0-9]*$", "^[0-9]{2}$", "a", "b$"];
pub(crate) const NAMES: [&str; 4] = ["a", "b", "c", "d"];
pub(crate) const SCALARS: [&str; 4] = ["string", "integer", "number", "boolean"];
pub(crate) const TYPES: [&str; 6] = ["string", "integer", "number", "boolean", "array", "object"];
const NUMBERS: [f64; 9] = [-3.0, 0.0, 1.0, 2.0, 2.5, 3.0, 5.0, 7.0, 10.0];
const FACTORS: [f64; 9] = [0.1, 0.25, 0.5, 1.0, 1.5, 2.0, 3.0, 4.0, 6.0];

/// The keywords that a schema may contain.
#[derive(Clone, Copy)]
pub(crate) struct Vocabulary {
    /// The limit of nested schemas.
    pub(crate) depth: usize,
    /// Whether `oneOf`, `anyOf` and `not` occur. They are not combined with properties that are absent in one
    /// direction, because the meaning of `not` for those is not defined.
    pub(crate) unions: bool,
    /// Whether `readOnly` and `writeOnly` occur.
    pub(crate) hiding: bool,
    /// Whether references to the components `Node`, `Leaf` and `Thing` may occur.
    pub(crate) references: bool,
}

impl Vocabulary {
    pub(crate) fn random(dice: &mut Dice) -> Self {
        let unions = dice.chance(75);
        Self { depth: 1 + dice.below(2), unions, hiding: !unions, references: dice.chance(30) }
    }
}

/// A schema with the components that it refers to.
pub(crate) fn case(dice: &mut Dice, vocabulary: Vocabulary) -> Case {
    let mut components = Map::new();
    if vocabulary.references {
        let plain = Vocabulary { references: false, depth: 1, ..vocabulary };
        let mut node = object(dice, plain, vocabulary.depth);
        node["properties"]["next"] = json!({"$ref": "#/components/schemas/Node"});
        if dice.chance(30) {
            node["additionalProperties"] = json!({"$ref": "#/components/schemas/Leaf"});
        }
        components.insert("Node".to_owned(), node);
        components.insert("Leaf".to_owned(), scalar(dice));
        components.insert("Thing".to_owned(), object(dice, plain, 1));
    }
    Case { schema: schema(dice, vocabulary, vocabulary.depth), components }
}

/// A random schema. `depth` is how many levels may follow.
pub(crate) fn schema(dice: &mut Dice, vocabulary: Vocabulary, depth: usize) -> Value {
    if vocabulary.references && dice.chance(20) {
        let name = dice.pick(&["Node", "Leaf", "Thing"]);
        return json!({"$ref": format!("#/components/schemas/{name}")});
    }
    if depth == 0 {
        return scalar(dice);
    }
    match dice.below(100) {
        0..30 => scalar(dice),
        30..60 => object(dice, vocabulary, depth),
        60..72 => array(dice, vocabulary, depth),
        72..82 => {
            let mut list = vec![schema(dice, vocabulary, depth - 1)];
            while list.len() < 3 && dice.chance(60) {
                let other = if dice.chance(50) { object(dice, vocabulary, depth) } else { narrowing(dice) };
                list.push(other);
            }
            let mut all = json!({"allOf": list});
            if dice.chance(30) {
                merge(&mut all, narrowing(dice));
            }
            all
        }
        82..96 if vocabulary.unions => {
            let keyword = *dice.pick(&["oneOf", "anyOf"]);
            let mut list = vec![schema(dice, vocabulary, depth - 1)];
            while list.len() < 4 && dice.chance(60) {
                list.push(schema(dice, vocabulary, depth - 1));
            }
            let mut union = json!({keyword: list});
            if dice.chance(20) {
                merge(&mut union, narrowing(dice));
            }
            union
        }
        96.. if vocabulary.unions => {
            let mut schema = if dice.chance(70) { scalar(dice) } else { json!({}) };
            schema["not"] = if dice.chance(60) { scalar(dice) } else { narrowing(dice) };
            schema
        }
        _ => object(dice, vocabulary, depth),
    }
}

fn merge(schema: &mut Value, other: Value) {
    for (keyword, value) in other.as_object().into_iter().flatten() {
        schema[keyword] = value.clone();
    }
}

/// Keywords without a `type`.
fn narrowing(dice: &mut Dice) -> Value {
    let mut schema = scalar(dice);
    let map = schema.as_object_mut().unwrap();
    if dice.chance(80) {
        for keyword in ["type", "nullable", "format"] {
            map.remove(keyword);
        }
    }
    schema
}

pub(crate) fn number(dice: &mut Dice) -> Value {
    super::judge::plain(&json!(dice.pick(&NUMBERS)))
}

pub(crate) fn factor(dice: &mut Dice) -> Value {
    super::judge::plain(&json!(dice.pick(&FACTORS)))
}

/// A value that an `enum` may list.
pub(crate) fn constant(dice: &mut Dice, kind: &str) -> Value {
    match kind {
        "string" => json!(dice.pick(&["a", "b", "aa", "42", ""])),
        "integer" => json!(dice.below(8)),
        "number" => number(dice),
        "boolean" => json!(dice.chance(50)),
        "array" => json!([dice.below(3)]),
        "object" => json!({"a": dice.below(3)}),
        _ => json!(null),
    }
}

/// A schema of strings, numbers or booleans.
pub(crate) fn scalar(dice: &mut Dice) -> Value {
    let kind = *dice.pick(&SCALARS);
    let mut schema = json!({"type": kind});
    if dice.chance(20) {
        schema["nullable"] = json!(true);
    }
    if dice.chance(if kind == "boolean" { 30 } else { 15 }) {
        let mut values: Vec<Value> = Vec::new();
        for _ in 0..=dice.below(4) {
            let other = if dice.chance(8) { *dice.pick(&["null", "string", "integer"]) } else { kind };
            let value = constant(dice, other);
            if !values.contains(&value) {
                values.push(value);
            }
        }
        schema["enum"] = values.into();
    }
    for _ in 0..dice.below(3) {
        keyword(dice, kind, &mut schema);
    }
    schema
}

/// Sets a random keyword of a type. `exclusiveMinimum` may be without `minimum`, which has no effect.
pub(crate) fn keyword(dice: &mut Dice, kind: &str, schema: &mut Value) {
    match kind {
        "integer" | "number" => match dice.below(7) {
            0 | 1 => schema["minimum"] = number(dice),
            2 | 3 => schema["maximum"] = number(dice),
            4 => schema["multipleOf"] = factor(dice),
            5 => schema[*dice.pick(&["exclusiveMinimum", "exclusiveMaximum"])] = json!(dice.chance(80)),
            _ if kind == "integer" => schema["format"] = json!(dice.pick(&["int32", "int64"])),
            _ => {
                schema["minimum"] = number(dice);
                schema["exclusiveMinimum"] = json!(true);
            }
        },
        "string" => match dice.below(4) {
            0 => schema["minLength"] = json!(dice.below(4)),
            1 => schema["maxLength"] = json!(dice.below(5)),
            _ => schema["pattern"] = json!(dice.pick(&PATTERNS)),
        },
        "array" => match dice.below(4) {
            0 => schema["minItems"] = json!(dice.below(3)),
            1 | 2 => schema["maxItems"] = json!(dice.below(4)),
            _ => schema["uniqueItems"] = json!(dice.chance(80)),
        },
        "object" => match dice.below(2) {
            0 => schema["minProperties"] = json!(dice.below(3)),
            _ => schema["maxProperties"] = json!(dice.below(4)),
        },
        _ => {}
    }
}

fn array(dice: &mut Dice, vocabulary: Vocabulary, depth: usize) -> Value {
    let mut array = json!({"type": "array", "items": schema(dice, vocabulary, depth - 1)});
    for _ in 0..dice.below(3) {
        keyword(dice, "array", &mut array);
    }
    array
}

/// A schema of objects with some of the properties `a` to `d`.
pub(crate) fn object(dice: &mut Dice, vocabulary: Vocabulary, depth: usize) -> Value {
    let mut object = json!({"type": "object", "properties": {}});
    for name in NAMES {
        if dice.chance(45) {
            let mut property = schema(dice, vocabulary, depth - 1);
            if vocabulary.hiding && property.get("$ref").is_none() && dice.chance(15) {
                property[*dice.pick(&["readOnly", "writeOnly"])] = json!(true);
            }
            object["properties"][name] = property;
        }
    }
    let required: Vec<_> = NAMES.into_iter().filter(|_| dice.chance(25)).collect();
    if !required.is_empty() {
        object["required"] = json!(required);
    }
    match dice.below(10) {
        0 | 1 => object["additionalProperties"] = json!(false),
        2 => object["additionalProperties"] = json!(true),
        3 => object["additionalProperties"] = schema(dice, vocabulary, depth - 1),
        _ => {}
    }
    if dice.chance(15) {
        object["nullable"] = json!(true);
    }
    if dice.chance(15) {
        keyword(dice, "object", &mut object);
    }
    object
}

/// One to three parts of one type with many keywords, composed.
pub(crate) fn dense(dice: &mut Dice, kind: &str) -> Value {
    let vocabulary = Vocabulary { depth: 1, unions: false, hiding: false, references: false };
    let part = |dice: &mut Dice| {
        let mut part = match kind {
            "object" => object(dice, vocabulary, 1),
            "array" => json!({"type": kind, "items": scalar(dice)}),
            _ => json!({"type": kind}),
        };
        for _ in 0..1 + dice.below(3) {
            keyword(dice, kind, &mut part);
        }
        if dice.chance(20) {
            let values: BTreeSet<String> = (0..3).map(|_| constant(dice, kind).to_string()).collect();
            let values = values.iter().map(|text| serde_json::from_str::<Value>(text).expect("it is JSON"));
            part["enum"] = values.collect();
        }
        if dice.chance(15) {
            part["not"] = narrowing(dice);
        }
        part
    };
    let parts: Vec<Value> = (0..1 + dice.below(3)).map(|_| part(dice)).collect();
    match parts.as_slice() {
        [only] => only.clone(),
        _ => json!({*dice.pick(&["allOf", "anyOf", "anyOf", "oneOf"]): parts}),
    }
}

/// A schema of `Pet`, whose property `kind` chooses the subtype `Cat` or `Dog`.
pub(crate) fn family(dice: &mut Dice) -> Case {
    let vocabulary = Vocabulary { depth: 1, unions: false, hiding: false, references: false };
    let mut pet = object(dice, vocabulary, 1);
    pet["properties"]["kind"] = json!({"type": "string"});
    pet["required"] = json!(["kind"]);
    pet["discriminator"] = json!({"propertyName": "kind"});
    if let Some(map) = pet.as_object_mut() {
        map.remove("additionalProperties");
        map.remove("nullable");
    }
    if dice.chance(40) {
        pet["discriminator"]["mapping"] = json!({"cat": "#/components/schemas/Cat"});
    }
    let mut components = Map::from_iter([("Pet".to_owned(), pet)]);
    for name in ["Cat", "Dog"] {
        let mut own = object(dice, vocabulary, 1);
        own.as_object_mut().expect("it is an object").remove("additionalProperties");
        components.insert(name.to_owned(), json!({"allOf": [{"$ref": "#/components/schemas/Pet"}, own]}));
    }
    let pet = json!({"$ref": "#/components/schemas/Pet"});
    let schema = match dice.below(3) {
        0 => json!({"type": "array", "items": pet}),
        1 => json!({"type": "object", "properties": {"a": pet}}),
        _ => pet,
    };
    Case { schema, components }
}
