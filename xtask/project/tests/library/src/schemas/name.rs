//! A fixture that is parsed and never compiled: findings about the frozen documents refer to its lines.

use schemars::JsonSchema;
use schemars::r#gen::SchemaGenerator;
use schemars::schema::{InstanceType, Schema, SchemaObject, StringValidation};
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize};

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct BookName(String);

const MIN_CHARACTERS: u32 = 1;
const MAX_CHARACTERS: u32 = 255;
const PATTERN: &str = r"^[^\u0000]*$";

impl BookName {
    pub fn new(name: String) -> Result<Self, String> {
        let characters = name.chars().take(MAX_CHARACTERS as usize + 1).count();
        if !(MIN_CHARACTERS as usize..=MAX_CHARACTERS as usize).contains(&characters) {
            return Err(format!("must have {MIN_CHARACTERS} to {MAX_CHARACTERS} characters"));
        }
        if name.contains('\0') {
            return Err("must not contain U+0000".to_owned());
        }
        Ok(Self(name))
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }

    pub fn into_string(self) -> String {
        self.0
    }
}

impl<'de> Deserialize<'de> for BookName {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
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
