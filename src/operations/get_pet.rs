//! `getPet`: `GET /pets/{petId}`, deprecated.

use dropshot::HttpResponseOk;
use http::Method;
use schemars::JsonSchema;
use serde::Deserialize;

use super::ANIMALS;
use crate::http::{ApiError, AuthenticatedRequest, ErrorCode, Operation, Path};
use crate::schemas::Pet;

pub(super) fn operation() -> Operation {
    Operation::new(Method::GET, "/pets/{petId}", "getPet", get_pet)
        .tag(ANIMALS)
        .deprecated()
        .fails_with(&[ErrorCode::NotFound])
}

/// The path parameters.
#[derive(Deserialize, JsonSchema)]
struct GetPet {
    #[serde(rename = "petId")]
    pet_id: i64,
}

async fn get_pet(
    request: AuthenticatedRequest,
    Path(GetPet { pet_id }): Path<GetPet>,
) -> Result<HttpResponseOk<Pet>, ApiError> {
    let pet = request.service.store.pet(pet_id).await?;
    let missing = || ApiError::new(ErrorCode::NotFound, "there is no animal with this petId");
    pet.map(HttpResponseOk).ok_or_else(missing)
}
