//! Reads text of clients, parameters and JSON, as the types that an operation declares.
//!
//! An error is a message for the client: the name and what is allowed. Never the value, which may be a secret that was
//! pasted into the wrong place.

use std::borrow::Cow;

use serde::de::value::{Error, MapDeserializer};
use serde::de::{DeserializeOwned, Deserializer, Error as _, IntoDeserializer, Unexpected, Visitor};
use serde::forward_to_deserialize_any;
use serde_json::Number;

/// Reads parameters, names with values, as the fields of a struct. Numbers are accepted in canonical form only; `+1`, `01`
/// and `-0` are rejected.
///
/// # Errors
/// The message for the client.
pub fn parameters<'t, T: DeserializeOwned>(
    parameters: impl Iterator<Item = (Cow<'t, str>, Cow<'t, str>)> + Clone,
) -> Result<T, String> {
    let values = || MapDeserializer::new(parameters.clone().map(|(name, value)| (name, Text(value))));
    T::deserialize(values()).map_err(|error: Error| {
        describe(("query parameter", "this operation"), &place::<T>(values()), &error.to_string())
    })
}

/// Reads a JSON object.
///
/// # Errors
/// The message for the client.
pub(super) fn object<T: DeserializeOwned>(bytes: &[u8]) -> Result<T, String> {
    // serde accepts a list of the fields as well.
    if bytes.trim_ascii_start().first() != Some(&b'{') {
        let with_mark =
            if bytes.starts_with("\u{feff}".as_bytes()) { ", without a byte order mark" } else { "" };
        return Err(format!("the body must be a JSON object{with_mark}"));
    }
    serde_json::from_slice(bytes).map_err(|error| {
        let message = error.to_string();
        if let Some(place) = message.strip_prefix("number out of range") {
            return format!("the body has a number that is out of range{place}");
        }
        if !error.is_data() {
            return format!("the body is not valid JSON: {message}");
        }
        let place = place::<T>(&mut serde_json::Deserializer::from_slice(bytes));
        let (message, _position) = message.rsplit_once(" at line ").unwrap_or((&message, ""));
        describe(("field", "the body"), &place, message)
    })
}

/// Returns the path of the first value that is invalid. Valid input is not read in this way, which takes longer.
fn place<'de, T: DeserializeOwned>(input: impl Deserializer<'de>) -> String {
    let read = serde_path_to_error::deserialize::<_, T>(input);
    read.err().map(|error| error.path().to_string()).unwrap_or_default()
}

/// Describes serde's `message` about the value at `path`. An unknown name is an unknown `kind`, and `receiver` takes the
/// known ones.
pub(super) fn describe((kind, receiver): (&str, &str), path: &str, message: &str) -> String {
    // The last "expected": the name comes from the client and may contain the word as well.
    if let Some((name, known)) =
        message.strip_prefix("unknown field `").and_then(|rest| rest.rsplit_once("`, expected "))
    {
        let known = known.trim_start_matches("one of ").replace('`', "");
        return format!("unknown {kind}{}; {receiver} takes {known}", quoted(name));
    }
    if let Some(name) = field(message, "missing field `") {
        return format!("{name} is missing");
    }
    if let Some(name) = field(message, "duplicate field `") {
        return format!("{name} must be given only once");
    }
    // serde repeats a value of the wrong type before it says what it expected.
    let Some((_, expected)) = message.rsplit_once(", expected ") else { return format!("{path} {message}") };
    let expected = match expected {
        "f32" | "f64" => "a number",
        "bool" | "a boolean" => "true or false",
        "a sequence" => "a list",
        "a map" => "an object",
        _ if expected.starts_with("struct ") => "an object",
        _ => &integer(expected).unwrap_or_else(|| expected.replace('`', "")),
    };
    format!("{path} must be {expected}")
}

/// Describes an integer type of Rust.
fn integer(name: &str) -> Option<String> {
    macro_rules! range {
        ($($integer:ident)*) => {
            match name {
                $(stringify!($integer) => Some(format!("an integer from {} to {}", $integer::MIN, $integer::MAX)),)*
                _ => None,
            }
        };
    }
    range!(i8 i16 i32 i64 u8 u16 u32 u64)
}

fn field<'a>(message: &'a str, prefix: &str) -> Option<&'a str> {
    message.strip_prefix(prefix)?.strip_suffix('`')
}

/// Quotes a name that the client sent, if it is safe to repeat: short, plain, and not an API key.
fn quoted(name: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "_-.".contains(c);
    if (1..=32).contains(&name.len()) && name.chars().all(plain) && !name.contains("ask_") {
        format!(" \"{name}\"")
    } else {
        String::new()
    }
}

/// The value of a parameter.
struct Text<'t>(Cow<'t, str>);

impl IntoDeserializer<'_, Error> for Text<'_> {
    type Deserializer = Self;

    fn into_deserializer(self) -> Self {
        self
    }
}

/// Writes methods of a deserializer of numbers, which are written as in JSON (RFC 8259, section 6).
macro_rules! deserialize_numbers {
    ($($method:ident)*) => {$(
        fn $method<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
            match self.0.parse::<Number>() {
                Ok(number) => number.$method(visitor).map_err(Error::custom),
                Err(_) => Err(Error::invalid_type(Unexpected::Other("text"), &visitor)),
            }
        }
    )*};
}

impl<'de> Deserializer<'de> for Text<'_> {
    type Error = Error;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        visitor.visit_str(&self.0)
    }

    deserialize_numbers! {
        deserialize_i8 deserialize_i16 deserialize_i32 deserialize_i64
        deserialize_u8 deserialize_u16 deserialize_u32 deserialize_u64 deserialize_f32 deserialize_f64
    }

    fn deserialize_bool<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        let value = self.0.parse();
        visitor.visit_bool(value.map_err(|_| Error::custom("must be true or false"))?)
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        visitor.visit_some(self)
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        visitor: V,
    ) -> Result<V::Value, Error> {
        visitor.visit_newtype_struct(self)
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        name: &'static str,
        variants: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Error> {
        self.0.into_deserializer().deserialize_enum(name, variants, visitor)
    }

    forward_to_deserialize_any! {
        i128 u128 char str string bytes byte_buf unit unit_struct seq tuple tuple_struct map struct
        identifier ignored_any
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde::Deserialize;

    use super::*;

    fn parsed<T: DeserializeOwned>(text: &str) -> Option<T> {
        T::deserialize(Text(text.into())).ok()
    }

    #[derive(Debug, Deserialize, PartialEq)]
    #[serde(deny_unknown_fields)]
    struct Query {
        pet: u8,
        toy: Option<String>,
    }

    #[test]
    fn parameters_are_the_fields_of_a_struct() {
        let toy = |query: &str| parameters::<Query>(form_urlencoded::parse(query.as_bytes()));
        assert_eq!(toy("toy=a+b&pet=7").unwrap(), Query { pet: 7, toy: Some("a b".to_owned()) });
        assert_eq!(toy("pet=7").unwrap(), Query { pet: 7, toy: None });
        for (query, message) in [
            ("pet=300", "pet must be an integer from 0 to 255"),
            ("toy=a", "pet is missing"),
            ("pet=1&pet=1", "pet must be given only once"),
            ("pet=1&pets=1", "unknown query parameter \"pets\"; this operation takes pet or toy"),
        ] {
            assert_eq!(toy(query).unwrap_err(), message, "{query}");
        }
    }

    #[test]
    fn a_text_can_be_a_number_an_option_or_a_boolean() {
        assert_eq!(parsed::<u8>("255"), Some(255));
        assert_eq!(parsed::<u8>("256"), None);
        assert_eq!(parsed::<Option<i32>>("-1"), Some(Some(-1)));
        assert_eq!(parsed::<bool>("true"), Some(true));
        assert_eq!(parsed::<f64>("2.5"), Some(2.5));
        for text in ["NaN", "1e999", "+1", " 1", "01", ".5"] {
            assert_eq!(parsed::<f64>(text), None, "{text}");
        }
    }

    proptest! {
        #[test]
        fn an_integer_is_what_its_number_is_written_as(text in "[-+]{0,2}[0-9]{0,20}|\\PC*", id: i64) {
            let number: Option<i64> = text.parse().ok();
            prop_assert_eq!(parsed(&text), number.filter(|number| number.to_string() == text));
            prop_assert_eq!(parsed(&id.to_string()), Some(id));
        }
    }

    #[derive(Debug, Default, Deserialize, PartialEq)]
    #[serde(deny_unknown_fields, default)]
    struct Toy {
        count: i32,
        parts: Vec<Toy>,
        weight: f64,
        big: u64,
        soft: bool,
    }

    #[test]
    fn the_message_names_the_field_and_does_not_repeat_the_value() {
        assert_eq!(object::<Toy>(br#" {"parts": [{}, {"count": 3}]} "#).unwrap().parts[1].count, 3);
        for (json, expected) in [
            (
                r#"{"count": "ask_1, expected i64"}"#,
                "count must be an integer from -2147483648 to 2147483647",
            ),
            (r#"{"count": 1.0}"#, "count must be an integer from -2147483648 to 2147483647"),
            (r#"{"big": -1}"#, "big must be an integer from 0 to 18446744073709551615"),
            (r#"{"weight": "1"}"#, "weight must be a number"),
            (r#"{"soft": 1}"#, "soft must be true or false"),
            (r#"{"parts": "ask_1"}"#, "parts must be a list"),
            (r#"{"parts": [{}, {"soft": null}]}"#, "parts[1].soft must be true or false"),
            (r#"{"parts": [{}, 1]}"#, "parts[1] must be an object"),
            (
                r#"{"ask_1`, expected ask_2": 1}"#,
                "unknown field; the body takes count, parts, weight, big, soft",
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
    }
}
