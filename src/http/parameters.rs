//! The values of parameters, which are text, as the types that an operation declares.
//!
//! Numbers are accepted in canonical form only; `+1`, `01` and `-0` are rejected.

use std::borrow::Cow;

use serde::de::value::{Error, MapDeserializer};
use serde::de::{DeserializeOwned, Deserializer, Error as _, IntoDeserializer, Unexpected, Visitor};
use serde::forward_to_deserialize_any;
use serde_json::Number;

/// Reads parameters, names with values, as the fields of a struct.
///
/// # Errors
/// The name of the parameter, and serde's message.
pub fn read<'t, T: DeserializeOwned>(
    parameters: impl Iterator<Item = (Cow<'t, str>, Cow<'t, str>)>,
) -> Result<T, (String, String)> {
    let values = parameters.map(|(name, value)| (name, Text(value)));
    serde_path_to_error::deserialize(MapDeserializer::new(values)).map_err(
        |error: serde_path_to_error::Error<Error>| (error.path().to_string(), error.inner().to_string()),
    )
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
    struct Toy {
        pet: u8,
        toy: Option<String>,
    }

    #[test]
    fn parameters_are_the_fields_of_a_struct() {
        let toy = |query: &str| read::<Toy>(form_urlencoded::parse(query.as_bytes()));
        assert_eq!(toy("toy=a+b&pet=7").unwrap(), Toy { pet: 7, toy: Some("a b".to_owned()) });
        assert_eq!(toy("pet=7").unwrap(), Toy { pet: 7, toy: None });
        for (query, name, message) in [
            ("pet=300", "pet", "invalid value: integer `300`, expected u8"),
            ("toy=a", "", "missing field `pet`"),
            ("pet=1&pet=1", "", "duplicate field `pet`"),
            ("pet=1&pets=1", "pets", "unknown field `pets`, expected `pet` or `toy`"),
        ] {
            let (path, reason) = toy(query).unwrap_err();
            assert_eq!((path.trim_start_matches('.'), &*reason), (name, message), "{query}");
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
}
