//! `getPet`: `GET /pets/{petId}`, deprecated.

use std::fmt;

use dropshot::{HttpResponseOk, RequestContext, endpoint};
use schemars::JsonSchema;
use serde::de::{self, Visitor};
use serde::{Deserialize, Deserializer};

use crate::http::call::{Call, Path};
use crate::http::error::{ApiError, HandlerResult};
use crate::http::error_code::{ErrorCode, ErrorCodes};
use crate::http::response::Written;
use crate::schemas::Pet;
use crate::service::Service;
use crate::storage::StoreError;

/// Get an animal.
#[endpoint {
    method = GET,
    path = "/pets/{petId}",
    operation_id = "getPet",
    tags = ["animals"],
    deprecated = true,
}]
pub(super) async fn get_pet(
    context: RequestContext<Service>,
    call: Call<Path<GetPet>, GetPetError>,
) -> HandlerResult<Written<HttpResponseOk<Pet>>> {
    call.handle(context, |service, Path(GetPet { pet_id })| async move {
        let pet = service.store.pet(pet_id).await?;
        pet.as_ref().map(Written::new).ok_or(GetPetError::NotFound)
    })
    .await
}

/// The path parameters.
#[derive(Debug, Deserialize, JsonSchema)]
pub(super) struct GetPet {
    #[serde(rename = "petId", deserialize_with = "canonical")]
    pet_id: i64,
}

/// Parses an integer in its canonical spelling: `+1` and `01` are not the animal 1.
fn canonical<'de, D: Deserializer<'de>>(deserializer: D) -> Result<i64, D::Error> {
    deserializer.deserialize_str(Canonical)
}

/// Reads the text where it is: a `String` would copy it.
struct Canonical;

impl Visitor<'_> for Canonical {
    type Value = i64;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an identifier")
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<i64, E> {
        let digits = text.strip_prefix('-').unwrap_or(text);
        // Also rejects `-0`. `parse` rejects what is left.
        let is_canonical =
            text == "0" || digits.bytes().next().is_some_and(|first| matches!(first, b'1'..=b'9'));
        let id = text.parse().ok().filter(|_| is_canonical);
        id.ok_or_else(|| E::custom("not an identifier"))
    }
}

/// Why `getPet` failed.
#[derive(Debug)]
pub(super) enum GetPetError {
    NotFound,
    Store(StoreError),
}

impl ErrorCodes for GetPetError {
    const CODES: &'static [ErrorCode] = &[ErrorCode::NotFound, ErrorCode::Internal, ErrorCode::Unavailable];
}

impl From<StoreError> for GetPetError {
    fn from(error: StoreError) -> Self {
        Self::Store(error)
    }
}

impl From<GetPetError> for ApiError {
    fn from(error: GetPetError) -> Self {
        match error {
            GetPetError::NotFound => Self::NotFound("there is no animal with this petId"),
            GetPetError::Store(error) => error.into(),
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde::de::IntoDeserializer as _;
    use serde::de::value::{Error, StrDeserializer};

    use super::*;

    fn parsed(text: &str) -> Option<i64> {
        let text: StrDeserializer<'_, Error> = text.into_deserializer();
        canonical(text).ok()
    }

    proptest! {
        #[test]
        fn an_identifier_is_what_its_number_is_written_as(text in "[-+]{0,2}[0-9]{0,20}|\\PC*", id: i64) {
            let number: Option<i64> = text.parse().ok();
            prop_assert_eq!(parsed(&text), number.filter(|number| number.to_string() == text));
            prop_assert_eq!(parsed(&id.to_string()), Some(id));
        }
    }
}
