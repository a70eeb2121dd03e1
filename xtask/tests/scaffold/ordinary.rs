//! An operation as dropshot's documentation writes it, with its own types for path, query, headers and body.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::http::dropshot::{self, Header, HttpResponseOk, Path, Query, RequestContext, TypedBody, endpoint};
use crate::service::Service;
use crate::storage::StoreError;

#[derive(Deserialize, JsonSchema)]
struct CratePath {
    room: String,
    level: u8,
}

#[derive(Deserialize, JsonSchema)]
struct CrateQuery {
    verbose: Option<bool>,
}

#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
struct CrateHeaders {
    if_match: Option<String>,
}

#[derive(Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum CrateKind {
    Wood,
    Steel,
}

#[derive(Deserialize, Serialize, JsonSchema)]
struct CrateUpdate {
    kind: CrateKind,
    weight: f64,
    note: Option<String>,
}

/// What the operation read.
#[derive(Serialize, JsonSchema)]
struct CrateRead {
    place: String,
    verbose: bool,
    tag: String,
    update: CrateUpdate,
}

/// Update a crate.
#[endpoint { method = PUT, path = "/rooms/{room}/levels/{level}/crate", tags = ["animals"] }]
pub(super) async fn update_crate(
    rqctx: RequestContext<Service>,
    path_params: Path<CratePath>,
    query_params: Query<CrateQuery>,
    headers: Header<CrateHeaders>,
    body: TypedBody<CrateUpdate>,
) -> Result<HttpResponseOk<CrateRead>, StoreError> {
    let (path, query, headers) = (path_params.into_inner(), query_params.into_inner(), headers.into_inner());
    Ok(HttpResponseOk(CrateRead {
        place: format!("{} {} {}", rqctx.endpoint.operation_id, path.room, path.level),
        verbose: query.verbose.unwrap_or_default(),
        tag: headers.if_match.unwrap_or_default(),
        update: body.into_inner(),
    }))
}
