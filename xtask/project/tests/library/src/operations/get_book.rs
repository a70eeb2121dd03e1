//! A fixture that is parsed and never compiled: findings about the frozen documents refer to its lines.

use schemars::JsonSchema;
use serde::de::Error as _;
use serde::{Deserialize, Deserializer};

use crate::http::{AuthenticatedRequest, Operation, HttpResponseOk, Path};
use crate::responses::Missing;
use crate::schemas::Book;

pub(super) fn operation() -> Operation {
    Operation::new(Method::GET, "/books/{bookId}", "getBook", get_book).tag(BOOKS).deprecated()
}

pub(super) async fn get_book(
    request: AuthenticatedRequest,
    path: Path<GetBook>,
) -> Result<HttpResponseOk<Book>, Missing> {
    let book = request.service.store().book(path.into_inner().book_id).await?;
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
