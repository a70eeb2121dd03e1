//! The values of parameters, which are text, as the types that an operation declares.
//!
//! A number has one spelling: `+1`, `01` and `-0` are none.

use std::borrow::Cow;
use std::iter;

use http::{HeaderMap, HeaderValue};
use percent_encoding::percent_decode_str;
use serde::de::value::{Error, MapDeserializer};
use serde::de::{Deserializer, Error as _, IntoDeserializer, Unexpected, Visitor};
use serde::forward_to_deserialize_any;
use serde_json::Number;

/// The value of a parameter.
pub enum Text<'t> {
    /// As it is meant.
    Plain(Cow<'t, str>),
    /// A segment of a path, as it was sent. Only text may be percent-encoded: `%31` is not the number 1.
    Segment(&'t str),
}

/// The parameters of a request in one location, as the fields of a struct.
pub enum Parameters<'p> {
    /// The parts of a path that are named in its template.
    Path {
        /// With names in braces, each of which is a segment.
        template: &'p str,
        /// As it was sent.
        path: &'p str,
    },
    /// The query. A name that is not a field is an error: a misspelt filter would return everything.
    Query(&'p str),
    /// The headers, without regard to case. Those that are not a field are ignored.
    Header(&'p HeaderMap),
}

impl<'de> IntoDeserializer<'de, Error> for Text<'de> {
    type Deserializer = Self;

    fn into_deserializer(self) -> Self {
        self
    }
}

impl<'t> Text<'t> {
    fn as_sent(&self) -> &str {
        match self {
            Self::Plain(text) => text,
            Self::Segment(text) => text,
        }
    }

    fn decoded(self) -> Result<Cow<'t, str>, Error> {
        match self {
            Self::Plain(text) => Ok(text),
            Self::Segment(text) => percent_decode_str(text).decode_utf8().map_err(Error::custom),
        }
    }
}

/// Writes methods of a deserializer of numbers, which are spelt as in JSON (RFC 8259, section 6).
macro_rules! deserialize_numbers {
    ($($method:ident)*) => {$(
        fn $method<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
            match self.as_sent().parse::<Number>() {
                Ok(number) => number.$method(visitor).map_err(Error::custom),
                Err(_) => Err(Error::invalid_type(Unexpected::Other("text"), &visitor)),
            }
        }
    )*};
}

impl<'de> Deserializer<'de> for Text<'de> {
    type Error = Error;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        match self.decoded()? {
            Cow::Borrowed(text) => visitor.visit_borrowed_str(text),
            Cow::Owned(text) => visitor.visit_string(text),
        }
    }

    deserialize_numbers! {
        deserialize_i8 deserialize_i16 deserialize_i32 deserialize_i64
        deserialize_u8 deserialize_u16 deserialize_u32 deserialize_u64 deserialize_f32 deserialize_f64
    }

    fn deserialize_bool<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        let value = self.as_sent().parse();
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
        self.decoded()?.into_deserializer().deserialize_enum(name, variants, visitor)
    }

    forward_to_deserialize_any! {
        i128 u128 char str string bytes byte_buf unit unit_struct seq tuple tuple_struct map struct identifier
        ignored_any
    }
}

impl<'de> Deserializer<'de> for Parameters<'de> {
    type Error = Error;

    fn deserialize_any<V: Visitor<'de>>(self, _: V) -> Result<V::Value, Error> {
        Err(Error::custom("parameters can only be read as a struct"))
    }

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Error> {
        match self {
            Self::Path { mut template, mut path } => {
                let values = iter::from_fn(|| {
                    let (literal, variable) = template.split_once('{')?;
                    let (name, after) = variable.split_once('}')?;
                    let rest = path.strip_prefix(literal)?;
                    let value = rest.split('/').next()?;
                    (template, path) = (after, &rest[value.len()..]);
                    Some((name, Text::Segment(value)))
                });
                visitor.visit_map(MapDeserializer::new(values))
            }
            Self::Query(query) => {
                let pairs = || form_urlencoded::parse(query.as_bytes());
                if let Some((unknown, _)) = pairs().find(|(name, _)| !fields.contains(&&**name)) {
                    return Err(Error::unknown_field(&unknown, fields));
                }
                let values = pairs().map(|(name, value)| (name, Text::Plain(value)));
                visitor.visit_map(MapDeserializer::new(values))
            }
            Self::Header(headers) => {
                let text = |value: &'de HeaderValue| Text::Plain(String::from_utf8_lossy(value.as_bytes()));
                let all = |name| headers.get_all(name).into_iter().map(move |value| (name, text(value)));
                visitor.visit_map(MapDeserializer::new(fields.iter().copied().flat_map(all)))
            }
        }
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf option unit unit_struct
        newtype_struct seq tuple tuple_struct map enum identifier ignored_any
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde::Deserialize;

    use super::*;

    fn parsed<'t, T: Deserialize<'t>>(text: &'t str) -> Option<T> {
        T::deserialize(Text::Plain(text.into())).ok()
    }

    #[derive(Debug, Deserialize, PartialEq)]
    #[serde(rename_all = "kebab-case")]
    struct Conditions {
        if_match: Option<String>,
        max_forwards: Option<u8>,
    }

    #[derive(Debug, Deserialize, PartialEq)]
    struct Toy {
        pet: u8,
        toy: String,
    }

    #[test]
    fn headers_are_the_fields_of_a_struct() {
        let mut headers = HeaderMap::new();
        for (name, value) in [("if-match", "\"1\""), ("max-forwards", "7"), ("host", "localhost")] {
            headers.insert(name, value.parse().unwrap());
        }
        let expected = Conditions { if_match: Some("\"1\"".to_owned()), max_forwards: Some(7) };
        assert_eq!(Conditions::deserialize(Parameters::Header(&headers)).unwrap(), expected);
        headers.append("max-forwards", "8".parse().unwrap());
        let error = Conditions::deserialize(Parameters::Header(&headers)).unwrap_err();
        assert_eq!(error.to_string(), "duplicate field `max-forwards`");
    }

    #[test]
    fn path_parameters_are_the_variables_of_the_template() {
        let path = |template, path| Toy::deserialize(Parameters::Path { template, path });
        let toy = Toy { pet: 7, toy: "a b".to_owned() };
        assert_eq!(path("/v1/pets/{pet}/toys/{toy}", "/v1/pets/7/toys/a%20b").unwrap(), toy);
        assert_eq!(path("/{toy}/{pet}/all", "/a%20b/7/all").unwrap(), toy);
        assert_eq!(path("/v1/{pet}", "/v1/7").unwrap_err().to_string(), "missing field `toy`");
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

    #[test]
    fn only_the_text_of_a_segment_is_decoded() {
        let text = |segment| String::deserialize(Text::Segment(segment)).ok();
        assert_eq!(text("a%20%C3%A9"), Some("a \u{e9}".to_owned()));
        assert_eq!(text("%ff"), None);
        assert_eq!(u8::deserialize(Text::Segment("%31")).ok(), None);
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
