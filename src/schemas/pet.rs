//! `Pet`, `NewPet`, `PetStatus` and `Pets`.

use schemars::JsonSchema;
use schemars::r#gen::SchemaGenerator;
use schemars::schema::{ArrayValidation, InstanceType, Schema, SchemaObject};
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::value::RawValue;

use super::json::{WriteJson, push_integer, push_string};
use super::name::PetName;

/// An animal as the service returns it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Pet {
    /// Assigned by the service.
    pub id: i64,
    /// Unchanged.
    pub name: PetName,
    /// The identifier of the category. This service does not manage categories.
    pub category_id: i64,
    #[allow(missing_docs)] // A doc comment would wrap the `$ref` in an `allOf`.
    #[schemars(with = "PetStatus")]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status: Option<PetStatus>,
}

impl WriteJson for Pet {
    fn write_json(&self, json: &mut Vec<u8>) {
        let Self { id, name, category_id, status } = self;
        json.extend_from_slice(b"{\"id\":");
        push_integer(json, *id);
        json.extend_from_slice(b",\"name\":");
        push_string(json, name.as_str());
        json.extend_from_slice(b",\"categoryId\":");
        push_integer(json, *category_id);
        if let Some(status) = status {
            // No status has a character to escape.
            json.extend_from_slice(b",\"status\":\"");
            json.extend_from_slice(status.as_str().as_bytes());
            json.push(b'"');
        }
        json.push(b'}');
    }
}

/// The size of the JSON of most animals.
const USUAL_BYTES: usize = 80;

/// A new animal.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct NewPet {
    /// 1 to 255 characters.
    #[serde(deserialize_with = "required")]
    pub name: PetName,
    /// Any 64-bit integer.
    #[serde(deserialize_with = "int64")]
    pub category_id: i64,
    #[allow(missing_docs)] // As above. Optional, but not null.
    #[schemars(with = "PetStatus")]
    #[serde(default, deserialize_with = "present", skip_serializing_if = "Option::is_none")]
    pub status: Option<PetStatus>,
}

/// The status of an animal in the store.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
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
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Available => "available",
            Self::Pending => "pending",
            Self::Sold => "sold",
        }
    }

    /// Returns the status with this value, compared with case.
    pub fn from_word(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|status| status.as_str() == word)
    }
}

// Written by hand: the derived message repeats the value, which may be a secret.
impl<'de> Deserialize<'de> for PetStatus {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let unknown = || D::Error::custom("must be one of available, pending, sold");
        let word = std::borrow::Cow::<str>::deserialize(deserializer).map_err(|_| unknown())?;
        Self::from_word(&word).ok_or_else(unknown)
    }
}

/// A page of animals.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Pets(pub Vec<Pet>);

impl Pets {
    /// The maximum number of animals on a page.
    pub const MAX_ITEMS: u32 = 100;
}

impl JsonSchema for Pets {
    fn schema_name() -> String {
        "Pets".to_owned()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        Schema::Object(SchemaObject {
            instance_type: Some(InstanceType::Array.into()),
            array: Some(Box::new(ArrayValidation {
                items: Some(generator.subschema_for::<Pet>().into()),
                max_items: Some(Self::MAX_ITEMS),
                ..Default::default()
            })),
            ..Default::default()
        })
    }
}

impl WriteJson for Pets {
    fn write_json(&self, json: &mut Vec<u8>) {
        json.reserve(self.0.len() * USUAL_BYTES);
        json.push(b'[');
        for (index, pet) in self.0.iter().enumerate() {
            if index > 0 {
                json.push(b',');
            }
            pet.write_json(json);
        }
        json.push(b']');
    }
}

/// Parses an integer literal of 64 bits. serde_json rejects `1.0` and `1e3`, as it should, but also `-0`.
fn int64<'de, D: Deserializer<'de>>(deserializer: D) -> Result<i64, D::Error> {
    let literal = <&RawValue>::deserialize(deserializer)?;
    literal
        .get()
        .parse()
        .map_err(|_| D::Error::custom(format_args!("must be an integer from {} to {}", i64::MIN, i64::MAX)))
}

/// Parses a required value. With a function, serde reports a missing field as missing, not as one of the
/// wrong type.
fn required<'de, D: Deserializer<'de>, T: Deserialize<'de>>(deserializer: D) -> Result<T, D::Error> {
    T::deserialize(deserializer)
}

/// Parses an optional value that must not be `null`.
pub(crate) fn present<'de, D: Deserializer<'de>, T: Deserialize<'de>>(
    deserializer: D,
) -> Result<Option<T>, D::Error> {
    T::deserialize(deserializer).map(Some)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn any_pet() -> impl Strategy<Value = Pet> {
        let status = proptest::option::of(proptest::sample::select(PetStatus::ALL.to_vec()));
        let name = "[^\u{0}]{1,255}|[ -~]{1,40}";
        (any::<i64>(), name, any::<i64>(), status).prop_map(|(id, name, category_id, status)| Pet {
            id,
            name: PetName::new(name).unwrap(),
            category_id,
            status,
        })
    }

    proptest! {
        #[test]
        fn the_json_is_the_same_as_with_serde(pets in proptest::collection::vec(any_pet(), 0..3)) {
            let pets = Pets(pets);
            let mut json = Vec::new();
            pets.write_json(&mut json);
            prop_assert_eq!(String::from_utf8(json).unwrap(), serde_json::to_string(&pets).unwrap());
        }
    }
}
