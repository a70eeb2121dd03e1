//! `Book`, `NewBook`, `BookStatus` and `Books`.

use schemars::JsonSchema;
use schemars::r#gen::SchemaGenerator;
use schemars::schema::{ArrayValidation, InstanceType, Schema, SchemaObject};
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::value::RawValue;

use super::BookName;
use crate::operations::MAX_LIMIT;

/// An book as the service returns it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Book {
    /// Given by the service when the book is added.
    pub id: i64,
    /// Exactly as it was sent.
    pub name: BookName,
    /// The shelf's identifier; shelves are not ours to know.
    pub shelf_id: i64,
    #[allow(missing_docs)] // A doc comment would wrap the `$ref` in an `allOf`.
    #[schemars(with = "BookStatus")]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status: Option<BookStatus>,
}

/// The body that adds an book.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct NewBook {
    /// 1 to 255 characters.
    #[serde(deserialize_with = "required")]
    pub name: BookName,
    /// Any 64-bit integer.
    #[serde(deserialize_with = "int64")]
    pub shelf_id: i64,
    #[allow(missing_docs)] // As above. May be left out, not null.
    #[schemars(with = "BookStatus")]
    #[serde(default, deserialize_with = "present", skip_serializing_if = "Option::is_none")]
    pub status: Option<BookStatus>,
}

/// Whether the book can be had.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[allow(missing_docs)] // Documented variants would become a `oneOf` of three enums.
pub enum BookStatus {
    Available,
    Pending,
    Sold,
}

impl BookStatus {
    /// All of them, in the document's order.
    pub const ALL: [Self; 3] = [Self::Available, Self::Pending, Self::Sold];

    /// The word on the wire and in the store.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Available => "available",
            Self::Pending => "pending",
            Self::Sold => "sold",
        }
    }

    /// The status with this word, if there is one. Case matters.
    pub fn from_word(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|status| status.as_str() == word)
    }
}

// By hand, because the derived message repeats the value that was sent, which may be a secret.
impl<'de> Deserialize<'de> for BookStatus {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let not_one = || D::Error::custom("must be one of available, pending, sold");
        let word = std::borrow::Cow::<str>::deserialize(deserializer).map_err(|_| not_one())?;
        Self::from_word(&word).ok_or_else(not_one)
    }
}

/// A page of books.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Books(pub Vec<Book>);

impl JsonSchema for Books {
    fn schema_name() -> String {
        "Books".to_owned()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        Schema::Object(SchemaObject {
            instance_type: Some(InstanceType::Array.into()),
            array: Some(Box::new(ArrayValidation {
                items: Some(generator.subschema_for::<Book>().into()),
                max_items: Some(MAX_LIMIT),
                ..Default::default()
            })),
            ..Default::default()
        })
    }
}

/// An integer literal in the range of int64: neither `1.0` nor `1e3`, which serde_json would refuse
/// anyway, but `-0`, which it would not take for an integer.
fn int64<'de, D: Deserializer<'de>>(deserializer: D) -> Result<i64, D::Error> {
    let literal = <&RawValue>::deserialize(deserializer)?;
    literal
        .get()
        .parse()
        .map_err(|_| D::Error::custom(format_args!("must be an integer from {} to {}", i64::MIN, i64::MAX)))
}

/// A value that must be there. Said this way, serde reports a missing field itself; otherwise it asks the
/// type, which would say that it must be something else.
fn required<'de, D: Deserializer<'de>, T: Deserialize<'de>>(deserializer: D) -> Result<T, D::Error> {
    T::deserialize(deserializer)
}

/// A value that may be left out, but not sent as `null`.
pub(crate) fn present<'de, D: Deserializer<'de>, T: Deserialize<'de>>(
    deserializer: D,
) -> Result<Option<T>, D::Error> {
    T::deserialize(deserializer).map(Some)
}
