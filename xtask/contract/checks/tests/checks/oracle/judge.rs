//! Decides whether a value is an instance of an OpenAPI 3.0.3 schema, by the crate `jsonschema`.
//!
//! The schema is converted to JSON Schema 2020-12. Its `unevaluatedProperties` can express what OpenAPI 3.0 cannot:
//! which properties a schema lists through `allOf`, alternatives and references.

use std::collections::{BTreeMap, BTreeSet};

use jsonschema::{Keyword, ValidationError, Validator};
use serde_json::{Map, Value, json};

use super::case::{Case, Direction};

/// Whether a side sends the value or receives it.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Part {
    /// The client of a request, the service of a response.
    Sender,
    /// The service of a request, the client of a response.
    Receiver,
}

/// The instances of a schema.
pub(crate) struct Judge {
    /// One validator, or two that must both accept.
    validators: Vec<Validator>,
}

impl Judge {
    /// The values that a side sends or accepts in a direction.
    ///
    /// A sender sends only properties that its schema lists, unless it lists none or `additionalProperties` has
    /// a schema. Such a value must also be an instance of the schema as it is written. Otherwise closing one
    /// alternative of a `oneOf` would allow a value that matches two.
    pub(crate) fn new(case: &Case, direction: Direction, part: Part) -> Self {
        let closed: &[bool] = if part == Part::Receiver { &[false] } else { &[false, true] };
        let build =
            |closed| Converter { case, direction, part, closed, definitions: BTreeMap::new() }.build();
        Self { validators: closed.iter().map(|closed| build(*closed)).collect() }
    }

    pub(crate) fn accepts(&self, value: &Value) -> bool {
        self.validators.iter().all(|validator| validator.is_valid(value))
    }
}

struct Converter<'a> {
    case: &'a Case,
    direction: Direction,
    part: Part,
    /// Whether objects only have the properties that their schemas list.
    closed: bool,
    /// The definitions under their keys. `None` while one is being converted.
    definitions: BTreeMap<String, Option<Value>>,
}

/// The properties that are absent in this direction.
type Hidden = BTreeSet<String>;

impl Converter<'_> {
    fn build(mut self) -> Validator {
        let mut schema = self.value(&self.case.schema.clone());
        let definitions = std::mem::take(&mut self.definitions).into_iter();
        schema["$defs"] =
            definitions.map(|(key, schema)| (key, schema.unwrap())).collect::<Map<_, _>>().into();
        jsonschema::options()
            .with_draft(jsonschema::Draft::Draft202012)
            .with_keyword("x-multipleOf", |_, factor, _| Ok(Box::new(MultipleOf(factor.to_string())) as _))
            .build(&schema)
            .unwrap_or_else(|error| panic!("{error}: {schema}"))
    }

    /// Converts the schema of a whole value.
    fn value(&mut self, schema: &Value) -> Value {
        let mut hidden = Hidden::new();
        self.hidden(schema, &mut hidden);
        let mut converted = self.in_place(schema, &hidden, true);
        if self.closed && self.lists(schema) {
            converted["unevaluatedProperties"] = json!(false);
        }
        converted
    }

    /// Adds the properties of the schema that are absent in this direction.
    fn hidden(&self, schema: &Value, hidden: &mut Hidden) {
        let schema = self.resolved(schema);
        for (name, property) in schema["properties"].as_object().into_iter().flatten() {
            if self.is_hiding(property) {
                hidden.insert(name.clone());
            }
        }
        for part in schema["allOf"].as_array().into_iter().flatten() {
            self.hidden(part, hidden);
        }
    }

    /// Whether the schema lists properties.
    fn lists(&self, schema: &Value) -> bool {
        let schema = self.resolved(schema);
        let mut parts =
            ["allOf", "oneOf", "anyOf"].into_iter().filter_map(|keyword| schema[keyword].as_array());
        schema["properties"].is_object() || parts.any(|parts| parts.iter().any(|part| self.lists(part)))
    }

    fn is_hiding(&self, property: &Value) -> bool {
        let keyword = if self.direction == Direction::Request { "readOnly" } else { "writeOnly" };
        let schema = self.resolved(property);
        let mut parts = schema["allOf"].as_array().into_iter().flatten();
        schema[keyword] == true || parts.any(|part| self.is_hiding(part))
    }

    fn resolved<'s>(&'s self, schema: &'s Value) -> &'s Value {
        match schema["$ref"].as_str() {
            Some(reference) => self.resolved(&self.case.components[component(reference)]),
            None => schema,
        }
    }

    /// Converts a schema that describes the same value as the schema around it. `chooses` is whether discriminators
    /// select subtypes; inside a selected subtype they do not.
    fn in_place(&mut self, schema: &Value, hidden: &Hidden, chooses: bool) -> Value {
        if let Some(reference) = schema["$ref"].as_str() {
            let name = component(reference);
            let names: Vec<_> = hidden.iter().map(String::as_str).collect();
            let key = format!("{name}.{}.{chooses}.{}", self.closed, names.join("."));
            if !self.definitions.contains_key(&key) {
                self.definitions.insert(key.clone(), None);
                let schema = self.case.components[name].clone();
                let mut converted = self.in_place(&schema, hidden, chooses);
                let property = schema["discriminator"]["propertyName"].as_str();
                if let Some(property) = property.filter(|_| chooses) {
                    self.choose(name, property, &schema["discriminator"]["mapping"], &mut converted);
                }
                self.definitions.insert(key.clone(), Some(converted));
            }
            return json!({"$ref": format!("#/$defs/{key}")});
        }
        let mut converted = Map::new();
        for (keyword, value) in schema.as_object().expect("a schema is an object") {
            self.keyword(schema, keyword, value, (hidden, chooses), &mut converted);
        }
        if self.closed && [Value::Null, json!(true), json!({})].contains(&schema["additionalProperties"]) {
            // A required property is sent even if it is not listed.
            let properties = converted.entry("properties").or_insert_with(|| json!({}));
            for name in schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str) {
                if properties[name].is_null() && !hidden.contains(name) {
                    properties[name] = json!(true);
                }
            }
        }
        // Generators write `nullable` beside other schemas for "or null".
        if schema["nullable"] == true && schema["type"].is_null() {
            let combined = ["allOf", "oneOf", "anyOf"].iter();
            let combined: Map<String, Value> =
                combined.filter_map(|keyword| converted.remove_entry(*keyword)).collect();
            if !combined.is_empty() {
                converted.insert("anyOf".to_owned(), json!([{"type": "null"}, combined]));
            }
        }
        Value::Object(converted)
    }

    /// Adds the condition that the value is an instance of the subtype that its discriminator names. A sender uses
    /// only the names of subtypes or of the schema itself. For receivers the effect of other names is undefined.
    fn choose(&mut self, base: &str, property: &str, mapping: &Value, converted: &mut Value) {
        let (mut choices, mut known) = (Vec::new(), vec![json!(base)]);
        for subtype in subtypes(&self.case.components, base) {
            let reference = format!("#/components/schemas/{subtype}");
            let mapped = mapping.as_object().into_iter().flatten().filter(|(_, to)| *to == &json!(reference));
            let mut names: Vec<Value> = mapped.map(|(name, _)| json!(name)).collect();
            if names.is_empty() {
                names.push(json!(subtype));
            }
            known.extend(names.iter().cloned());
            choices.push(json!({
                "if": {"required": [property], "properties": {property: {"enum": names}}},
                "then": self.in_place(&json!({"$ref": reference}), &Hidden::new(), false),
            }));
        }
        if self.part != Part::Receiver {
            choices
                .push(json!({"if": {"type": "object"}, "then": {"properties": {property: {"enum": known}}}}));
        }
        choices.push(std::mem::take(converted));
        *converted = json!({"allOf": choices});
    }

    fn keyword(
        &mut self,
        schema: &Value,
        keyword: &str,
        value: &Value,
        (hidden, chooses): (&Hidden, bool),
        to: &mut Map<String, Value>,
    ) {
        let mut put = |keyword: &str, value: Value| drop(to.insert(keyword.to_owned(), value));
        match keyword {
            "type" if schema["nullable"] == true => put("type", json!([value, "null"])),
            "type" | "pattern" | "minLength" | "maxLength" | "minItems" | "maxItems" | "uniqueItems"
            | "minProperties" | "maxProperties" => put(keyword, value.clone()),
            "format" if schema["type"] == "integer" && value == "int32" => {
                put("if", json!({"type": "number"}));
                put("then", json!({"minimum": i32::MIN, "maximum": i32::MAX}));
            }
            "format" if schema["type"] == "integer" && value == "int64" => {
                put("if", json!({"type": "number"}));
                put("then", json!({"minimum": i64::MIN, "maximum": i64::MAX}));
            }
            "minimum" | "maximum" => {
                let exclusive = if keyword == "minimum" { "exclusiveMinimum" } else { "exclusiveMaximum" };
                put(if schema[exclusive] == true { exclusive } else { keyword }, plain(value));
            }
            "multipleOf" => put("x-multipleOf", value.clone()),
            // Authors leave null out of the list.
            "enum" if schema["nullable"] == true => {
                let values = value.as_array().into_iter().flatten().cloned().chain([Value::Null]);
                put("enum", plain(&values.collect()));
            }
            "enum" => put("enum", plain(value)),
            "items" => put("items", self.value(value)),
            // `additionalProperties: true` has no effect, but would count as a list of all properties.
            "additionalProperties" if self.closed && (value == &json!(true) || value == &json!({})) => {}
            "additionalProperties" if value.is_boolean() => put(keyword, value.clone()),
            "additionalProperties" => put(keyword, self.value(value)),
            "required" => {
                let names = value.as_array().into_iter().flatten();
                put(
                    keyword,
                    names.filter(|name| !hidden.contains(name.as_str().unwrap())).cloned().collect(),
                );
            }
            "properties" => {
                let mut properties = Map::new();
                for (name, property) in value.as_object().into_iter().flatten() {
                    let converted = match hidden.contains(name) {
                        true => json!(self.part == Part::Receiver),
                        false => self.value(property),
                    };
                    properties.insert(name.clone(), converted);
                }
                put(keyword, properties.into());
            }
            "allOf" | "oneOf" | "anyOf" => {
                let parts = value.as_array().into_iter().flatten();
                let is_null = |part: &Value| keyword != "allOf" && part == &json!({"nullable": true});
                let mut convert = |part: &Value| match is_null(part) {
                    true => json!({"type": "null"}),
                    false => self.in_place(part, hidden, chooses),
                };
                put(keyword, parts.map(&mut convert).collect());
            }
            "not" => {
                // A schema under `not` stays open: closing it would exclude fewer values.
                let closed = std::mem::replace(&mut self.closed, false);
                put(keyword, self.in_place(value, hidden, chooses));
                self.closed = closed;
            }
            _ => {}
        }
    }
}

/// Returns the name of the component in a reference.
pub(crate) fn component(reference: &str) -> &str {
    reference.strip_prefix("#/components/schemas/").expect("a reference to a schema of this document")
}

/// Returns the components that refer to another one in their `allOf`.
pub(crate) fn subtypes<'c>(components: &'c Map<String, Value>, base: &str) -> Vec<&'c str> {
    let reference = json!({"$ref": format!("#/components/schemas/{base}")});
    let extends = |schema: &Value| schema["allOf"].as_array().is_some_and(|parts| parts.contains(&reference));
    components.iter().filter(|(_, schema)| extends(schema)).map(|(name, _)| name.as_str()).collect()
}

/// A value with whole numbers written as integers.
pub(crate) fn plain(value: &Value) -> Value {
    match value {
        Value::Array(items) => items.iter().map(plain).collect(),
        Value::Object(map) => {
            map.iter().map(|(key, value)| (key.clone(), plain(value))).collect::<Map<_, _>>().into()
        }
        Value::Number(number) => match number.as_f64() {
            Some(float) if number.is_f64() && float.fract() == 0.0 && float.abs() < 1e15 => {
                json!(float as i64)
            }
            _ => value.clone(),
        },
        other => other.clone(),
    }
}

/// `multipleOf` in decimal, since 0.3 is a multiple of 0.1.
struct MultipleOf(String);

impl<'i> Keyword<'i> for MultipleOf {
    fn validate(&self, instance: &'i Value) -> Result<(), ValidationError<'i>> {
        if self.is_valid(instance) { Ok(()) } else { Err(ValidationError::custom("it is not a multiple")) }
    }

    fn is_valid(&self, instance: &'i Value) -> bool {
        let Value::Number(number) = instance else { return true };
        let ((number, one), (factor, other)) = (decimal(&number.to_string()), decimal(&self.0));
        let scale = one.max(other);
        (number * 10_i128.pow(scale - one)) % (factor * 10_i128.pow(scale - other)) == 0
    }
}

/// Returns the digits of a number, and how many of them are after the decimal point.
fn decimal(text: &str) -> (i128, u32) {
    let (digits, exponent) = text.split_once(['e', 'E']).unwrap_or((text, "0"));
    let exponent: i32 = exponent.parse().unwrap();
    let (whole, fraction) = digits.split_once('.').unwrap_or((digits, ""));
    let digits: i128 = format!("{whole}{fraction}").parse().unwrap();
    let behind = i32::try_from(fraction.len()).unwrap() - exponent;
    match u32::try_from(behind) {
        Ok(behind) => (digits, behind),
        Err(_) => (digits * 10_i128.pow(behind.unsigned_abs()), 0),
    }
}

#[test]
fn instances_are_those_of_openapi() {
    let sent = |schema: Value, value: Value| {
        let case = Case { schema, components: Map::new() };
        Judge::new(&case, Direction::Request, Part::Sender).accepts(&value)
    };
    assert!(sent(json!({"type": "string", "nullable": true}), json!(null)));
    assert!(sent(json!({"type": "string", "nullable": true, "enum": ["a"]}), json!(null)));
    assert!(sent(json!({"nullable": true, "allOf": [{"type": "string"}]}), json!(null)));
    assert!(!sent(json!({"allOf": [{"type": "string"}, {"nullable": true}]}), json!(null)));
    assert!(sent(json!({"multipleOf": 0.1}), json!(0.3)));
    assert!(!sent(json!({"multipleOf": 0.2}), json!(0.3)));
    assert!(!sent(json!({"minimum": 2, "exclusiveMinimum": true}), json!(2)));
    assert!(!sent(json!({"type": "integer", "format": "int32"}), json!(2_147_483_648_u64)));
    assert!(sent(
        json!({"allOf": [{"properties": {"a": {}}}, {"properties": {"b": {}}}]}),
        json!({"a": 1, "b": 2})
    ));
    assert!(!sent(json!({"allOf": [{"properties": {"a": {}}}]}), json!({"a": 1, "c": 2})));
    assert!(sent(json!({"allOf": [{"properties": {"a": {}}}], "required": ["c"]}), json!({"a": 1, "c": 2})));
    let open = |additional: Value| json!({"properties": {"a": {}}, "additionalProperties": additional});
    assert!(!sent(open(json!(true)), json!({"c": 2})));
    assert!(sent(open(json!({"type": "integer"})), json!({"c": 2})));
    assert!(sent(json!({"additionalProperties": true}), json!({"c": 2})));
    assert!(!sent(json!({"anyOf": [{"type": "string"}, {"nullable": true}]}), json!(2)));
    assert!(!sent(json!({"properties": {"a": {"readOnly": true}}, "required": ["a"]}), json!({"a": 1})));
    assert!(sent(json!({"properties": {"a": {"readOnly": true}}, "required": ["a"]}), json!({})));

    let pet = json!({"properties": {"kind": {}}, "discriminator": {"propertyName": "kind"}});
    let reference = json!({"$ref": "#/components/schemas/Pet"});
    let cat = json!({"allOf": [reference, {"properties": {"lives": {"maximum": 9}}}]});
    let components = Map::from_iter([("Pet".to_owned(), pet), ("Cat".to_owned(), cat)]);
    let judge = Judge::new(&Case { schema: reference, components }, Direction::Request, Part::Sender);
    assert!(judge.accepts(&json!({"kind": "Pet"})));
    assert!(!judge.accepts(&json!({"kind": "Pet", "lives": 9})));
    assert!(judge.accepts(&json!({"kind": "Cat", "lives": 9})));
    assert!(!judge.accepts(&json!({"kind": "Cat", "lives": 10})));
    assert!(!judge.accepts(&json!({"kind": "Bird"})));
}
