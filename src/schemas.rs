//! The types of `components/schemas`, and the limits that several layers share.
//!
//! Each limit is one constant: the validation and the JSON schema use the same one.

use std::borrow::Cow;
use std::fmt;

use schemars::JsonSchema;
use serde::de::{self, Error as _, Unexpected, Visitor};
use serde::{Deserialize, Deserializer, Serialize};
use strum::{EnumString, IntoStaticStr};

/// The body of every error response.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error, Serialize, JsonSchema)]
#[error("{status} {code}: {message}")]
pub struct Error {
    /// The error code, for programs.
    pub code: Cow<'static, str>,
    /// What to change, for people.
    pub message: Cow<'static, str>,
    /// The HTTP status code.
    #[schemars(range(min = 400, max = 599))]
    pub status: u16,
}

/// An animal as the service returns it.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Pet {
    /// Assigned by the service.
    pub id: i64,
    /// The name, exactly as the client sent it.
    #[schemars(with = "String", length(min = "MIN_CHARACTERS", max = "MAX_CHARACTERS"), regex = "PATTERN")]
    pub name: PetName,
    /// The identifier of the category. This service does not manage categories.
    pub category_id: i64,
    #[allow(missing_docs)] // A doc comment would wrap the `$ref` in an `allOf`.
    #[schemars(with = "PetStatus")]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status: Option<PetStatus>,
}

/// A new animal.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct NewPet {
    /// 1 to 255 characters.
    #[schemars(with = "String", length(min = "MIN_CHARACTERS", max = "MAX_CHARACTERS"), regex = "PATTERN")]
    pub name: PetName,
    /// Any 64-bit integer.
    pub category_id: i64,
    #[allow(missing_docs)] // As above.
    #[schemars(with = "PetStatus")]
    #[serde(default, deserialize_with = "not_null", skip_serializing_if = "Option::is_none")]
    pub status: Option<PetStatus>,
}

/// Reads a field that may be absent and not null.
fn not_null<'de, D: Deserializer<'de>, T: Deserialize<'de>>(deserializer: D) -> Result<Option<T>, D::Error> {
    Option::deserialize(deserializer)?.map(Some).ok_or_else(|| D::Error::custom("must not be null"))
}

/// The name of an animal: 1 to 255 characters (Unicode scalar values) without U+0000, which PostgreSQL cannot
/// store.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(try_from = "String")]
pub struct PetName(String);

const MIN_CHARACTERS: u32 = 1;
const MAX_CHARACTERS: u32 = 255;
/// Excludes U+0000 (ECMA-262 regular expression).
const PATTERN: &str = r"^[^\u0000]*$";

impl TryFrom<String> for PetName {
    /// The end of a sentence that begins with the field.
    type Error = String;

    fn try_from(name: String) -> Result<Self, String> {
        // A character has one byte or more. Counting stops after the limit.
        let is_too_long = |max: usize| name.len() > max && name.chars().take(max + 1).count() > max;
        if name.len() < MIN_CHARACTERS as usize || is_too_long(MAX_CHARACTERS as usize) {
            return Err(format!("must have {MIN_CHARACTERS} to {MAX_CHARACTERS} characters"));
        }
        if name.contains('\0') {
            return Err("must not contain U+0000".to_owned());
        }
        Ok(Self(name))
    }
}

impl PetName {
    /// Returns the name unchanged.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// The status of an animal in the store.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, JsonSchema, EnumString, IntoStaticStr)]
#[serde(rename_all = "lowercase")]
#[strum(serialize_all = "lowercase")]
#[allow(missing_docs)] // Documented variants would become a `oneOf` of three enums.
pub enum PetStatus {
    Available,
    Pending,
    Sold,
}

impl PetStatus {
    /// All statuses, in the order of the document.
    pub const ALL: [Self; 3] = [Self::Available, Self::Pending, Self::Sold];

    /// Returns the value in JSON and in the database.
    pub fn as_str(self) -> &'static str {
        self.into()
    }

    /// Returns the status with this value, compared with case.
    pub fn from_word(word: &str) -> Option<Self> {
        word.parse().ok()
    }
}

// The derived one accepts an object, `{"sold": null}`, and calls a number invalid JSON.
impl<'de> Deserialize<'de> for PetStatus {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Word;

        impl Visitor<'_> for Word {
            type Value = PetStatus;

            fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(formatter, "one of {}", PetStatus::ALL.map(PetStatus::as_str).join(", "))
            }

            fn visit_str<E: de::Error>(self, word: &str) -> Result<PetStatus, E> {
                PetStatus::from_word(word).ok_or_else(|| E::invalid_value(Unexpected::Str(word), &self))
            }
        }

        deserializer.deserialize_str(Word)
    }
}

/// A page of animals.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Pets(#[schemars(length(max = "Pets::MAX_ITEMS"))] pub Vec<Pet>);

impl Pets {
    /// The maximum number of animals on a page.
    pub const MAX_ITEMS: u32 = 100;
}
