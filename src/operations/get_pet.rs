//! `getPet`: `GET /pets/{petId}`, deprecated.

use dropshot::{HttpResponseOk, RequestContext, endpoint};
use schemars::JsonSchema;
use serde::de::Error as _;
use serde::{Deserialize, Deserializer};

use crate::http::call::Call;
use crate::http::input::Path;
use crate::http::responses::{Answer, Missing};
use crate::schemas::Pet;
use crate::service::Service;

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
    call: Call<Path<GetPet>, Missing>,
) -> Answer<HttpResponseOk<Pet>> {
    call.answer(context, |service, Path(GetPet { pet_id })| async move {
        let pet = service.store().pet(pet_id).await?;
        pet.map(HttpResponseOk).ok_or(Missing::NotFound("there is no animal with this petId"))
    })
    .await
}

/// Which animal.
#[derive(Debug, Deserialize, JsonSchema)]
pub(super) struct GetPet {
    #[serde(rename = "petId", deserialize_with = "canonical")]
    pet_id: i64,
}

/// An integer in its one spelling: `+1` and `01` do not name the animal 1.
fn canonical<'de, D: Deserializer<'de>>(deserializer: D) -> Result<i64, D::Error> {
    let text = String::deserialize(deserializer)?;
    let id: Option<i64> = text.parse().ok();
    id.filter(|id| id.to_string() == text).ok_or_else(|| D::Error::custom("not an identifier"))
}
