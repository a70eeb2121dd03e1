//! `listPets`: `GET /pets`.

use dropshot::{HttpResponseHeaders, HttpResponseOk, RequestContext, endpoint};
use http::header::{HeaderMap, HeaderValue, LINK};
use schemars::JsonSchema;
use schemars::r#gen::SchemaGenerator;
use schemars::schema::{InstanceType, NumberValidation, Schema, SchemaObject};
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize};

use crate::http::BASE_PATH;
use crate::http::call::{Call, Query};
use crate::http::error::{ApiError, HandlerResult};
use crate::http::error_code::{ErrorCode, ErrorCodes};
use crate::http::response::{Headers, Written};
use crate::schemas::{PetStatus, Pets, present};
use crate::service::Service;
use crate::storage::{PetsQuery, StoreError};

/// List animals.
#[endpoint {
    method = GET,
    path = "/pets",
    operation_id = "listPets",
    tags = ["animals"],
}]
pub(super) async fn list_pets(
    context: RequestContext<Service>,
    call: Call<Query<ListPets>, ListPetsError>,
) -> HandlerResult<Written<HttpResponseHeaders<HttpResponseOk<Pets>, NextPage>>> {
    call.handle(context, |service, Query(parameters)| async move {
        let ListPets { limit: Limit(limit), status, cursor } = parameters;
        let verify = |cursor: String| service.cursors.verify(&cursor, status).ok_or(ListPetsError::Cursor);
        let after = cursor.map(verify).transpose()?;
        let found = service.store.pets(PetsQuery { status, after, limit }).await?;
        let next = found.pets.last().filter(|_| found.more).map(|last| {
            let cursor = service.cursors.sign(last.id, status);
            let limit = limit.to_string();
            let [name, status] = status.map_or([""; 2], |status| ["&status=", status.as_str()]);
            // `format!` takes twice the instructions.
            ["<", BASE_PATH, "/pets?limit=", &limit, name, status, "&cursor=", &cursor, ">; rel=\"next\""]
                .concat()
        });
        Ok(Written::new(&Pets(found.pets)).with(NextPage { link: next }))
    })
    .await
}

/// The query parameters.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct ListPets {
    #[serde(default)]
    limit: Limit,
    #[schemars(with = "PetStatus")]
    #[serde(default, deserialize_with = "present", skip_serializing_if = "Option::is_none")]
    status: Option<PetStatus>,
    #[schemars(with = "String", length(min = 1, max = 128))]
    #[serde(default, deserialize_with = "present", skip_serializing_if = "Option::is_none")]
    cursor: Option<String>,
}

/// The maximum number of animals on the page.
#[derive(Debug)]
struct Limit(u32);

impl Limit {
    const MIN: u32 = 1;
    const MAX: u32 = Pets::MAX_ITEMS;
}

impl Default for Limit {
    fn default() -> Self {
        Self(20)
    }
}

impl<'de> Deserialize<'de> for Limit {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        let digits = text.bytes().all(|byte| byte.is_ascii_digit());
        text.parse()
            .ok()
            .filter(|limit| digits && (Self::MIN..=Self::MAX).contains(limit))
            .map(Self)
            .ok_or_else(|| {
                D::Error::custom(format_args!("must be an integer from {} to {}", Self::MIN, Self::MAX))
            })
    }
}

// Written by hand: dropshot removes the default of a parameter, so the check reads it from `x-default`.
impl JsonSchema for Limit {
    fn schema_name() -> String {
        "Limit".to_owned()
    }

    fn is_referenceable() -> bool {
        false
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        Schema::Object(SchemaObject {
            instance_type: Some(InstanceType::Integer.into()),
            extensions: [("x-default".to_owned(), Self::default().0.into())].into(),
            number: Some(Box::new(NumberValidation {
                minimum: Some(Self::MIN.into()),
                maximum: Some(Self::MAX.into()),
                ..Default::default()
            })),
            ..Default::default()
        })
    }
}

/// The link to the next page (RFC 8288), if there is one.
#[derive(Serialize, JsonSchema)]
pub(super) struct NextPage {
    #[schemars(with = "String")]
    #[serde(rename = "Link", default, skip_serializing_if = "Option::is_none")]
    link: Option<String>,
}

impl Headers for NextPage {
    fn add_to(self, headers: &mut HeaderMap) {
        // Base64url and constant text are always a header value.
        headers.extend(self.link.and_then(|link| Some((LINK, HeaderValue::try_from(link).ok()?))));
    }
}

/// Why `listPets` failed.
#[derive(Debug)]
pub(super) enum ListPetsError {
    /// The cursor was not issued for this filter.
    Cursor,
    Store(StoreError),
}

impl ErrorCodes for ListPetsError {
    const CODES: &'static [ErrorCode] =
        &[ErrorCode::InvalidParameter, ErrorCode::Internal, ErrorCode::Unavailable];
}

impl From<StoreError> for ListPetsError {
    fn from(error: StoreError) -> Self {
        Self::Store(error)
    }
}

impl From<ListPetsError> for ApiError {
    fn from(error: ListPetsError) -> Self {
        match error {
            ListPetsError::Cursor => Self::InvalidParameter(
                "cursor must come from a next link, and must be used with the status of that link".to_owned(),
            ),
            ListPetsError::Store(error) => error.into(),
        }
    }
}
