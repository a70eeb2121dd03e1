//! `createPet`: `POST /pets`.

use schemars::JsonSchema;
use schemars::r#gen::SchemaGenerator;
use schemars::schema::{InstanceType, Schema, SchemaObject};
use serde::Serialize;

use crate::http::BASE_PATH;
use crate::http::dropshot::{
    self, HttpResponseCreated, HttpResponseError, HttpResponseHeaders, RequestContext, TypedBody, endpoint,
};
use crate::http::error_code::ErrorCode;
use crate::schemas::{NewPet, Pet};
use crate::service::Service;
use crate::storage::{AddedOnce, IdempotencyKey, StoreError};

/// The boolean "true" (RFC 9651, section 3.3.6).
const TRUE: &str = "?1";

/// Add an animal.
#[endpoint {
    method = POST,
    path = "/pets",
    operation_id = "createPet",
    tags = ["animals"],
}]
pub(super) async fn create_pet(
    context: RequestContext<Service>,
    key: Option<IdempotencyKey>,
    body: TypedBody<NewPet>,
) -> Result<HttpResponseHeaders<HttpResponseCreated<Pet>, Created>, CreatePetError> {
    let (store, new) = (&context.context().store, body.into_inner());
    let (pet, replayed) = match key {
        None => (store.add_pet(new).await?, None),
        Some(key) => match store.add_pet_once(new, key).await? {
            AddedOnce::Now(pet) => (pet, None),
            AddedOnce::Before(pet) => (pet, Some(TRUE)),
            AddedOnce::Differs => return Err(CreatePetError::KeyReused),
        },
    };
    let location = format!("{BASE_PATH}/pets/{}", pet.id);
    Ok(HttpResponseHeaders::new(HttpResponseCreated(pet), Created { location, replayed }))
}

/// The response headers.
#[derive(Serialize, JsonSchema)]
pub(super) struct Created {
    /// The path of the new animal (RFC 9110, section 10.2.2).
    #[serde(rename = "Location")]
    location: String,
    /// [`TRUE`] if an earlier request added the animal, else absent.
    #[schemars(schema_with = "only_true")]
    #[serde(rename = "Idempotency-Replayed", default, skip_serializing_if = "Option::is_none")]
    replayed: Option<&'static str>,
}

fn only_true(_: &mut SchemaGenerator) -> Schema {
    Schema::Object(SchemaObject {
        instance_type: Some(InstanceType::String.into()),
        enum_values: Some(Vec::from([TRUE.into()])),
        ..Default::default()
    })
}

/// Why `createPet` failed.
#[derive(Debug, thiserror::Error)]
pub(super) enum CreatePetError {
    #[error("this Idempotency-Key was sent with a different animal; send a new key for each animal")]
    KeyReused,
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl HttpResponseError for CreatePetError {
    const CODES: &'static [ErrorCode] = &[ErrorCode::IdempotencyKeyReused];

    fn code(&self) -> ErrorCode {
        match self {
            Self::KeyReused => ErrorCode::IdempotencyKeyReused,
            Self::Store(error) => error.code(),
        }
    }
}
