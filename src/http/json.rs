//! JSON in the body of a request, as the type that an operation declares.
//!
//! serde_json alone would accept an array for an object and `{"sold": null}` for the word `sold`, refuse the integer
//! `-0`, repeat the client's value in a message, and accept `null` for an `Option` whose schema does not allow it.

use std::fmt;

use schemars::JsonSchema;
use schemars::r#gen::SchemaSettings;
use serde::de::{DeserializeOwned, DeserializeSeed, Deserializer, Error as _, MapAccess, SeqAccess, Visitor};
use serde::forward_to_deserialize_any;
use serde_json::Value;
use serde_json::value::RawValue;

use super::input_error::describe;
use super::text::deserialize_integers;

/// The same limit as in serde_json.
const MAX_DEPTH: u8 = 128;

/// Reads a JSON object.
///
/// # Errors
/// The message for the client: the field and what is allowed, never the value.
pub(super) fn object<T: DeserializeOwned + JsonSchema>(bytes: &[u8]) -> Result<T, String> {
    if bytes.trim_ascii_start().first() != Some(&b'{') {
        return Err("the body must be a JSON object".to_owned());
    }
    let text = str::from_utf8(bytes).map_err(|_| "the body is not valid JSON: it is not UTF-8")?;
    let json = Json { text, depth: 0 };
    let object = T::deserialize(json).or_else(|_| {
        // The first pass does not track the path, which would slow it down.
        serde_path_to_error::deserialize(json).map_err(|error| {
            let (path, error) = (error.path().to_string(), error.into_inner());
            let message = error.to_string();
            if message.starts_with("trailing characters") {
                return "the body must end after its JSON object".to_owned();
            }
            if !error.is_data() {
                return format!("the body is not valid JSON: {message}");
            }
            let (message, _position) = message.rsplit_once(" at line ").unwrap_or((&message, ""));
            describe(("field", "the body"), &path, message)
        })
    })?;
    if text.contains("null") {
        let value = serde_json::from_str(text).map_err(|error| format!("the body is not valid: {error}"))?;
        let schema = SchemaSettings::openapi3().into_generator().into_root_schema_for::<T>();
        let schema = serde_json::to_value(schema).unwrap_or_default();
        if let Some(path) = forbidden_null(&value, &schema, &schema) {
            return Err(format!("{} must not be null", path.trim_start_matches('.')));
        }
    }
    Ok(object)
}

/// Returns the path of the first `null` that the schema does not allow.
fn forbidden_null(value: &Value, schema: &Value, root: &Value) -> Option<String> {
    let below = |value: &Value, schema: &Value| forbidden_null(value, schema, root);
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
    if let Some(found) = alternatives.into_iter().flatten().max_by_key(String::len) {
        return Some(found);
    }
    match value {
        // serde reads `{"sold": null}` as the word `sold`.
        Value::Object(_) if schema["type"] == "string" => Some(String::new()),
        Value::Null => schema.get("type").or(schema.get("enum")).map(|_| String::new()),
        Value::Object(members) => members.iter().find_map(|(name, value)| {
            let member = schema["properties"].get(name).unwrap_or(&schema["additionalProperties"]);
            below(value, member).map(|path| format!(".{name}{path}"))
        }),
        Value::Array(items) => items
            .iter()
            .enumerate()
            .find_map(|(index, item)| below(item, &schema["items"]).map(|path| format!("[{index}]{path}"))),
        _ => None,
    }
}

/// The text of a value, in the outermost one with white space.
#[derive(Clone, Copy)]
struct Json<'de> {
    text: &'de str,
    depth: u8,
}

type Error = serde_json::Error;

impl<'de> Deserializer<'de> for Json<'de> {
    type Error = Error;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        let mut json = serde_json::Deserializer::from_str(self.text);
        if self.depth > 0 && !self.text.starts_with(['{', '[']) {
            return json.deserialize_any(visitor);
        }
        if self.depth == MAX_DEPTH {
            return Err(Error::custom("is nested too deeply"));
        }
        let value = json.deserialize_any(Within { inner: visitor, depth: self.depth + 1 })?;
        json.end().map(|()| value)
    }

    deserialize_integers!(self => self.text.parse().ok());

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        if self.text == "null" { visitor.visit_none() } else { visitor.visit_some(self) }
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        visitor: V,
    ) -> Result<V::Value, Error> {
        visitor.visit_newtype_struct(self)
    }

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Error> {
        if self.text.trim_ascii_start().starts_with('{') {
            self.deserialize_any(visitor)
        } else {
            Err(Error::custom("must be an object"))
        }
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        name: &'static str,
        variants: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Error> {
        // Of a variant with fields, the name is the only key of an object.
        if self.text.starts_with(['"', '{']) {
            serde_json::Deserializer::from_str(self.text).deserialize_enum(name, variants, visitor)
        } else {
            Err(Error::unknown_variant("", variants))
        }
    }

    forward_to_deserialize_any! {
        i128 u128 f32 f64 bool char str string bytes byte_buf unit unit_struct seq tuple tuple_struct map identifier
        ignored_any
    }
}

/// Passes the values in an object or an array on as [`Json`].
struct Within<T> {
    inner: T,
    depth: u8,
}

impl<'de, V: Visitor<'de>> Visitor<'de> for Within<V> {
    type Value = V::Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.inner.expecting(f)
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<V::Value, A::Error> {
        self.inner.visit_map(Within { inner: map, depth: self.depth })
    }

    fn visit_seq<A: SeqAccess<'de>>(self, items: A) -> Result<V::Value, A::Error> {
        self.inner.visit_seq(Within { inner: items, depth: self.depth })
    }
}

impl<'de, A: MapAccess<'de>> MapAccess<'de> for Within<A> {
    type Error = A::Error;

    fn next_key_seed<K: DeserializeSeed<'de>>(&mut self, seed: K) -> Result<Option<K::Value>, A::Error> {
        self.inner.next_key_seed(seed)
    }

    fn next_value_seed<S: DeserializeSeed<'de>>(&mut self, seed: S) -> Result<S::Value, A::Error> {
        let value: &RawValue = self.inner.next_value()?;
        seed.deserialize(Json { text: value.get(), depth: self.depth }).map_err(A::Error::custom)
    }
}

impl<'de, A: SeqAccess<'de>> SeqAccess<'de> for Within<A> {
    type Error = A::Error;

    fn next_element_seed<S: DeserializeSeed<'de>>(&mut self, seed: S) -> Result<Option<S::Value>, A::Error> {
        let Some(item) = self.inner.next_element::<&RawValue>()? else { return Ok(None) };
        seed.deserialize(Json { text: item.get(), depth: self.depth }).map(Some).map_err(A::Error::custom)
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
        assert_eq!(read(r#"{"count": -0}"#), Toy::default());
        assert_eq!(read(r#"{"kind": "bl\u006fck"}"#).kind, Some(Kind::Block));
        assert_eq!(read(r#"{"nick": null}"#), Toy::default());
        assert_eq!(read(r#"{"nick": "null"}"#).nick.unwrap(), "null");
        assert_eq!(read(r#"{"weight": 2, "big": 18446744073709551615}"#).weight, 2.0);
        assert_eq!(read(r#" {"parts": [{}, {"count": 3}]} "#).parts[1].count, 3);
    }

    #[test]
    fn the_message_names_the_field_and_does_not_repeat_the_value() {
        let deep = format!(r#"{{"parts": {}}}"#, r#"[{"parts": "#.repeat(70) + "[]" + &"}]".repeat(70));
        for (json, expected) in [
            (
                r#"{"count": "ask_1, expected i64"}"#,
                "count must be an integer from -2147483648 to 2147483647",
            ),
            (r#"{"count": 70000000000}"#, "count must be an integer from -2147483648 to 2147483647"),
            (r#"{"count": 1.0}"#, "count must be an integer from -2147483648 to 2147483647"),
            (r#"{"big": -1}"#, "big must be an integer from 0 to 18446744073709551615"),
            (r#"{"kind": "ask_1"}"#, "kind must be bear or block"),
            (r#"{"kind": 1}"#, "kind must be bear or block"),
            (r#"{"kind": {"bear": null}}"#, "kind must not be null"),
            (r#"{"kind": null}"#, "kind must not be null"),
            (r#"{"parts": [{}, {"kind": null}]}"#, "parts[1].kind must not be null"),
            (r#"{"parts": "ask_1"}"#, "parts must be a list"),
            (r#"{"parts": [[0]]}"#, "parts[0] must be an object"),
            (r#"{"nick": [true]}"#, "nick must be a string"),
            (
                r#"{"ask_1`, expected ask_2": 1}"#,
                "unknown field; the body takes count, kind, nick, parts, weight, big",
            ),
            (r#"{"count": 1, "count": 1}"#, "count must be given only once"),
            ("[0]", "the body must be a JSON object"),
            ("{", "the body is not valid JSON: EOF while parsing an object at line 1 column 1"),
            ("{} x", "the body must end after its JSON object"),
        ] {
            assert_eq!(object::<Toy>(json.as_bytes()).unwrap_err(), expected, "{json}");
        }
        assert!(object::<Toy>(deep.as_bytes()).unwrap_err().ends_with("is nested too deeply"));
        assert!(object::<Toy>(b"{\"nick\": \"\xff\"}").is_err());
        assert!(object::<Toy>(br#"{"nick": "\ud800"}"#).unwrap_err().starts_with("nick "));
    }
}
