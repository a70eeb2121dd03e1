//! `listPets`: `GET /pets`.

use dropshot::{HttpResponseHeaders, HttpResponseOk};
use http::Method;
use schemars::JsonSchema;
use schemars::r#gen::SchemaGenerator;
use schemars::schema::Schema;
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize};

use super::ANIMALS;
use crate::http::{ApiError, AuthenticatedRequest, BASE_PATH, ErrorCode, Operation, Query};
use crate::schemas::{PetStatus, Pets};
use crate::storage::PetsQuery;

pub(super) fn operation() -> Operation {
    Operation::new(Method::GET, "/pets", "listPets", list_pets)
        .tag(ANIMALS)
        .fails_with(&[ErrorCode::InvalidParameter])
}

async fn list_pets(
    request: AuthenticatedRequest,
    Query(ListPets { limit, status, cursor }): Query<ListPets>,
) -> Result<HttpResponseHeaders<HttpResponseOk<Pets>, NextPage>, ApiError> {
    let service = &request.service;
    let invalid = "cursor must come from a next link, and must be used with the status of that link";
    let verify = |cursor: String| {
        let after = service.cursors.verify(&cursor, status);
        after.ok_or_else(|| ApiError::new(ErrorCode::InvalidParameter, invalid))
    };
    let after = cursor.map(verify).transpose()?;
    let found = service.store.pets(PetsQuery { status, after, limit }).await?;
    let link = found.pets.last().filter(|_| found.more).map(|last| {
        let cursor = service.cursors.sign(last.id, status);
        let status = status.map(|status| format!("&status={}", status.as_str())).unwrap_or_default();
        format!("<{BASE_PATH}/pets?limit={limit}{status}&cursor={cursor}>; rel=\"next\"")
    });
    Ok(HttpResponseHeaders::new(HttpResponseOk(Pets(found.pets)), NextPage { link }))
}

/// The query parameters.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct ListPets {
    #[schemars(schema_with = "limit_schema")]
    #[serde(default = "default_limit", deserialize_with = "limit")]
    limit: u32,
    #[schemars(with = "PetStatus")]
    #[serde(default)]
    status: Option<PetStatus>,
    #[schemars(with = "String", length(min = 1, max = 128))]
    #[serde(default)]
    cursor: Option<String>,
}

const MIN_LIMIT: u32 = 1;
const MAX_LIMIT: u32 = Pets::MAX_ITEMS;

fn default_limit() -> u32 {
    20
}

/// Parses decimal digits, also with leading zeros.
fn limit<'de, D: Deserializer<'de>>(deserializer: D) -> Result<u32, D::Error> {
    let text = String::deserialize(deserializer)?;
    let is_decimal = text.bytes().all(|byte| byte.is_ascii_digit());
    let limit = text.parse().ok().filter(|limit| is_decimal && (MIN_LIMIT..=MAX_LIMIT).contains(limit));
    limit.ok_or_else(|| D::Error::custom(format_args!("must be an integer from {MIN_LIMIT} to {MAX_LIMIT}")))
}

// Written by hand: dropshot removes the default of a parameter, so the check reads it from `x-default`.
fn limit_schema(generator: &mut SchemaGenerator) -> Schema {
    let mut schema = u32::json_schema(generator).into_object();
    schema.extensions.insert("x-default".to_owned(), default_limit().into());
    schema.number().minimum = Some(MIN_LIMIT.into());
    schema.number().maximum = Some(MAX_LIMIT.into());
    schema.into()
}

/// The link to the next page (RFC 8288), if there is one.
#[derive(Serialize, JsonSchema)]
struct NextPage {
    #[schemars(with = "String")]
    #[serde(rename = "Link", default, skip_serializing_if = "Option::is_none")]
    link: Option<String>,
}
