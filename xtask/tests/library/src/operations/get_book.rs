//! A fixture that is parsed and never compiled: findings about the frozen documents refer to its lines.

use schemars::JsonSchema;
use serde::de::Error as _;
use serde::{Deserialize, Deserializer};

use crate::dropshot::{self, HttpResponseOk, Path, RequestContext, endpoint};
use crate::responses::Missing;
use crate::schemas::Book;
use crate::service::Service;

#[endpoint {
    method = GET,
    path = "/books/{bookId}",
    operation_id = "getBook",
    tags = ["books"],
    deprecated = true,
}]
pub(super) async fn get_book(
    context: RequestContext<Service>,
    path: Path<GetBook>,
) -> Result<HttpResponseOk<Book>, Missing> {
    let book = context.context().store().book(path.into_inner().book_id).await?;
    book.map(HttpResponseOk).ok_or(Missing::NotFound("there is no book with this bookId"))
}

#[derive(Debug, Deserialize, JsonSchema)]
pub(super) struct GetBook {
    #[serde(rename = "bookId", deserialize_with = "canonical")]
    book_id: i64,
}

fn canonical<'de, D: Deserializer<'de>>(deserializer: D) -> Result<i64, D::Error> {
    let text = String::deserialize(deserializer)?;
    let id: Option<i64> = text.parse().ok();
    id.filter(|id| id.to_string() == text).ok_or_else(|| D::Error::custom("not an identifier"))
}
