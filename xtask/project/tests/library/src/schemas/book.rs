//! A fixture that is parsed and never compiled: findings about the frozen documents refer to its lines.

use schemars::JsonSchema;
use schemars::r#gen::SchemaGenerator;
use schemars::schema::{ArrayValidation, InstanceType, Schema, SchemaObject};
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::value::RawValue;

use super::BookName;
use crate::operations::MAX_LIMIT;

#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Book {
    pub id: i64,
    pub name: BookName,
    pub shelf_id: i64,
    #[allow(missing_docs)]
    #[schemars(with = "BookStatus")]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status: Option<BookStatus>,
}

#[derive(Clone, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct NewBook {
    #[serde(deserialize_with = "required")]
    pub name: BookName,
    #[serde(deserialize_with = "int64")]
    pub shelf_id: i64,
    #[allow(missing_docs)]
    #[schemars(with = "BookStatus")]
    #[serde(default, deserialize_with = "present", skip_serializing_if = "Option::is_none")]
    pub status: Option<BookStatus>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[allow(missing_docs)]
pub enum BookStatus {
    Available,
    Pending,
    Sold,
}

impl BookStatus {
    pub const ALL: [Self; 3] = [Self::Available, Self::Pending, Self::Sold];

    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Available => "available",
            Self::Pending => "pending",
            Self::Sold => "sold",
        }
    }

    pub fn from_word(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|status| status.as_str() == word)
    }
}

impl<'de> Deserialize<'de> for BookStatus {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let not_one = || D::Error::custom("must be one of available, pending, sold");
        let word = std::borrow::Cow::<str>::deserialize(deserializer).map_err(|_| not_one())?;
        Self::from_word(&word).ok_or_else(not_one)
    }
}

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

fn int64<'de, D: Deserializer<'de>>(deserializer: D) -> Result<i64, D::Error> {
    let literal = <&RawValue>::deserialize(deserializer)?;
    literal
        .get()
        .parse()
        .map_err(|_| D::Error::custom(format_args!("must be an integer from {} to {}", i64::MIN, i64::MAX)))
}

fn required<'de, D: Deserializer<'de>, T: Deserialize<'de>>(deserializer: D) -> Result<T, D::Error> {
    T::deserialize(deserializer)
}

pub(crate) fn present<'de, D: Deserializer<'de>, T: Deserialize<'de>>(
    deserializer: D,
) -> Result<Option<T>, D::Error> {
    T::deserialize(deserializer).map(Some)
}
