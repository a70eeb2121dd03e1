//! The name of an book.

use schemars::JsonSchema;
use schemars::r#gen::SchemaGenerator;
use schemars::schema::{InstanceType, Schema, SchemaObject, StringValidation};
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize};

/// The name of an book: 1 to 255 characters (Unicode scalar values), none of them U+0000, which
/// PostgreSQL could not keep.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct BookName(String);

/// The fewest characters a name has.
const MIN_CHARACTERS: u32 = 1;
/// The most characters a name has.
const MAX_CHARACTERS: u32 = 255;
/// No U+0000, as an ECMA-262 regular expression.
const PATTERN: &str = r"^[^\u0000]*$";

impl BookName {
    /// The name, if it is one.
    ///
    /// # Errors
    /// What is wrong with it, as the end of a sentence that begins with the field.
    pub fn new(name: String) -> Result<Self, String> {
        // A character has one byte at least, so a long string is refused without counting it all.
        let characters = name.chars().take(MAX_CHARACTERS as usize + 1).count();
        if !(MIN_CHARACTERS as usize..=MAX_CHARACTERS as usize).contains(&characters) {
            return Err(format!("must have {MIN_CHARACTERS} to {MAX_CHARACTERS} characters"));
        }
        if name.contains('\0') {
            return Err("must not contain U+0000".to_owned());
        }
        Ok(Self(name))
    }

    /// The name as it was sent.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The name as it was sent.
    pub fn into_string(self) -> String {
        self.0
    }
}

impl<'de> Deserialize<'de> for BookName {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        // serde's own message would repeat what was sent.
        let name = String::deserialize(deserializer).map_err(|_| D::Error::custom("must be a string"))?;
        Self::new(name).map_err(D::Error::custom)
    }
}

impl JsonSchema for BookName {
    fn schema_name() -> String {
        "BookName".to_owned()
    }

    fn is_referenceable() -> bool {
        false
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        Schema::Object(SchemaObject {
            instance_type: Some(InstanceType::String.into()),
            string: Some(Box::new(StringValidation {
                min_length: Some(MIN_CHARACTERS),
                max_length: Some(MAX_CHARACTERS),
                pattern: Some(PATTERN.to_owned()),
            })),
            ..Default::default()
        })
    }
}
