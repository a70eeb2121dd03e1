//! A fixture that is parsed and never compiled: the golden files refer to its lines.

pub const BASE_PATH: &str = "/v1";

#[endpoint { method = GET, path = "/toys", operation_id = "listToys", tags = ["toys"] }]
pub(super) async fn list_toys(
    context: RequestContext<Service>,
    query: Query<ListToys>,
) -> Result<HttpResponseOk<Toy>, StoreError> {
    context.context().toys(query.into_inner()).await
}

#[derive(Deserialize, JsonSchema)]
pub(super) struct ListToys {
    #[schemars(range(max = 100))]
    limit: Option<u32>,
}

/// A toy.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Toy {
    name: ToyName,
    made_of: Option<String>,
}
