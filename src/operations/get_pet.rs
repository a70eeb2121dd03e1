//! `getPet`: `GET /pets/{petId}`, deprecated.

use schemars::JsonSchema;
use serde::Deserialize;

use crate::http::dropshot::{self, HttpResponseError, HttpResponseOk, Path, RequestContext, endpoint};
use crate::http::error_code::ErrorCode;
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
    path: Path<GetPet>,
) -> Result<HttpResponseOk<Pet>, GetPetError> {
    let pet = context.context().store.pet(path.into_inner().pet_id).await?;
    pet.map(HttpResponseOk).ok_or(GetPetError::NotFound)
}

/// The path parameters.
#[derive(Debug, Deserialize, JsonSchema)]
pub(super) struct GetPet {
    #[serde(rename = "petId")]
    pet_id: i64,
}

/// Why `getPet` failed.
#[derive(Debug, thiserror::Error)]
pub(super) enum GetPetError {
    #[error("there is no animal with this petId")]
    NotFound,
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl HttpResponseError for GetPetError {
    const CODES: &'static [ErrorCode] = &[ErrorCode::NotFound];

    fn code(&self) -> ErrorCode {
        match self {
            Self::NotFound => ErrorCode::NotFound,
            Self::Store(error) => error.code(),
        }
    }
}
