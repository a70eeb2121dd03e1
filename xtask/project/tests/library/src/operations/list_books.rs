//! A fixture that is parsed and never compiled: findings about the frozen documents refer to its lines.

use schemars::JsonSchema;
use schemars::r#gen::SchemaGenerator;
use schemars::schema::{InstanceType, NumberValidation, Schema, SchemaObject};
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize};

use super::{BASE_PATH, MAX_LIMIT};
use crate::http::{AuthenticatedRequest, Operation, HttpResponseError, HttpResponseHeaders, HttpResponseOk, Query};
use crate::responses::{ApiError, ErrorCode};
use crate::schemas::{BookStatus, Books, present};
use crate::storage::{BooksQuery, StoreError};

pub(super) fn operation() -> Operation {
    Operation::new(Method::GET, "/books", "listBooks", list_books).tag(BOOKS)
}

pub(super) async fn list_books(
    request: AuthenticatedRequest,
    query: Query<ListBooks>,
) -> Result<HttpResponseHeaders<HttpResponseOk<Books>, NextPage>, ListBooksError> {
    let (service, asked) = (request.service, query.into_inner());
    let ListBooks { limit: Limit(limit), status, cursor } = asked;
    let read = |cursor: String| service.cursors().read(&cursor, status).ok_or(ListBooksError::Cursor);
    let after = cursor.map(read).transpose()?;
    let found = service.store().books(BooksQuery { status, after, limit }).await?;
    let next = found.books.last().filter(|_| found.more).map(|last| {
        let cursor = service.cursors().sign(last.id, status);
        let status = status.map(|status| format!("&status={}", status.as_str())).unwrap_or_default();
        format!("<{BASE_PATH}/books?limit={limit}{status}&cursor={cursor}>; rel=\"next\"")
    });
    Ok(HttpResponseHeaders::new(HttpResponseOk(Books(found.books)), NextPage { link: next }))
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct ListBooks {
    #[serde(default)]
    limit: Limit,
    #[schemars(with = "BookStatus")]
    #[serde(default, deserialize_with = "present", skip_serializing_if = "Option::is_none")]
    status: Option<BookStatus>,
    #[schemars(with = "String")]
    #[serde(default, deserialize_with = "present", skip_serializing_if = "Option::is_none")]
    cursor: Option<String>,
}

#[derive(Debug)]
struct Limit(u32);

impl Limit {
    const MIN: u32 = 1;
    const MAX: u32 = MAX_LIMIT;
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

#[derive(Serialize, JsonSchema)]
pub(super) struct NextPage {
    #[schemars(with = "String")]
    #[serde(rename = "Link", default, skip_serializing_if = "Option::is_none")]
    link: Option<String>,
}

#[derive(Debug)]
pub(super) enum ListBooksError {
    Cursor,
    Store(StoreError),
}

impl HttpResponseError for ListBooksError {
    const CODES: &'static [ErrorCode] = &[ErrorCode::InvalidParameter, ErrorCode::Internal, ErrorCode::Unavailable];
}

impl From<StoreError> for ListBooksError {
    fn from(error: StoreError) -> Self {
        Self::Store(error)
    }
}

impl From<ListBooksError> for ApiError {
    fn from(error: ListBooksError) -> Self {
        match error {
            ListBooksError::Cursor => Self::InvalidParameter(
                "cursor must be taken from a next link, and used with the status that the link has"
                    .to_owned(),
            ),
            ListBooksError::Store(error) => error.into(),
        }
    }
}
