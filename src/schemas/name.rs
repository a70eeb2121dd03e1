//! The name of an animal.

use schemars::JsonSchema;
use schemars::r#gen::SchemaGenerator;
use schemars::schema::{InstanceType, Schema, SchemaObject, StringValidation};
use serde::{Deserialize, Serialize};

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

    /// Returns the name unchanged.
    pub fn into_string(self) -> String {
        self.0
    }
}

impl JsonSchema for PetName {
    fn schema_name() -> String {
        "PetName".to_owned()
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
