//! Rewrites of schemas that keep their meaning.

use serde_json::{Map, Value, json};

use super::case::Dice;
use super::judge::component;

/// The context of a rewrite.
pub(crate) struct Around<'a> {
    pub(crate) components: &'a Map<String, Value>,
    /// The components that the rewrite adds.
    pub(crate) added: Map<String, Value>,
    pub(crate) dice: Dice,
}

/// A rewrite: its name, and the rewritten schema where it applies.
pub(crate) type Rewrite = (&'static str, fn(&Value, &mut Around<'_>) -> Option<Value>);

pub(crate) static REWRITES: &[Rewrite] = &[
    ("alone in allOf", |schema, _| Some(json!({"allOf": [schema]}))),
    ("alone in anyOf", |schema, _| is_plain(schema).then(|| json!({"anyOf": [schema]}))),
    ("alone in oneOf", |schema, _| is_plain(schema).then(|| json!({"oneOf": [schema]}))),
    ("twice in allOf", |schema, _| is_plain(schema).then(|| json!({"allOf": [schema, schema]}))),
    ("twice in anyOf", |schema, around| {
        // With one alternative, a discriminator has nothing to select.
        let chooses = schema["$ref"]
            .as_str()
            .is_some_and(|reference| around.components[component(reference)]["discriminator"].is_object());
        // `readOnly` and `writeOnly` in an alternative apply only if the alternative matches.
        let hides = ["\"readOnly\"", "\"writeOnly\""].iter().any(|flag| schema.to_string().contains(flag));
        (is_plain(schema) && !chooses && !hides).then(|| json!({"anyOf": [schema, schema]}))
    }),
    ("allOf with an empty schema", |schema, _| is_plain(schema).then(|| json!({"allOf": [schema, {}]}))),
    ("extracted to a component", extracted),
    ("reference inlined", inlined),
    ("oneOf and anyOf exchanged", exchanged),
    ("alternatives reversed", alternatives_reversed),
    ("allOf split into keywords", split),
    ("nested allOf introduced", |schema, _| nested(schema, "allOf")),
    ("nested anyOf introduced", |schema, _| nested(schema, "anyOf")),
    ("enum as oneOf of its values", enum_as_one_of),
    ("enum as anyOf of its values", |schema, around| {
        let mut other = enum_as_one_of(schema, around)?;
        let list = take(&mut other, "oneOf")?;
        other["anyOf"] = list;
        Some(other)
    }),
    ("enum reversed", |schema, _| reversed(schema, "enum")),
    ("required reversed", |schema, _| reversed(schema, "required")),
    ("integer bounds exclusive", integer_bounds_exclusive),
    ("integer bounds inclusive", integer_bounds_inclusive),
    ("integer bounds with a fraction", integer_bounds_with_a_fraction),
    ("nullable as anyOf with null", nullable_as_any_of),
    ("nullable around allOf", |schema, around| nullable_around(schema, around, "allOf")),
    ("nullable around oneOf", |schema, around| nullable_around(schema, around, "oneOf")),
    ("keywords of other types", keywords_of_other_types),
    ("excluded enum value", excluded_enum_value),
    ("null in the enum of a type that is not nullable", |schema, _| {
        (schema["type"].is_string() && schema["nullable"] != true).then_some(())?;
        let list = schema["enum"].as_array().filter(|list| !list.contains(&Value::Null))?;
        let mut other = schema.clone();
        other["enum"] = list.iter().cloned().chain([Value::Null]).collect();
        Some(other)
    }),
    ("numbers with a fraction of 0", numbers_with_a_fraction),
    ("defaults written", defaults_written),
    ("implied bounds of int32", |schema, _| {
        (schema["type"] == "integer" && schema["format"] == "int32").then_some(())?;
        // `exclusiveMinimum` without `minimum` would apply to the new bound.
        (schema["exclusiveMinimum"].is_null() && schema["exclusiveMaximum"].is_null()).then_some(())?;
        with(schema, &[("minimum", json!(i32::MIN)), ("maximum", json!(i32::MAX))])
    }),
    ("redundant multipleOf 1 of an integer", |schema, _| {
        (schema["type"] == "integer").then_some(())?;
        with(schema, &[("multipleOf", json!(1))])
    }),
    ("redundant pattern", |schema, _| {
        (schema["type"] == "string").then_some(())?;
        with(schema, &[("pattern", json!(""))])
    }),
    ("weaker bound in allOf", weaker_bound),
    ("type repeated in allOf", |schema, _| {
        let kind = schema["type"].as_str().filter(|_| is_plain(schema))?;
        Some(json!({"allOf": [schema, {"type": kind, "nullable": true}]}))
    }),
    ("nullable without type", |schema, _| {
        // `nullable` alone in an alternative would be read as null, and beside other schemas as "or null".
        let is_any = schema.as_object()?.is_empty();
        let combines = ["allOf", "oneOf", "anyOf"].iter().any(|keyword| !schema[*keyword].is_null());
        (schema["type"].is_null() && schema["$ref"].is_null() && !is_any && !combines).then_some(())?;
        with(schema, &[("nullable", json!(true))])
    }),
    ("exclusive bound without a bound", |schema, _| {
        (schema["$ref"].is_null() && schema["minimum"].is_null()).then_some(())?;
        with(schema, &[("exclusiveMinimum", json!(true))])
    }),
    ("unlisted properties by an empty schema", |schema, _| {
        let mut other = schema.clone();
        match &schema["additionalProperties"] {
            Value::Bool(true) => other["additionalProperties"] = json!({}),
            Value::Object(map) if map.is_empty() => other["additionalProperties"] = json!(true),
            _ => return None,
        }
        Some(other)
    }),
    ("words", |schema, _| {
        schema["$ref"].is_null().then_some(())?;
        with(schema, &[("title", json!("T")), ("description", json!("D."))])
    }),
];

/// Whether every keyword of the schema only restricts values.
fn is_plain(schema: &Value) -> bool {
    const OTHER: [&str; 7] =
        ["default", "discriminator", "readOnly", "writeOnly", "deprecated", "xml", "externalDocs"];
    let keywords = schema.as_object().into_iter().flatten();
    keywords.into_iter().all(|(keyword, _)| !OTHER.contains(&keyword.as_str()) && !keyword.starts_with("x-"))
}

/// The schema with keywords that it does not have.
fn with(schema: &Value, keywords: &[(&str, Value)]) -> Option<Value> {
    let mut other = schema.clone();
    for (keyword, value) in keywords {
        if !schema[*keyword].is_null() {
            return None;
        }
        other[*keyword] = value.clone();
    }
    Some(other)
}

fn take(schema: &mut Value, keyword: &str) -> Option<Value> {
    schema.as_object_mut()?.remove(keyword)
}

fn extracted(schema: &Value, around: &mut Around<'_>) -> Option<Value> {
    let hides = schema["readOnly"] == true || schema["writeOnly"] == true;
    (schema["$ref"].is_null() && !hides).then_some(())?;
    around.added.insert("Extracted".to_owned(), schema.clone());
    Some(json!({"$ref": "#/components/schemas/Extracted"}))
}

fn inlined(schema: &Value, around: &mut Around<'_>) -> Option<Value> {
    Some(around.components[component(schema["$ref"].as_str()?)].clone())
}

/// The types of a schema without alternatives.
fn types(schema: &Value, components: &Map<String, Value>) -> Option<Vec<String>> {
    if let Some(reference) = schema["$ref"].as_str() {
        return types(&components[component(reference)], components);
    }
    let kind = schema["type"].as_str()?;
    let kinds = [if kind == "integer" { "number" } else { kind }, "null"];
    Some(kinds[..1 + usize::from(schema["nullable"] == true)].iter().map(|kind| (*kind).to_owned()).collect())
}

fn exchanged(schema: &Value, around: &mut Around<'_>) -> Option<Value> {
    let (from, to) = if schema["oneOf"].is_array() { ("oneOf", "anyOf") } else { ("anyOf", "oneOf") };
    (is_plain(schema) && schema[to].is_null()).then_some(())?;
    let mut seen = Vec::new();
    for alternative in schema[from].as_array()? {
        for kind in types(alternative, around.components)? {
            if seen.contains(&kind) {
                return None;
            }
            seen.push(kind);
        }
    }
    let mut other = schema.clone();
    let list = take(&mut other, from)?;
    other[to] = list;
    Some(other)
}

fn alternatives_reversed(schema: &Value, _: &mut Around<'_>) -> Option<Value> {
    let mut other = schema.clone();
    for keyword in ["oneOf", "anyOf", "allOf"] {
        if let Some(list) = other.get_mut(keyword).and_then(Value::as_array_mut) {
            list.reverse();
        }
    }
    (other != *schema).then_some(other)
}

/// Returns the name of the group of keywords that must stay together.
fn group(keyword: &str) -> &str {
    match keyword {
        "nullable" | "format" => "type",
        "exclusiveMinimum" => "minimum",
        "exclusiveMaximum" => "maximum",
        "additionalProperties" => "properties",
        other => other,
    }
}

fn split(schema: &Value, _: &mut Around<'_>) -> Option<Value> {
    (is_plain(schema) && schema["$ref"].is_null()).then_some(())?;
    let mut parts: Map<String, Value> = Map::new();
    for (keyword, value) in schema.as_object()? {
        // `items` is required where `type` is `array`.
        let group = if keyword == "items" { "type" } else { group(keyword) };
        let part = parts.entry(group.to_owned()).or_insert(json!({}));
        part[keyword] = value.clone();
    }
    (parts.len() > 1).then(|| json!({"allOf": parts.into_iter().map(|(_, part)| part).collect::<Vec<_>>()}))
}

fn nested(schema: &Value, keyword: &str) -> Option<Value> {
    let (first, rest) = schema[keyword].as_array()?.split_first()?;
    (!rest.is_empty()).then_some(())?;
    let mut other = schema.clone();
    other[keyword] = json!([first, {keyword: rest}]);
    Some(other)
}

fn enum_as_one_of(schema: &Value, _: &mut Around<'_>) -> Option<Value> {
    (is_plain(schema) && schema["oneOf"].is_null() && schema["anyOf"].is_null()).then_some(())?;
    let mut other = schema.clone();
    let values = take(&mut other, "enum")?;
    let mut list: Vec<Value> = Vec::new();
    for value in values.as_array()? {
        let mut alternative = json!({"enum": [value]});
        if let Some(kind) = schema["type"].as_str().filter(|kind| matches!(*kind, "string" | "boolean")) {
            alternative["type"] = json!(kind);
            if schema["nullable"] == true {
                alternative["nullable"] = json!(true);
            }
        }
        list.push(alternative);
    }
    other["oneOf"] = list.into();
    Some(other)
}

fn reversed(schema: &Value, keyword: &str) -> Option<Value> {
    let mut other = schema.clone();
    other.get_mut(keyword)?.as_array_mut()?.reverse();
    (other != *schema).then_some(other)
}

const BOUNDS: [(&str, &str, i64); 2] =
    [("minimum", "exclusiveMinimum", -1), ("maximum", "exclusiveMaximum", 1)];

fn integer_bounds_exclusive(schema: &Value, _: &mut Around<'_>) -> Option<Value> {
    (schema["type"] == "integer").then_some(())?;
    let mut other = schema.clone();
    for (bound, exclusive, outwards) in BOUNDS {
        if let (Some(number), false) = (schema[bound].as_i64(), schema[exclusive] == true) {
            other[bound] = json!(number + outwards);
            other[exclusive] = json!(true);
        }
    }
    (other != *schema).then_some(other)
}

fn integer_bounds_inclusive(schema: &Value, _: &mut Around<'_>) -> Option<Value> {
    (schema["type"] == "integer").then_some(())?;
    let mut other = schema.clone();
    for (bound, exclusive, outwards) in BOUNDS {
        if let (Some(number), true) = (schema[bound].as_i64(), schema[exclusive] == true) {
            other[bound] = json!(number - outwards);
            take(&mut other, exclusive);
        }
    }
    (other != *schema).then_some(other)
}

fn integer_bounds_with_a_fraction(schema: &Value, _: &mut Around<'_>) -> Option<Value> {
    (schema["type"] == "integer").then_some(())?;
    let mut other = schema.clone();
    for (bound, exclusive, outwards) in BOUNDS {
        if let (Some(number), false) = (schema[bound].as_i64(), schema[exclusive] == true) {
            other[bound] = json!(number as f64 + 0.5 * outwards as f64);
        }
    }
    (other != *schema).then_some(other)
}

fn nullable_as_any_of(schema: &Value, _: &mut Around<'_>) -> Option<Value> {
    let others = ["enum", "not", "allOf", "oneOf", "anyOf"];
    let applies = schema["nullable"] == true && schema["type"].is_string() && is_plain(schema);
    (applies && others.iter().all(|keyword| schema[*keyword].is_null())).then_some(())?;
    let mut kind = schema.clone();
    take(&mut kind, "nullable");
    Some(json!({"anyOf": [kind, {"enum": [null]}]}))
}

/// Moves `nullable` to a schema around this one, as generators write it for a reference that may be null.
fn nullable_around(schema: &Value, around: &mut Around<'_>, keyword: &str) -> Option<Value> {
    let mut kind = nullable_as_any_of(schema, around)?;
    let kind = kind["anyOf"][0].take();
    Some(json!({"nullable": true, keyword: [kind]}))
}

fn keywords_of_other_types(schema: &Value, around: &mut Around<'_>) -> Option<Value> {
    let keywords: &[(&str, &str, Value)] = &[
        ("number", "minimum", json!(3)),
        ("number", "multipleOf", json!(7)),
        ("string", "maxLength", json!(1)),
        ("string", "pattern", json!("^q$")),
        ("array", "minItems", json!(2)),
        ("array", "uniqueItems", json!(true)),
        ("object", "required", json!(["zz"])),
        ("object", "maxProperties", json!(0)),
        ("object", "additionalProperties", json!(false)),
    ];
    let kind = if schema["type"] == "integer" { "number" } else { schema["type"].as_str()? };
    let applicable: Vec<_> =
        keywords.iter().filter(|(of, keyword, _)| *of != kind && schema[*keyword].is_null()).collect();
    let mut other = schema.clone();
    for _ in 0..2 {
        let (_, keyword, value) = *around.dice.pick(&applicable);
        other[*keyword] = value.clone();
    }
    Some(other)
}

fn excluded_enum_value(schema: &Value, _: &mut Around<'_>) -> Option<Value> {
    let list = schema["enum"].as_array()?;
    let excluded = match schema["type"].as_str()? {
        "string" | "boolean" => json!(1),
        "integer" => json!(1.5),
        _ => json!("excluded"),
    };
    (!list.contains(&excluded)).then_some(())?;
    let mut other = schema.clone();
    other["enum"] = std::iter::once(excluded).chain(list.iter().cloned()).collect();
    Some(other)
}

fn numbers_with_a_fraction(schema: &Value, _: &mut Around<'_>) -> Option<Value> {
    let fraction = |value: &Value| match value.as_i64() {
        Some(number) if number.abs() < 1 << 50 => json!(number as f64),
        _ => value.clone(),
    };
    let mut other = schema.clone();
    for keyword in ["minimum", "maximum", "multipleOf"] {
        if let Some(bound) = other.get_mut(keyword) {
            *bound = fraction(bound);
        }
    }
    for value in other.get_mut("enum").and_then(Value::as_array_mut).into_iter().flatten() {
        *value = fraction(value);
    }
    (other != *schema).then_some(other)
}

fn defaults_written(schema: &Value, _: &mut Around<'_>) -> Option<Value> {
    let mut other = schema.clone();
    let defaults: &[(&str, Value)] = match schema["type"].as_str()? {
        "integer" | "number" => &[("exclusiveMinimum", json!(false)), ("exclusiveMaximum", json!(false))],
        "string" => &[("minLength", json!(0))],
        "array" => &[("minItems", json!(0)), ("uniqueItems", json!(false))],
        "object" => &[("minProperties", json!(0))],
        _ => &[],
    };
    for (keyword, value) in defaults.iter().chain(&[("nullable", json!(false))]) {
        if schema[*keyword].is_null() {
            other[*keyword] = value.clone();
        }
    }
    (other != *schema).then_some(other)
}

fn weaker_bound(schema: &Value, _: &mut Around<'_>) -> Option<Value> {
    is_plain(schema).then_some(())?;
    let mut weaker = json!({});
    for (keyword, step) in
        [("minimum", -1.0), ("maximum", 1.0), ("minLength", -1.0), ("maxLength", 1.0), ("maxItems", 1.0)]
    {
        if let Some(bound) = schema[keyword]
            .as_f64()
            .map(|bound| bound + step)
            .filter(|bound| step > 0.0 || keyword == "minimum" || *bound >= 0.0)
        {
            weaker[keyword] = super::judge::plain(&json!(bound));
        }
    }
    (weaker != json!({})).then(|| json!({"allOf": [weaker, schema]}))
}
