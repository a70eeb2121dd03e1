//! `createPet`: `POST /pets`.

use dropshot::{HttpResponseCreated, HttpResponseHeaders, RequestContext, endpoint};
use http::header::{HeaderMap, HeaderValue, LOCATION};
use schemars::JsonSchema;
use serde::Serialize;

use crate::http::BASE_PATH;
use crate::http::call::{Call, Json};
use crate::http::error::HandlerResult;
use crate::http::response::{Headers, Written};
use crate::schemas::{NewPet, Pet};
use crate::service::Service;
use crate::storage::StoreError;

/// Add an animal.
#[endpoint {
    method = POST,
    path = "/pets",
    operation_id = "createPet",
    tags = ["animals"],
}]
pub(super) async fn create_pet(
    context: RequestContext<Service>,
    call: Call<Json<NewPet>, StoreError>,
) -> HandlerResult<Written<HttpResponseHeaders<HttpResponseCreated<Pet>, Created>>> {
    call.handle(context, |service, Json(new)| async move {
        let pet = service.store.add_pet(new).await?;
        let location = format!("{BASE_PATH}/pets/{}", pet.id);
        Ok(Written::new(&pet).with(Created { location }))
    })
    .await
}

/// The path of the new animal (RFC 9110, section 10.2.2).
#[derive(Serialize, JsonSchema)]
pub(super) struct Created {
    #[serde(rename = "Location")]
    location: String,
}

impl Headers for Created {
    fn add_to(self, headers: &mut HeaderMap) {
        // A path with a number is always a header value.
        headers.extend(HeaderValue::try_from(self.location).map(|location| (LOCATION, location)));
    }
}
