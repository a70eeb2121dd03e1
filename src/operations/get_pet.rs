//! `getPet`: `GET /pets/{petId}`, deprecated.

use dropshot::{HttpResponseOk, RequestContext, endpoint};
use schemars::JsonSchema;
use serde::de::Error as _;
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
    let text = String::deserialize(deserializer)?;
    let id: Option<i64> = text.parse().ok();
    id.filter(|id| id.to_string() == text).ok_or_else(|| D::Error::custom("not an identifier"))
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
