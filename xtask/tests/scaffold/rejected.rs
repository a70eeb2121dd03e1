//! Operations that dropshot accepts and the service does not support. Each is a compile error.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::http::dropshot::{self, HttpResponseOk, Query, RequestContext, TypedBody, endpoint};
use crate::service::Service;
use crate::storage::StoreError;

#[endpoint { method = GET, path = "/a" }]
pub(super) async fn any_error(_: RequestContext<Service>) -> Result<HttpResponseOk<()>, ::dropshot::HttpError> {
    Ok(HttpResponseOk(()))
}

#[endpoint { method = POST, path = "/b" }]
pub(super) async fn bytes(
    _: RequestContext<Service>,
    _: ::dropshot::UntypedBody,
) -> Result<HttpResponseOk<()>, StoreError> {
    Ok(HttpResponseOk(()))
}

#[endpoint { method = POST, path = "/c" }]
pub(super) async fn body_first(
    _: RequestContext<Service>,
    _: TypedBody<Anything>,
    _: Query<Anything>,
) -> Result<HttpResponseOk<()>, StoreError> {
    Ok(HttpResponseOk(()))
}

#[endpoint { method = GET, path = "/d" }]
pub(super) async fn other_context(
    _: ::dropshot::RequestContext<Service>,
) -> Result<HttpResponseOk<()>, StoreError> {
    Ok(HttpResponseOk(()))
}

#[endpoint { method = GET, path = "/e", unpublished = true }]
pub(super) async fn unpublished(_: RequestContext<Service>) -> Result<HttpResponseOk<()>, StoreError> {
    Ok(HttpResponseOk(()))
}

#[endpoint { method = GET, path = "/f", versions = "1.0.0".. }]
pub(super) async fn versions(_: RequestContext<Service>) -> Result<HttpResponseOk<()>, StoreError> {
    Ok(HttpResponseOk(()))
}

#[endpoint { method = POST, path = "/g", request_body_max_bytes = 9 }]
pub(super) async fn maximum(_: RequestContext<Service>) -> Result<HttpResponseOk<()>, StoreError> {
    Ok(HttpResponseOk(()))
}

#[endpoint { method = GET, path = "/h" }]
pub(super) async fn pages(context: RequestContext<Service>) -> Result<HttpResponseOk<()>, StoreError> {
    context.page_limit(&());
    Ok(HttpResponseOk(()))
}

#[derive(Deserialize, Serialize, JsonSchema)]
pub(super) struct Anything {}
