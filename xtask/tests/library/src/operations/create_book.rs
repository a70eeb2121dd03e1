//! A fixture that is parsed and never compiled: findings about the frozen documents refer to its lines.

use dropshot::{HttpResponseCreated, HttpResponseHeaders, RequestContext, endpoint};
use schemars::JsonSchema;
use serde::Serialize;

use super::BASE_PATH;
use crate::call::Call;
use crate::input::Json;
use crate::responses::HandlerResult;
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
    call: Call<Json<NewBook>, StoreError>,
) -> HandlerResult<HttpResponseHeaders<HttpResponseCreated<Book>, Created>> {
    call.handle(context, |service, Json(new)| async move {
        let book = service.store().add_book(new).await?;
        let location = format!("{BASE_PATH}/books/{}", book.id);
        Ok(HttpResponseHeaders::new(HttpResponseCreated(book), Created { location }))
    })
    .await
}

#[derive(Serialize, JsonSchema)]
pub(super) struct Created {
    #[serde(rename = "Location")]
    location: String,
}
