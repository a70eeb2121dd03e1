//! JSON in the body of a request, as the type that an operation declares.
//!
//! serde alone would repeat the client's value in a message. It would also accept an array for an object,
//! `{"sold": null}` for the word `sold`, and `null` for an `Option` whose schema does not allow it.

use schemars::JsonSchema;
use schemars::r#gen::SchemaSettings;
use serde::de::DeserializeOwned;
use serde_json::{Deserializer, Value};

use super::input_error::describe;

/// Reads a JSON object.
///
/// # Errors
/// The message for the client: the field and what is allowed, never the value.
pub(super) fn object<T: DeserializeOwned + JsonSchema>(bytes: &[u8]) -> Result<T, String> {
    if bytes.trim_ascii_start().first() != Some(&b'{') {
        return Err("the body must be a JSON object".to_owned());
    }
    match serde_json::from_slice(bytes) {
        Ok(object) if is_flat(bytes) => Ok(object),
        Ok(object) => violation_of::<T>(bytes).map_or(Ok(object), Err),
        Err(error) if error.is_data() => {
            // Only an invalid body is read with its path.
            let read = serde_path_to_error::deserialize::<_, T>(&mut Deserializer::from_slice(bytes));
            let path = read.err().map(|error| error.path().to_string()).unwrap_or_default();
            let message = error.to_string();
            let (message, _position) = message.rsplit_once(" at line ").unwrap_or((&message, ""));
            Err(describe(("field", "the body"), &path, message))
        }
        // serde_json calls some values of a wrong type a mistake in the syntax.
        Err(error) => {
            Err(violation_of::<T>(bytes).unwrap_or_else(|| format!("the body is not valid JSON: {error}")))
        }
    }
}

/// Whether the object has only strings, numbers, `true` and `false`: what serde reads as its schema says. May miss some.
fn is_flat(bytes: &[u8]) -> bool {
    let opened = bytes.iter().filter(|byte| matches!(byte, b'{' | b'[')).count();
    opened == 1 && !bytes.windows(4).any(|text| text == b"null")
}

/// Returns the first violation of the schema of `T` by valid JSON.
fn violation_of<T: JsonSchema>(bytes: &[u8]) -> Option<String> {
    let value = serde_json::from_slice(bytes).ok()?;
    let schema = SchemaSettings::openapi3().into_generator().into_root_schema_for::<T>();
    let schema = serde_json::to_value(schema).unwrap_or_default();
    let (path, message) = violation(&value, &schema, &schema)?;
    Some(format!("{} {message}", path.trim_start_matches('.')))
}

/// Returns the path and the message of the first `null` that the schema does not allow, or value that is neither the
/// object nor the string of the schema.
fn violation(value: &Value, schema: &Value, root: &Value) -> Option<(String, String)> {
    let below = |value: &Value, schema: &Value| violation(value, schema, root);
    if let Some(reference) = schema["$ref"].as_str() {
        let name = reference.rsplit('/').next().unwrap_or_default();
        return below(value, &root["definitions"][name]);
    }
    if value.is_null() && schema["nullable"] == true {
        return None;
    }
    let of = |keyword: &str| schema[keyword].as_array().into_iter().flatten();
    if let Some(found) = of("allOf").find_map(|member| below(value, member)) {
        return Some(found);
    }
    let alternatives: Option<Vec<_>> = of("oneOf").chain(of("anyOf")).map(|one| below(value, one)).collect();
    // The alternative that is meant goes deepest.
    if let Some(found) = alternatives.into_iter().flatten().max_by_key(|(path, _)| path.len()) {
        return Some(found);
    }
    let here = |message: &str| Some((String::new(), message.to_owned()));
    match (value, schema["type"].as_str()) {
        (Value::Null, None) if schema.get("enum").is_none() => None,
        (Value::Null, _) => here("must not be null"),
        (Value::Object(_) | Value::Array(_) | Value::Number(_) | Value::Bool(_), Some("string")) => {
            let words: Vec<_> = of("enum").filter_map(Value::as_str).collect();
            if words.is_empty() {
                here("must be a string")
            } else {
                here(&format!("must be one of {}", words.join(", ")))
            }
        }
        (Value::Array(_), Some("object")) => here("must be an object"),
        (Value::Object(members), _) => members.iter().find_map(|(name, value)| {
            let member = schema["properties"].get(name).unwrap_or(&schema["additionalProperties"]);
            below(value, member).map(|(path, message)| (format!(".{name}{path}"), message))
        }),
        (Value::Array(items), _) => items.iter().enumerate().find_map(|(index, item)| {
            below(item, &schema["items"]).map(|(path, message)| (format!("[{index}]{path}"), message))
        }),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use serde::Deserialize;

    use super::*;

    #[derive(Debug, Deserialize, JsonSchema, PartialEq)]
    #[serde(rename_all = "lowercase")]
    enum Kind {
        Bear,
        Block,
    }

    #[derive(Debug, Default, Deserialize, JsonSchema, PartialEq)]
    #[serde(deny_unknown_fields, default)]
    struct Toy {
        count: i32,
        #[schemars(with = "Kind")]
        kind: Option<Kind>,
        nick: Option<String>,
        parts: Vec<Toy>,
        weight: f64,
        big: u64,
    }

    #[test]
    fn a_value_is_what_its_schema_allows() {
        let read = |json: &str| object::<Toy>(json.as_bytes()).unwrap();
        assert_eq!(read(r#"{"kind": "bl\u006fck"}"#).kind, Some(Kind::Block));
        assert_eq!(read(r#"{"nick": null}"#), Toy::default());
        assert_eq!(read(r#"{"nick": "null"}"#).nick.unwrap(), "null");
        assert_eq!(read(r#"{"weight": 2, "big": 18446744073709551615}"#).weight, 2.0);
        assert_eq!(read(r#" {"parts": [{}, {"count": 3}]} "#).parts[1].count, 3);
    }

    #[test]
    fn the_message_names_the_field_and_does_not_repeat_the_value() {
        for (json, expected) in [
            (
                r#"{"count": "ask_1, expected i64"}"#,
                "count must be an integer from -2147483648 to 2147483647",
            ),
            (r#"{"count": 70000000000}"#, "count must be an integer from -2147483648 to 2147483647"),
            (r#"{"count": 1.0}"#, "count must be an integer from -2147483648 to 2147483647"),
            (r#"{"big": -1}"#, "big must be an integer from 0 to 18446744073709551615"),
            (r#"{"kind": "ask_1"}"#, "kind must be bear or block"),
            (r#"{"kind": 1}"#, "kind must be one of bear, block"),
            (r#"{"kind": {"bear": null}}"#, "kind must be one of bear, block"),
            (r#"{"kind": null}"#, "kind must not be null"),
            (r#"{"parts": [{}, {"kind": null}]}"#, "parts[1].kind must not be null"),
            (r#"{"parts": "ask_1"}"#, "parts must be a list"),
            (r#"{"parts": [[0]]}"#, "parts[0] must be an object"),
            (r#"{"parts": [{}, {"parts": [[]]}]}"#, "parts[1].parts[0] must be an object"),
            (r#"{"nick": [true]}"#, "nick must be a string"),
            (
                r#"{"ask_1`, expected ask_2": 1}"#,
                "unknown field; the body takes count, kind, nick, parts, weight, big",
            ),
            (r#"{"count": 1, "count": 1}"#, "count must be given only once"),
            ("[0]", "the body must be a JSON object"),
            ("{", "the body is not valid JSON: EOF while parsing an object at line 1 column 1"),
            ("{} x", "the body is not valid JSON: trailing characters at line 1 column 4"),
        ] {
            assert_eq!(object::<Toy>(json.as_bytes()).unwrap_err(), expected, "{json}");
        }
        let deep = r#"{"parts": ["#.repeat(70) + "{}" + &"]}".repeat(70);
        assert!(object::<Toy>(deep.as_bytes()).unwrap_err().contains("recursion limit exceeded"));
        assert!(object::<Toy>(b"{\"nick\": \"\xff\"}").is_err());
        assert!(
            object::<Toy>(br#"{"nick": "\ud800"}"#).unwrap_err().starts_with("the body is not valid JSON: ")
        );
    }
}
