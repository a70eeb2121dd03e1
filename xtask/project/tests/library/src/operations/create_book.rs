//! A fixture that is parsed and never compiled: findings about the frozen documents refer to its lines.

use schemars::JsonSchema;
use serde::Serialize;

use super::BASE_PATH;
use crate::http::{AuthenticatedRequest, Operation, HttpResponseCreated, HttpResponseHeaders, TypedBody};
use crate::schemas::{NewBook, Book};
use crate::storage::StoreError;

pub(super) fn operation() -> Operation {
    Operation::new(Method::POST, "/books", "createBook", create_book).tag(BOOKS)
}

pub(super) async fn create_book(
    request: AuthenticatedRequest,
    body: TypedBody<NewBook>,
) -> Result<HttpResponseHeaders<HttpResponseCreated<Book>, Created>, StoreError> {
    let book = request.service.store().add_book(body.into_inner()).await?;
    let location = format!("{BASE_PATH}/books/{}", book.id);
    Ok(HttpResponseHeaders::new(HttpResponseCreated(book), Created { location }))
}

#[derive(Serialize, JsonSchema)]
pub(super) struct Created {
    #[serde(rename = "Location")]
    location: String,
}
