//! Operations that dropshot accepts and the service does not support. Each is a compile error.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use animal_store::http::dropshot::{self, ApiDescription, HttpResponseOk, Query, RequestContext, TypedBody, endpoint};
use animal_store::service::Service;
use animal_store::storage::StoreError;

#[endpoint { method = GET, path = "/a" }]
async fn any_error(_: RequestContext<Service>) -> Result<HttpResponseOk<()>, ::dropshot::HttpError> {
    Ok(HttpResponseOk(()))
}

#[endpoint { method = POST, path = "/b" }]
async fn bytes(
    _: RequestContext<Service>,
    _: ::dropshot::UntypedBody,
) -> Result<HttpResponseOk<()>, StoreError> {
    Ok(HttpResponseOk(()))
}

#[endpoint { method = POST, path = "/c" }]
async fn body_first(
    _: RequestContext<Service>,
    _: TypedBody<Anything>,
    _: Query<Anything>,
) -> Result<HttpResponseOk<()>, StoreError> {
    Ok(HttpResponseOk(()))
}

#[endpoint { method = GET, path = "/d" }]
async fn other_context(
    _: ::dropshot::RequestContext<Service>,
) -> Result<HttpResponseOk<()>, StoreError> {
    Ok(HttpResponseOk(()))
}

#[endpoint { method = GET, path = "/e", unpublished = true }]
async fn unpublished(_: RequestContext<Service>) -> Result<HttpResponseOk<()>, StoreError> {
    Ok(HttpResponseOk(()))
}

#[endpoint { method = GET, path = "/f", versions = "1.0.0".. }]
async fn versions(_: RequestContext<Service>) -> Result<HttpResponseOk<()>, StoreError> {
    Ok(HttpResponseOk(()))
}

#[endpoint { method = POST, path = "/g", request_body_max_bytes = 9 }]
async fn maximum(_: RequestContext<Service>) -> Result<HttpResponseOk<()>, StoreError> {
    Ok(HttpResponseOk(()))
}

#[endpoint { method = GET, path = "/h" }]
async fn pages(context: RequestContext<Service>) -> Result<HttpResponseOk<()>, StoreError> {
    context.page_limit(&());
    Ok(HttpResponseOk(()))
}

#[derive(Deserialize, Serialize, JsonSchema)]
struct Anything {}

fn main() {
    let mut api = ApiDescription::new();
    let _ = api.register(any_error);
    let _ = api.register(bytes);
    let _ = api.register(body_first);
    let _ = api.register(other_context);
    let _ = api.register(unpublished);
    let _ = api.register(versions);
    let _ = api.register(maximum);
    let _ = api.register(pages);
}
