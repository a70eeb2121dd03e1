//! `createPet`: `POST /pets`.

use dropshot::{HttpResponseCreated, HttpResponseHeaders};
use http::Method;
use schemars::JsonSchema;
use schemars::r#gen::SchemaGenerator;
use schemars::schema::Schema;
use serde::Serialize;

use super::ANIMALS;
use crate::http::{ApiError, AuthenticatedRequest, BASE_PATH, ErrorCode, Json, Operation};
use crate::schemas::{NewPet, Pet};
use crate::storage::{AddedOnce, IdempotencyKey};

/// The boolean "true" (RFC 9651, section 3.3.6).
const TRUE: &str = "?1";

pub(super) fn operation() -> Operation {
    Operation::new(Method::POST, "/pets", "createPet", create_pet)
        .tag(ANIMALS)
        .fails_with(&[ErrorCode::IdempotencyKeyReused])
}

async fn create_pet(
    request: AuthenticatedRequest,
    key: Option<IdempotencyKey>,
    Json(new): Json<NewPet>,
) -> Result<HttpResponseHeaders<HttpResponseCreated<Pet>, Created>, ApiError> {
    let store = &request.service.store;
    let (pet, replayed) = match key {
        None => (store.add_pet(new).await?, None),
        Some(key) => match store.add_pet_once(new, key).await? {
            AddedOnce::Now(pet) => (pet, None),
            AddedOnce::Before(pet) => (pet, Some(TRUE)),
            AddedOnce::Differs => {
                return Err(ApiError::new(
                    ErrorCode::IdempotencyKeyReused,
                    "this Idempotency-Key was sent with a different animal; send a new key for each animal",
                ));
            }
        },
    };
    let location = format!("{BASE_PATH}/pets/{}", pet.id);
    Ok(HttpResponseHeaders::new(HttpResponseCreated(pet), Created { location, replayed }))
}

/// The response headers.
#[derive(Serialize, JsonSchema)]
struct Created {
    /// The path of the new animal (RFC 9110, section 10.2.2).
    #[serde(rename = "Location")]
    location: String,
    /// [`TRUE`] if an earlier request added the animal, else absent.
    #[schemars(schema_with = "only_true")]
    #[serde(rename = "Idempotency-Replayed", default, skip_serializing_if = "Option::is_none")]
    replayed: Option<&'static str>,
}

fn only_true(generator: &mut SchemaGenerator) -> Schema {
    let mut schema = String::json_schema(generator).into_object();
    schema.enum_values = Some(vec![TRUE.into()]);
    schema.into()
}
