//! A fixture that is parsed and never compiled: findings about the frozen documents refer to its lines.

use schemars::JsonSchema;
use serde::Serialize;

use super::BASE_PATH;
use crate::dropshot::{self, HttpResponseCreated, HttpResponseHeaders, RequestContext, TypedBody, endpoint};
use crate::schemas::{NewBook, Book};
use crate::service::Service;
use crate::storage::StoreError;

#[endpoint {
    method = POST,
    path = "/books",
    operation_id = "createBook",
    tags = ["books"],
}]
pub(super) async fn create_book(
    context: RequestContext<Service>,
    body: TypedBody<NewBook>,
) -> Result<HttpResponseHeaders<HttpResponseCreated<Book>, Created>, StoreError> {
    let book = context.context().store().add_book(body.into_inner()).await?;
    let location = format!("{BASE_PATH}/books/{}", book.id);
    Ok(HttpResponseHeaders::new(HttpResponseCreated(book), Created { location }))
}

#[derive(Serialize, JsonSchema)]
pub(super) struct Created {
    #[serde(rename = "Location")]
    location: String,
}
