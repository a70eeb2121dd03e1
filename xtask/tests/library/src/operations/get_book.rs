//! A fixture that is parsed and never compiled: findings about the frozen documents refer to its lines.

use dropshot::{HttpResponseOk, RequestContext, endpoint};
use schemars::JsonSchema;
use serde::de::Error as _;
use serde::{Deserialize, Deserializer};

use crate::call::Call;
use crate::input::Path;
use crate::responses::{HandlerResult, Missing};
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
    call: Call<Path<GetBook>, Missing>,
) -> HandlerResult<HttpResponseOk<Book>> {
    call.handle(context, |service, Path(GetBook { book_id })| async move {
        let book = service.store().book(book_id).await?;
        book.map(HttpResponseOk).ok_or(Missing::NotFound("there is no book with this bookId"))
    })
    .await
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
