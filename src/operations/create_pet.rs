//! `createPet`: `POST /pets`.

use dropshot::{HttpResponseCreated, HttpResponseHeaders, RequestContext, endpoint};
use http::header::{HeaderMap, HeaderName, HeaderValue, LOCATION};
use jiff::Timestamp;
use schemars::JsonSchema;
use schemars::r#gen::SchemaGenerator;
use schemars::schema::{InstanceType, Schema, SchemaObject};
use serde::Serialize;

use crate::http::BASE_PATH;
use crate::http::call::{Call, Json};
use crate::http::error::{ApiError, HandlerResult};
use crate::http::error_code::{ErrorCode, ErrorCodes};
use crate::http::idempotency_key::Idempotency;
use crate::http::response::{Headers, Written};
use crate::schemas::{NewPet, Pet};
use crate::service::Service;
use crate::storage::{AddedOnce, StoreError};

const REPLAYED: HeaderName = HeaderName::from_static("idempotency-replayed");
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
    call: Call<(Idempotency, Json<NewPet>), CreatePetError>,
) -> HandlerResult<Written<HttpResponseHeaders<HttpResponseCreated<Pet>, Created>>> {
    call.handle(context, |service, (Idempotency(key), Json(new))| async move {
        let (pet, is_replayed) = match key {
            None => (service.store.add_pet(new).await?, false),
            Some(key) => match service.store.add_pet_once(new, key, Timestamp::now()).await? {
                AddedOnce::Now(pet) => (pet, false),
                AddedOnce::Before(pet) => (pet, true),
                AddedOnce::Differs => return Err(CreatePetError::KeyReused),
            },
        };
        // `format!` takes twice the instructions.
        let location = [BASE_PATH, "/pets/", &pet.id.to_string()].concat();
        Ok(Written::new(&pet).with(Created { location, replayed: is_replayed.then_some(TRUE) }))
    })
    .await
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

impl Headers for Created {
    fn add_to(self, headers: &mut HeaderMap) {
        // A path with a number is always a header value.
        headers.extend(HeaderValue::try_from(self.location).map(|location| (LOCATION, location)));
        headers.extend(self.replayed.map(|replayed| (REPLAYED, HeaderValue::from_static(replayed))));
    }
}

/// Why `createPet` failed.
#[derive(Debug)]
pub(super) enum CreatePetError {
    /// An animal that differs has the idempotency key.
    KeyReused,
    Store(StoreError),
}

impl ErrorCodes for CreatePetError {
    const CODES: &'static [ErrorCode] =
        &[ErrorCode::IdempotencyKeyReused, ErrorCode::Internal, ErrorCode::Unavailable];
}

impl From<StoreError> for CreatePetError {
    fn from(error: StoreError) -> Self {
        Self::Store(error)
    }
}

impl From<CreatePetError> for ApiError {
    fn from(error: CreatePetError) -> Self {
        match error {
            CreatePetError::KeyReused => Self::IdempotencyKeyReused,
            CreatePetError::Store(error) => error.into(),
        }
    }
}
